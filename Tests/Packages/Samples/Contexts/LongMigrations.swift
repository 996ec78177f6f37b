import AppMigrations

#if canImport(UIKit)
import UIKit
#endif

struct LongMigrations {
    // Sample 1 of LongMigrations.md

    // Sample 2 of LongMigrations.md

    struct PhotoFolder {
        struct Batch { let photos: [Int], lastName: String, progress: Double }

        let path: String
        func batches(of size: Int, after name: String) throws -> [Batch] { [] }
        func convert(_ photo: Int) throws {}
    }

    func convert(_ folder: String, appVersion: String) throws {}
}
