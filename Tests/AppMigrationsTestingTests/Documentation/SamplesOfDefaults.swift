import AppMigrations
import AppMigrationsTesting
import Foundation
import Testing

// The samples of "Testing your migrations" about an app that asks UserDefaults, as they stand there; the test runs.

func withDefaults<Result>(
    in folder: String,
    _ body: (UserDefaults) throws -> Result
) throws -> Result {
    // Tests run at the same time, each with a suite of its own.
    let suite = "Rehearsal-\(UUID().uuidString)"
    let defaults = try #require(UserDefaults(suiteName: suite))
    defer { defaults.removePersistentDomain(forName: suite) }
    let file = folder + "/defaults.plist"
    if let data = FileManager.default.contents(atPath: file) {
        let keys = try PropertyListSerialization.propertyList(
            from: data,
            format: nil
        )
        defaults.setPersistentDomain(
            try #require(keys as? [String: Any]),
            forName: suite
        )
    }
    return try body(defaults)
}

private func versionLeft(in defaults: UserDefaults) -> MigrationManager.FirstRun {
    guard let version = defaults.string(forKey: "LastVersion") else { return .freshInstall }
    return .existingData(at: version)
}

@Suite struct SamplesOfDefaults {
    @Test func `the keys that a release left say where its data is`() throws {
        func left(by version: String, _ make: @escaping @Sendable (Library) throws -> Void) -> StartingPoint {
            .version(version) { folder in
                try make(Library(folder: folder))
                let keys = try PropertyListSerialization.data(
                    fromPropertyList: ["LastVersion": version],
                    format: .xml,
                    options: 0
                )
                try keys.write(to: URL(filePath: path("defaults.plist", in: folder)))
            }
        }
        let startingPoints = [
            left(by: "1.0") { try write("Milk\nBread\n", to: "notes.txt", in: $0.folder) },
            left(by: "1.1") { try $0.create(["Milk", "Bread"]) },
            left(by: "1.4") { try $0.create(["Milk", "Bread"]) },
            .freshInstall { try Library.create(in: $0) },
        ]
        let rehearsal = Rehearsal(
            named: "Library",
            currentVersion: "1.4",
            from: startingPoints,
            comparing: [.ignoring("defaults.plist")]
        )
        let report = try rehearsal.run(
            firstRun: { try withDefaults(in: $0, versionLeft(in:)) },
            before: "1.4"
        ) { migrations, folder in
            try Library(folder: folder).declare(migrations)
        }
        try report.requireClean()
        let asked = report.runs.filter { $0.title == "asked firstRun" }
        #expect(asked.map(\.start) == ["1.0", "1.1", "fresh install"])
        #expect("\(report)".contains(#"existingData(at: "1.1")"#))
    }
}
