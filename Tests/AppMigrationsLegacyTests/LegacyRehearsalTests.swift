import AppMigrations
import AppMigrationsLegacy
import AppMigrationsTesting
import Foundation
import TestSupport
import Testing

/// Rehearsals with the keys in the data: each crash and each failure leaves them as they were at that moment.
@Suite(.temporaryDirectory) struct LegacyRehearsalTests {
    let scratch = TemporaryDirectory.current

    private func notes(_ text: String, key: String?) -> @Sendable (String) throws -> Void {
        { folder in
            let data = TemporaryDirectory(path: folder)
            try data.write(text, to: "notes")
            if let key { try data.writeKeys([lastKey: key]) }
        }
    }

    @Test func `every user gets to the newest release, and every key follows`() throws {
        let rehearsal = Rehearsal(
            named: "Library",
            currentVersion: "4.0",
            from: [
                .version("1.0", making: notes("1", key: nil)),
                .version("2.0", making: notes("1", key: "2.0")),
                .version("3.0", making: notes("1 3.0", key: "3.0")),
                .freshInstall(making: notes("1 3.0 3.1-1 4.0", key: nil)),
            ]
        )
        let report = try rehearsal.run(
            firstRun: { folder in
                let data = TemporaryDirectory(path: folder)
                let isOld = data.exists("notes")
                // After the state was lost.
                if isOld, try data.read("notes").hasSuffix("4.0") { return .existingData(at: "4.0") }
                let old = try data.old()
                return try old.firstRun(
                    isUnlocked: true,
                    withoutKeys: isOld ? .existingData(at: "1.0") : .freshInstall
                )
            },
            before: "4.0"
        ) { migrations, folder in
            let data = TemporaryDirectory(path: folder)
            let old = try data.old()
            /// Adds a step, which may have been added by an attempt that died.
            func add(_ step: String) throws {
                let text = try data.read("notes")
                if !text.hasSuffix(step) { try data.write("\(text) \(step)", to: "notes") }
            }
            for step in ["3.0", "3.1-1"] {
                try migrations.whenMigrating(toVersion: step, unlessRunBy: old) { try add(step) }
                // The key never says more than the state.
                #expect(try old.lastRunVersion ?? migrations.lastRunVersion <= migrations.lastRunVersion)
            }
            try migrations.whenMigrating(toVersion: "4.0") { try add("4.0") }
        }
        // The keys are a part of the data that is compared.
        try report.requireClean()
    }
}
