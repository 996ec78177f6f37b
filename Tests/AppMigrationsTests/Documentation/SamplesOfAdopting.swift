import AppMigrations
import Foundation
import Testing

// The samples of "Adopting the library in an app that has shipped", as they stand there.

func libraryVersion(in folder: URL) -> MigrationManager.FirstRun {
    func has(_ name: String) -> Bool {
        let file = folder.appending(path: name)
        return FileManager.default
            .fileExists(atPath: file.path(percentEncoded: false))
    }
    if has("library.sqlite") { return .existingData(at: "2.0") }
    if has("library.plist") { return .existingData(at: "1.0") }
    return .freshInstall
}

func startLibrary(
    in folder: URL,
    appVersion: String
) throws -> MigrationManager {
    let migrations = try MigrationManager(
        named: "Library",
        currentVersion: appVersion,
        firstRun: libraryVersion(in: folder),
        stateDirectory: folder.appending(path: "Migrations")
            .path(percentEncoded: false),
        options: .init(attemptLimit: 3)
    )
    try migrations.whenMigrating(toVersion: "2.0") {
        try moveToDatabase(folder)
    }
    try migrations.whenMigrating(
        toVersion: "3.2",
        protecting: [folder.path(percentEncoded: false) + "/drafts"]
    ) {
        try renameDrafts(folder)
    }
    return migrations
}

private func moveToDatabase(_ folder: URL) throws {
    try Data().write(to: folder.appending(path: "library.sqlite"))
    try FileManager.default.removeItem(at: folder.appending(path: "library.plist"))
    try Calls.note()
}

private func renameDrafts(_ folder: URL) throws {
    try Data("new".utf8).write(to: folder.appending(path: "drafts/1"))
    try Calls.note()
}

@Suite struct SamplesOfAdopting {
    private func start(in folder: URL, failing: String? = nil) throws -> [String] {
        let calls = Calls(failing: failing)
        try calls.during { _ = try startLibrary(in: folder, appVersion: "3.2") }
        return calls.names
    }

    private func makeData(_ file: String?, in folder: URL) throws {
        try FileManager.default.createDirectory(
            at: folder.appending(path: "drafts"),
            withIntermediateDirectories: true
        )
        try Data("old".utf8).write(to: folder.appending(path: "drafts/1"))
        if let file { try Data().write(to: folder.appending(path: file)) }
    }

    @Test(
        arguments: [
            (nil, []), ("library.plist", ["moveToDatabase", "renameDrafts"]),
            ("library.sqlite", ["renameDrafts"]),
        ] as [(String?, [String])]
    )
    func `the data of each release runs what came after it, once`(file: String?, ran: [String]) throws {
        try withTemporaryDirectory { directory throws in
            let folder = URL(filePath: directory.path)
            try makeData(file, in: folder)
            #expect(try start(in: folder) == ran)
            #expect(try start(in: folder) == [])
        }
    }

    @Test func `drafts come back where renaming them fails, and are renamed by the next start`() throws {
        try withTemporaryDirectory { directory throws in
            let folder = URL(filePath: directory.path)
            func draft() throws -> String {
                try String(contentsOf: folder.appending(path: "drafts/1"), encoding: .utf8)
            }
            try makeData("library.plist", in: folder)
            let error = try #require(throws: MigrationError.self) {
                try start(in: folder, failing: "renameDrafts")
            }
            #expect(error.code == .migrationFailed)
            #expect(try draft() == "old")
            #expect(try start(in: folder) == ["renameDrafts"])
            #expect(try draft() == "new")
        }
    }

    @Test func `a closure that crashed three times is refused, and the state lies beside the data`() throws {
        try withTemporaryDirectory { directory throws in
            let folder = URL(filePath: directory.path)
            let state = TemporaryDirectory(path: directory.path + "/Migrations")
            try makeData("library.plist", in: folder)
            try state.makeFolder(state.path)
            try state.writeState(lastRun: "1.0", launched: "3.2", more: Self.crashedTwiceBefore)
            let error = try #require(throws: MigrationError.self) { try start(in: folder) }
            #expect(error.code == .attemptLimitReached)
        }
    }

    /// The third death, of the process that left this, is counted by the next start.
    private static let crashedTwiceBefore = """
        "interrupted": { "version": "2.0", "attempts": 3, "deaths": 2, "protected": [], "appVersion": "3.2",
        "startedAt": "2026-11-21T03:54:28Z", "failure": null },
        """
}
