import AppMigrations
import TestSupport
import Testing

// The samples of "Command-line tools and servers", as they stand there.

func startServer(dataDirectory: String, version: String, log: @escaping @Sendable (String) -> Void) throws {
    let migrations = try MigrationManager(
        named: "Data",
        currentVersion: version,
        firstRun: .everything,
        stateDirectory: dataDirectory + "/migrations",
        options: .init(lockTimeout: .seconds(60)) { event in
            log("\(event.managerName) \(event.version?.description ?? "") \(event.kind)")
        }
    )
    try migrations.whenMigrating(toVersion: "1.0") { try createStore(dataDirectory) }
    try migrations.whenMigrating(toVersion: "1.3") { try addIndex(dataDirectory) }
}

func release(of text: String) -> String {
    String(text.drop { !"0123456789".contains($0) }.prefix { "0123456789.".contains($0) })
}

func exitCode(of start: () throws -> Void, report: (String) -> Void) -> Int32 {
    do {
        try start()
        return 0
    } catch let error as MigrationError where error.code == .lockTimeout || error.code == .stateUnreadable {
        report("\(error)")
        return 75
    } catch {
        report("\(error)")
        return 70
    }
}

private func createStore(_ directory: String) throws {}
private func addIndex(_ directory: String) throws {}

@Suite struct SamplesOfServers {
    @Test(
        arguments: [
            ("v2.1.0-rc.1", "2.1.0"), ("2.1.0-5-g1a2b3c4", "2.1.0"), ("2.1.0+7", "2.1.0"),
            ("2.1.0-1", "2.1.0"), ("2024.01", "2024.01"),
        ]
    )
    func `a tag gives its release`(_ text: String, _ expected: String) throws {
        #expect(release(of: text) == expected)
        _ = try AppVersion(parsing: release(of: text))
    }

    @Test func `a state that can't be read is worth another try, and a mistake isn't`() throws {
        try withTemporaryFolder { folder in
            var said = [String]()
            func code(_ version: String, _ directory: String) -> Int32 {
                exitCode {
                    _ = try MigrationManager(currentVersion: version, stateDirectory: directory)
                } report: {
                    said.append($0)
                }
            }
            #expect(code("1.0", folder) == 0)
            #expect(code("no", folder) == 70)
            #expect(code("1.0", folder + "/default.migrations.json") == 75)
            #expect(said.count == 2)
        }
    }
}
