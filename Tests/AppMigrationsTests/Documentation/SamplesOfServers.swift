import AppMigrations

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

func exitCode(of start: () throws -> Void, report: (String) -> Void) -> Int32 {
    do {
        try start()
        return 0
    } catch {
        report("\(error)")
        return 75
    }
}

private func createStore(_ directory: String) throws {}
private func addIndex(_ directory: String) throws {}
