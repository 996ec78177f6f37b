import AppMigrations
import Testing

#if canImport(UIKit)
import UIKit
#endif

// The samples of "Long migrations", as they stand there.

func convertPhotos(
    _ migrations: MigrationManager,
    _ photos: PhotoFolder
) throws {
    try migrations.whenMigrating(toVersion: "2.4") { context in
        let done = try context.checkpoint(as: String.self) ?? ""
        for batch in try photos.batches(of: 500, after: done) {
            for photo in batch.photos { try photos.convert(photo) }
            try context.synchronize(photos.path)
            try context.saveCheckpoint(
                batch.lastName,
                progress: batch.progress
            )
        }
    }
}

func convertBatches(_ migrations: MigrationManager, _ libraryFolder: String) throws {
    try migrations.whenMigrating(toVersion: "1.4") { context in
        let done = try context.checkpoint(as: Int.self) ?? 0
        for batch in try batches(after: done) {
            try convert(batch)
            try context.synchronize(libraryFolder)
            try context.saveCheckpoint(batch.last, progress: batch.progress)
        }
    }
}

#if canImport(UIKit) && !os(watchOS)
@MainActor func finishInBackground(
    _ folder: String,
    appVersion: String
) async throws {
    let work = Task.detached {
        try convert(folder, appVersion: appVersion)
    }
    let assertion = UIApplication.shared.beginBackgroundTask {
        work.cancel()
    }
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

    func batches(of size: Int, after name: String) throws -> [Batch] {
        let names = (1...1_200).map { String("000\($0)".suffix(4)) }
        let left = names.filter { $0 > name }
        return stride(from: 0, to: left.count, by: size).map { start in
            let photos = Array(left[start..<min(start + size, left.count)])
            let done = names.count - left.count + start + photos.count
            return Batch(photos: photos, progress: Double(done) / Double(names.count))
        }
    }

    func convert(_ photo: String) throws { try Calls.note(photo) }
}

private struct NumberedBatch {
    let last: Int
    var progress: Double { Double(last) / 3 }
}

private func batches(after last: Int) throws -> [NumberedBatch] {
    (1...3).filter { $0 > last }.map(NumberedBatch.init)
}
private func convert(_ batch: NumberedBatch) throws { try Calls.note("\(batch.last)") }

private func convert(_ folder: String, appVersion: String) throws {
    let migrations = try MigrationManager(
        named: "Photos",
        currentVersion: appVersion,
        stateDirectory: folder
    )
    try convertPhotos(migrations, PhotoFolder(path: folder))
}

@Suite struct SamplesOfLongMigrations {
    private func names(_ range: ClosedRange<Int>) -> [String] { range.map { String("000\($0)".suffix(4)) } }

    @Test func `an attempt that failed goes on behind its last checkpoint`() throws {
        try withTemporaryDirectory { folder throws in
            _ = try folder.manager("1.0")
            let first = Calls(failing: "0700")
            func start(_ calls: Calls) throws {
                try calls.during { try convertPhotos(folder.manager("2.4"), PhotoFolder(path: folder.path)) }
            }
            #expect(throws: MigrationError.self) { try start(first) }
            #expect(first.names == names(1...700))
            let second = Calls()
            try start(second)
            #expect(second.names == names(501...1_200))
            let third = Calls()
            try start(third)
            #expect(third.names == [])
        }
    }

    @Test func `the checkpoint's own sample goes on behind the batch that was saved`() throws {
        try withTemporaryDirectory { folder throws in
            _ = try folder.manager("1.0")
            let first = Calls(failing: "2")
            func start(_ calls: Calls) throws {
                try calls.during { try convertBatches(folder.manager(), folder.path) }
            }
            #expect(throws: MigrationError.self) { try start(first) }
            #expect(first.names == ["1", "2"])
            let second = Calls()
            for _ in 1...2 { try start(second) }
            #expect(second.names == ["2", "3"])
        }
    }

    @Test func `a task that is cancelled ends at its next checkpoint, and the next start goes on there`()
        async throws
    {
        try await withTemporaryDirectory { folder async throws in
            _ = try MigrationManager(named: "Photos", currentVersion: "1.0", stateDirectory: folder.path)
            let first = Calls(cancelling: "0001")
            let work = Task { try first.during { try convert(folder.path, appVersion: "2.4") } }
            let error = await #expect(throws: MigrationError.self) { try await work.value }
            #expect(error?.code == .cancelled)
            #expect(first.names == names(1...500))
            let second = Calls()
            try second.during { try convert(folder.path, appVersion: "2.4") }
            #expect(second.names == names(501...1_200))
        }
    }
}
