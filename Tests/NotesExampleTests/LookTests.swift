import AppMigrations
import Foundation
import Testing

@testable import NotesExample

/// `--dry-run` and `--status`, which change nothing.
@Suite(.temporaryDirectory) struct LookTests {
    let folder = NotesFolder.current

    private func run(
        _ folder: NotesFolder,
        _ version: String,
        _ arguments: String...,
        code: Int32 = 0,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async -> (output: String, errors: String) {
        let (output, errors) = (Log(), Log())
        let result = await EntryPoint.run(
            ["--data", folder.path, "--version", version] + arguments,
            output: output.output,
            errors: errors.output
        )
        #expect(result == code, sourceLocation: sourceLocation)
        return (output.text, errors.text)
    }

    private func everything(_ folder: NotesFolder) throws -> [String: Data?] {
        guard try folder.exists("") else { return [:] }
        var found: [String: Data?] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
            let status = try FileManager.default.attributesOfItem(atPath: folder.path(of: path))
            let isFile = status[.type] as? FileAttributeType == .typeRegular
            found["\(path) \(String(describing: status[.modificationDate]))"] =
                isFile ? try folder.read(path) : nil
        }
        return found
    }

    @Test func `a dry run of a new folder says what a start would run, and makes nothing`() async throws {
        for _ in 1...2 {
            #expect(
                await run(folder, "1.1", "--dry-run").output == """
                    Notes 1.1 looks at \(folder.path), and changes nothing
                      A new folder: a start fills it with the notes and preferences of 1.0
                      Library: first start with migrations, last migrated to 1.0
                        planned  1.1, 1.1-1
                                 1.1: one file per note
                                 1.1-1: names that every file system takes
                      Preferences: first start with migrations, last migrated to 1.0
                        planned  nothing
                    """
            )
            #expect(try !folder.exists(""))
        }
        // A dry run fixes no first run: the start asks again.
        #expect(try await folder.start(as: .v1_1).contains("    planned  1.1, 1.1-1\n"))
    }

    @Test(arguments: ReleaseTests.pairs)
    func `a dry run plans what the start then runs`(older: Release, newer: Release) async throws {
        try await folder.start(as: older)
        for isLost in [false, true] {
            if isLost { try folder.removeIfThere("Migrations") }
            let before = try everything(folder)
            let dry = await run(folder, newer.version, "--dry-run").output
            #expect(try everything(folder) == before)
            if isLost {
                let real = try await folder.start(as: newer)
                for line in dry.lines where line.hasPrefix("    planned") { #expect(real.contains(line)) }
            }
        }
        #expect(try folder.notes == Sample.notes)
    }

    @Test func `a dry run of an older release is refused as a start is`() async throws {
        try await folder.start(as: .v2_0)
        let before = try everything(folder)
        let output = await run(folder, "1.1", "--dry-run", code: 1).output
        #expect(output.contains("  Library: the data needs Notes 2.0, and this is Notes 1.1\n"))
        #expect(try everything(folder) == before)
    }

    @Test func `a dry run of a folder that isn't the app's says so`() async throws {
        try folder.makeFolder("")
        try folder.write(Data("mine".utf8), to: "file")
        let errors = await run(folder, "2.0", "--dry-run", code: 1).errors
        #expect(errors.contains("holds no notes but is not empty (file)"))
    }

    @Test func `a status before the first start says that there is none`() async throws {
        #expect(
            await run(folder, "2.0", "--status").output == """
                Migrations of "Library" in app version 2.0
                State: \(folder.path)/Migrations/Library.migrations.json
                There is no state yet: no version of the app has created one here.

                Migrations of "Preferences" in app version 2.0
                State: \(folder.path)/Migrations/Preferences.migrations.json
                There is no state yet: no version of the app has created one here.

                """
        )
        #expect(try !folder.exists(""))
    }

    @Test func `a status tells what a failed start left, as text and as JSON`() async throws {
        try await folder.start(as: .v1_0)
        try folder.replace("notes.json", with: folder.read("notes.json").dropLast(8))
        await #expect(throws: MigrationError.self) { try await folder.start(as: .v1_1) }
        let before = try everything(folder)
        let text = await run(folder, "1.1", "--status").output
        #expect(text.contains("\nLast-run version: 1.0. Baseline: 1.0. Newest app version started: 1.1.\n"))
        let failed = "\nFailed: 1.1, attempts: 1, crashes: 0, last attempt by app version 1.1, begun "
        #expect(text.contains(failed))
        #expect(text.contains("/notes.json cannot be read: "))
        let json = await run(folder, "1.1", "--json").output
        let object = try JSONSerialization.jsonObject(with: Data(json.utf8))
        let statuses = try #require(object as? [[String: Any]])
        #expect(statuses.map { $0["name"] as? String } == ["Library", "Preferences"])
        let latestAttempt = try #require(statuses.first?["latestAttempt"] as? [String: Any])
        #expect(latestAttempt["version"] as? String == "1.1")
        #expect(try everything(folder) == before)
    }
}
