import AppMigrations
import Foundation

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

    func hotfix(_ migrations: MigrationManager) throws {
        // Sample 2 of WritingMigrations.md
    }

    func keepingACopy(_ migrations: MigrationManager, _ libraryFolder: String) throws {
        // Sample 3 of WritingMigrations.md
    }

    func repairTitles() throws {}
    func splitCatalog() throws {}

    struct Database { func migrate() throws {} }
    struct Batch { let last: Int, progress: Double }

    let database = Database()
    func moveArchiveToFolders() throws {}
    func renameDrafts() throws {}
    func deleteThumbnails() throws {}
    func batches(after last: Int) throws -> [Batch] { [] }
    func convert(_ batch: Batch) throws {}

    // Sample 1 of LongMigrations.md

    // Sample 1 of MigrationContext.md

    struct PhotoFolder {
        struct Batch { let photos: [Int], lastName: String, progress: Double }

        let path: String
        func batches(of size: Int, after name: String) throws -> [Batch] { [] }
        func convert(_ photo: Int) throws -> [String] { [] }
    }

    func convert(_ folder: String, appVersion: String) throws {}
}
