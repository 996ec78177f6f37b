import AppMigrations
import Testing

// The samples of "Showing status and dry runs", as they stand there.

func dryRun(
    of directory: String,
    version: String,
    options: MigrationManager.Options
) throws -> [PlannedMigration] {
    var looking = options
    looking.isReadOnly = true
    let look = try MigrationManager(
        named: "Library",
        currentVersion: version,
        firstRun: .existingData(at: "1.0"),
        stateDirectory: directory,
        options: looking
    )
    return try look.plan(declareAll)
}

func supportMail(
    _ migrations: MigrationManager,
    about error: any Error
) -> String {
    do {
        return "\(error)\n\n\(try migrations.status)"
    } catch let unreadable {
        return "\(error)\n\n\(unreadable)"
    }
}

func tryAgain(
    _ closed: MigrationManager,
    _ open: () throws -> MigrationManager
) throws {
    try closed.forgetDeaths()
    try declareAll(open())
}

private func declareAll(_ migrations: MigrationManager) throws {
    try migrations.whenMigrating(toVersion: "1.1") {}
}

@Suite struct StatusSampleTests {
    @Test func `the samples look, tell and try again`() throws {
        try withTemporaryDirectory { folder throws in
            let options = MigrationManager.Options(attemptLimit: 1)
            func plan() throws -> [String] {
                try dryRun(of: folder.path, version: "1.4", options: options).map(\.description)
            }
            #expect(try plan() == ["1.1 willRun"])
            #expect(try folder.names().isEmpty)
            try folder.writeState(lastRun: "1.0", launched: "1.4", more: Self.died)
            #expect(try plan().first?.hasPrefix("1.1 refused") == true)
            let open = { try folder.manager("1.4", options: options) }
            let closed = try open()
            let error = try #require(throws: MigrationError.self) { try declareAll(closed) }
            #expect(error.code == .attemptLimitReached)
            #expect(
                supportMail(closed, about: error).contains(
                    "\nInterrupted by a death: 1.1, attempts: 1, deaths: 1,"
                )
            )
            try tryAgain(closed, open)
            #expect(try closed.status.lastRunVersion?.description == "1.1")
            try folder.write("{")
            #expect(supportMail(closed, about: error).contains("the next manager is a first run then."))
        }
    }

    private static let died = """
        "interrupted": { "version": "1.1", "attempts": 1, "deaths": 0, "protected": [], "appVersion": "1.4",
        "startedAt": "2026-11-21T03:54:28Z", "failure": null },
        """
}
