import AppMigrations
import Testing

@Suite struct ShowingStatus {
    // Sample 1 of ShowingStatus.md

    // Sample 1 of MigrationStatus.md

    // Sample 2 of Errors.md

    // Sample 2 of ShowingStatus.md

    // Sample 1 of MigrationAdvice.swift

    func text(of look: MigrationManager) throws -> String {
        // Sample 1 of MigrationManager+Readiness.swift
    }

    func readLibrary() throws -> String { "ready" }

    func declareAll(_ migrations: MigrationManager) throws {
        try migrations.whenMigrating(toVersion: "1.1") {}
    }

    @Test func `the samples look, tell and try again`() async throws {
        try await withFolder { folder async throws in
            let options = MigrationManager.Options(attemptLimit: 1)
            let plan = {
                try dryRun(of: folder, version: "1.4", options: options).map(\.description)
            }
            #expect(try plan() == ["1.1 willRun"])
            let look = try MigrationManager(
                named: "Library",
                currentVersion: "1.4",
                stateDirectory: folder,
                options: .init(isReadOnly: true)
            )
            #expect(try text(of: look) == "Open the app first.")
            let state = folder + "/Library.migrations.json"
            #expect(!exists(state))
            let died = """
                {"format":1,"name":"Library","lastRunVersion":"1.0","launchedVersion":"1.4","baseline":"1.0",
                "latestAttempt":{"version":"1.1","attemptCount":1,"crashCount":0,"appVersion":"1.4",
                "startedAt":"2026-11-21T03:54:28Z","failure":null},"history":[]}
                """
            try write(died, to: state)
            #expect(try plan().first?.hasPrefix("1.1 refused") == true)
            func open() throws -> MigrationManager {
                try MigrationManager(
                    named: "Library",
                    currentVersion: "1.4",
                    stateDirectory: folder,
                    options: options
                )
            }
            let closed = try open()
            let error = try #require(throws: MigrationError.self) { try declareAll(closed) }
            #expect(error.code == .attemptLimitReached)
            #expect(
                message(for: error).text == MigrationAdvice.tryAgain.description && message(for: error).retry
            )
            let died1 = "\nInterrupted: 1.1, attempts: 1, crashes: 1,"
            let mail = { supportMail(about: error, version: "1.4", stateDirectory: folder) }
            #expect(mail().contains(died1))
            try tryAgain(closed, open)
            #expect(try closed.status.lastRunVersion?.description == "1.1")
            try write("{", to: state)
            #expect(mail().contains("The next manager then begins with a first run."))
            let damaged = try #require(throws: MigrationError.self) { _ = try open() }
            #expect(supportMail(about: damaged, version: "1.4", stateDirectory: folder) == "\(damaged)")
        }
    }

    @Test func `a screen can be previewed`() throws {
        let details = try previewedDetails()
        #expect(details.hasPrefix("attemptLimitReached\n\nMigrations of \"Library\" in app version 1.4\n"))
        let interrupted = "\nInterrupted: 1.4, attempts: 3, crashes: 3, last attempt by app version 1.4\n"
        #expect(details.contains(interrupted))
    }

    @Test func `the page Errors has each code of an error`() throws {
        let folder = "../../../Sources/AppMigrations/"
        let codes = try read(folder + "MigrationError.swift").matches(of: /static var (\w+): Code/)
        let page = try read(folder + "AppMigrations.docc/Errors.md")
        #expect(codes.count > 15)
        for code in codes { #expect(page.contains("`\(code.output.1)`")) }
    }
}
