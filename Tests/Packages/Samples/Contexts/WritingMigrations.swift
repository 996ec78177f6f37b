import AppMigrations
import Foundation
import Testing

#if canImport(UIKit)
import UIKit
#endif

/// Also the samples of the first page and of the doc comments of AppMigrations.
struct WritingMigrations {
    func firstPage() throws {
        // Sample 1 of AppMigrations.md
    }

    func manager() throws {
        // Sample 1 of MigrationManager.swift
    }

    func synchronizing(_ migrations: MigrationManager, _ libraryFolder: String) throws {
        // Sample 1 of WritingMigrations.md
        // Sample 2 of MigrationContext.swift
        // Sample 1 of MigrationContext.swift
    }

    func comparing(_ migrations: MigrationManager) throws {
        // Sample 2 of WritingMigrations.md
    }

    func oldForm(_ migrations: MigrationManager, _ libraryFolder: String) throws {
        // Sample 3 of WritingMigrations.md
    }

    func hotfix(_ migrations: MigrationManager) throws {
        // Sample 4 of WritingMigrations.md
    }

    func replacing(
        _ migrations: MigrationManager,
        _ libraryFolder: String,
        _ library: String
    ) throws {
        // Sample 1 of ReplacingFiles.md
        // Sample 1 of MigrationManager+Declaring.swift
    }

    func keepingACopy(_ migrations: MigrationManager, _ libraryFolder: String) throws {
        // Sample 2 of ReplacingFiles.md
    }

    func convertNotes(in folder: String) throws {}

    func repairTitles() throws {}
    func openCatalogs() throws {}
    func renameFolders() throws {}
    func splitCatalog() throws {}

    struct Database { func migrate() throws {} }
    struct Batch { let last: Int, progress: Double }

    let database = Database()
    func moveArchiveToFolders() throws {}
    func renameDrafts() throws {}
    func deleteThumbnails() throws {}
    func batches(after last: Int) throws -> [Batch] { [] }
    func convert(_ batch: Batch) throws -> [String] { [] }

    // Sample 1 of LongMigrations.md

    // Sample 1 of MigrationContext.md

    /// Converts the photos of the folder `Old` to files in the folder `New`.
    struct PhotoFolder: Sendable {
        struct Batch { let names: [String], lastName: String, progress: Double }

        let folder: URL
        /// Called after the conversion of each photo.
        var afterConverting: @Sendable (String) -> Void = { _ in }

        var oldFolder: String { path("Old") }
        var hasOldFolder: Bool { FileManager.default.fileExists(atPath: oldFolder) }

        init(in folder: URL) throws {
            self.folder = folder
            for name in ["Old", "New"] {
                try FileManager.default.createDirectory(
                    atPath: path(name),
                    withIntermediateDirectories: true
                )
            }
        }

        func path(_ name: String) -> String { folder.appending(path: name).path(percentEncoded: false) }

        func names(in name: String) throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: path(name)).sorted()
        }

        func add(_ names: String...) throws {
            for name in names { try Data(name.utf8).write(to: folder.appending(path: "Old/\(name)")) }
        }

        func nextBatch(of size: Int) throws -> Batch? {
            let left = try names(in: "Old")
            let batch = Array(left.prefix(size))
            guard let last = batch.last else { return nil }
            let done = try names(in: "New").count
            let progress = Double(done + batch.count) / Double(done + left.count)
            return Batch(names: batch, lastName: last, progress: progress)
        }

        func convert(_ name: String) throws -> [String] {
            let photo = try Data(contentsOf: folder.appending(path: "Old/\(name)"))
            var new = folder.appending(path: "New/\(name)")
            var number = 2
            while exists(new.path(percentEncoded: false)), try Data(contentsOf: new) != photo {
                new = folder.appending(path: "New/\(name) \(number)")
                number += 1
            }
            try photo.write(to: new)
            afterConverting(name)
            return [new.path(percentEncoded: false)]
        }

        func removeOld(_ names: [String]) throws {
            for name in names {
                try FileManager.default.removeItem(at: folder.appending(path: "Old/\(name)"))
            }
        }
    }

    private func withPhotos(_ body: (PhotoFolder) async throws -> Void) async throws {
        try await withFolder { folder async throws in
            let photos = try PhotoFolder(in: URL(filePath: folder))
            for number in 10..<50 { try photos.add("m\(number)") }
            try await body(photos)
        }
    }

    private func start(_ photos: PhotoFolder) throws {
        let manager = try MigrationManager(
            currentVersion: "2.4",
            firstRun: .existingData(at: "2.3"),
            stateDirectory: photos.path("State")
        )
        try convertPhotos(manager, photos)
    }

    @Test func `photos that an older release adds before the checkpoint are converted`() async throws {
        try await withPhotos { photos in
            var cancelled = photos
            cancelled.afterConverting = { name in
                if name == "m10" { withUnsafeCurrentTask { $0?.cancel() } }
            }
            let interrupted = cancelled
            let result = await Task { try start(interrupted) }.result
            let error = #expect(throws: MigrationError.self) { try result.get() }
            #expect(error?.code == .cancelled)
            #expect(try photos.names(in: "New").last == "m29")
            try photos.add("a")
            try start(photos)
            #expect(try photos.names(in: "Old") == [])
            #expect(try photos.names(in: "New").count == 41)
        }
    }

    @Test func `photos that an older release adds after the migration are converted at the next start`()
        async throws
    {
        try await withPhotos { photos in
            try start(photos)
            try photos.add("z")
            try start(photos)
            #expect(try photos.names(in: "Old") == [])
            try photos.add("y", "z2")
            var cancelled = photos
            cancelled.afterConverting = { _ in Issue.record("A cancelled task converts nothing.") }
            let interrupted = cancelled
            let result = await Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try start(interrupted)
            }.result
            #expect(throws: (any Error).self) { try result.get() }
            #expect(try photos.names(in: "Old") == ["y", "z2"])
        }
    }

    func convert(_ folder: String, appVersion: String) throws {}
}
