import AppMigrations

#if canImport(UIKit)
import UIKit
#endif

// The samples of "Long migrations", as they stand there.

func convertPhotos(_ migrations: MigrationManager, _ photos: PhotoFolder) throws {
    try migrations.whenMigrating(toVersion: "2.4") { context in
        let done = try context.checkpoint(as: String.self) ?? ""
        for batch in try photos.batches(of: 500, after: done) {
            for photo in batch.photos { try photos.convert(photo) }
            try context.synchronize(photos.path)
            try context.saveCheckpoint(batch.lastName, progress: batch.progress)
        }
    }
}

#if canImport(UIKit) && !os(watchOS)
@MainActor func finishInBackground(_ folder: String, appVersion: String) async throws {
    let work = Task.detached { try convert(folder, appVersion: appVersion) }
    let assertion = UIApplication.shared.beginBackgroundTask { work.cancel() }
    defer { UIApplication.shared.endBackgroundTask(assertion) }
    try await work.value
}
#endif

// What an app has besides.

struct PhotoFolder {
    struct Batch {
        let photos: [String]
        let progress: Double
        var lastName: String { photos.last ?? "" }
    }

    let path: String

    func batches(of size: Int, after name: String) throws -> [Batch] { [] }
    func convert(_ photo: String) throws {}
}

private func convert(_ folder: String, appVersion: String) throws {
    let migrations = try MigrationManager(
        named: "Photos",
        currentVersion: appVersion,
        stateDirectory: folder
    )
    try convertPhotos(migrations, PhotoFolder(path: folder))
}
