import AppMigrations
import Foundation
import Synchronization
import Testing

@Suite struct AnotherMigrator {
    func startServer(
        dataDirectory: String,
        version: String,
        log: @escaping @Sendable (String) -> Void
    ) throws {
        let migrations = try MigrationManager(
            named: "Data",
            currentVersion: version,
            // The releases up to 1.2 didn't use this library.
            firstRun: hasData(dataDirectory)
                ? .existingData(at: "1.2") : .everything,
            stateDirectory: dataDirectory + "/migrations",
            options: .init(lockTimeout: .seconds(60)) { event in
                log("\(event)")
            }
        )
        if let version = migrations.requiredAppVersion {
            throw NewerServerNeeded(version: version)
        }
        // `createStore` and `addIndex` return the paths of the files
        // that they have written.
        try migrations.whenMigrating(toVersion: "1.0") { context in
            try context.synchronize(createStore(dataDirectory))
        }
        try migrations.whenMigrating(
            toVersion: "1.3",
            minimumAppVersion: "1.3"
        ) { context in
            try context.synchronize(addIndex(dataDirectory))
        }
        // An older release may have run again, and it adds records
        // without an index. So this runs at every start.
        try migrations.withLock { _ = try addIndex(dataDirectory) }
    }

    struct NewerServerNeeded: Error, CustomStringConvertible {
        let version: AppVersion
        var description: String {
            "The data needs \(version) of the server or newer. "
                + "Nothing was changed."
        }
    }

    func createStore(_ directory: String) throws -> [String] {
        try Data("store".utf8).write(to: URL(filePath: directory + "/store"))
        return [directory + "/store"]
    }
    /// The index has the records of the store, and a file `full` ends the work when it has been written.
    func addIndex(_ directory: String) throws -> [String] {
        struct Full: Error {}
        let store = try String(contentsOf: URL(filePath: directory + "/store"), encoding: .utf8)
        try Data(("index of " + store).utf8).write(to: URL(filePath: directory + "/index"))
        if FileManager.default.fileExists(atPath: directory + "/full") { throw Full() }
        return [directory + "/index"]
    }
    func hasData(_ directory: String) -> Bool { FileManager.default.fileExists(atPath: directory + "/store") }

    @Test func `a new server runs all, and one with data runs what it lacks`() async throws {
        for isNew in [true, false] {
            try await withFolder { folder async throws in
                if !isNew { try Data("old store".utf8).write(to: URL(filePath: folder + "/store")) }
                let log = Mutex<[String]>([])
                try startServer(dataDirectory: folder, version: "1.3") { line in
                    log.withLock { $0.append(line) }
                }
                let store = try String(contentsOf: URL(filePath: folder + "/store"), encoding: .utf8)
                #expect(store == (isNew ? "store" : "old store"))
                #expect(FileManager.default.fileExists(atPath: folder + "/index"))
                #expect(log.withLock { $0.filter { $0.hasPrefix("Data started ") } }.count == (isNew ? 2 : 1))
            }
        }
    }

    @Test func `records of an older release get an index, also after an end in a migration`() async throws {
        try await withFolder { folder async throws in
            func write(_ text: String, to name: String) throws {
                try Data(text.utf8).write(to: URL(filePath: folder + name))
            }
            func index() throws -> String { try String(contentsOfFile: folder + "/index", encoding: .utf8) }
            try write("a", to: "/store")
            try write("", to: "/full")
            #expect(throws: MigrationError.self) {
                try startServer(dataDirectory: folder, version: "1.3") { _ in }
            }
            #expect(try index() == "index of a")
            try FileManager.default.removeItem(atPath: folder + "/full")
            for records in ["a, b", "a, b, c"] {
                // An older release knows no index.
                try write(records, to: "/store")
                try startServer(dataDirectory: folder, version: "1.3") { _ in }
                #expect(try index() == "index of " + records)
            }
        }
    }

    @Test func `a server that a newer release shut out says so`() async throws {
        try await withFolder { folder async throws in
            let migrations = folder + "/migrations"
            try startServer(dataDirectory: folder, version: "1.3") { _ in }
            let newer = try MigrationManager(named: "Data", currentVersion: "2.0", stateDirectory: migrations)
            try newer.whenMigrating(toVersion: "2.0", minimumAppVersion: "1.9") {}
            let error = #expect(throws: NewerServerNeeded.self) {
                try startServer(dataDirectory: folder, version: "1.3") { _ in }
            }
            #expect(error?.description == "The data needs 1.9 of the server or newer. Nothing was changed.")
        }
    }

}
