import AppMigrations
import Testing

#if canImport(UIKit)
import UIKit
#endif

@Suite struct LongMigrations {
    // Sample 1 of LongMigrations.md

    // Sample 2 of LongMigrations.md

    struct PhotoFolder {
        struct Batch {
            let photos: [Int]
            var progress: Double { Double(photos.last ?? 0) / 1_200 }
            var lastName: String { "\(photos.last ?? 0)" }
        }

        let path: String
        let calls: Calls

        func batches(of size: Int, after name: String) throws -> [Batch] {
            let left = Array((Int(name) ?? 0)..<1_200).map { $0 + 1 }
            return stride(from: 0, to: left.count, by: size).map { start in
                Batch(photos: Array(left[start..<min(start + size, left.count)]))
            }
        }

        func convert(_ photo: Int) throws { try calls.note("\(photo)") }
    }

    func convert(_ folder: String, appVersion: String) throws {}

    @Test func `an attempt that failed goes on behind its last checkpoint`() async throws {
        try await withFolder { folder async throws in
            let calls = Calls()
            func start(_ version: String) throws {
                let migrations = try MigrationManager(currentVersion: version, stateDirectory: folder)
                try convertPhotos(migrations, PhotoFolder(path: folder, calls: calls))
            }
            _ = try MigrationManager(currentVersion: "1.0", stateDirectory: folder)
            calls.fail(at: "700")
            #expect(throws: MigrationError.self) { try start("2.4") }
            #expect(calls.take() == (1...700).map(String.init))
            calls.fail(at: nil)
            try start("2.4")
            #expect(calls.take() == (501...1_200).map(String.init))
            try start("2.4")
            #expect(calls.take() == [])
        }
    }
}
