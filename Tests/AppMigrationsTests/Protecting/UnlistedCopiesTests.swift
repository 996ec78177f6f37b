import Foundation
import Testing

@testable import AppMigrations

/// The state is lost, and the only good copies of protected files with it, unless a first run keeps them.
@Suite(.temporaryDirectory) struct UnlistedCopiesTests {
    let scratch = TemporaryDirectory.current

    /// Dies in a closure that has broken its file, and loses the state.
    private static func lose(_ scratch: TemporaryDirectory) async throws {
        try await ProtectedPathTests.die(in: scratch, having: "old\n")
        try scratch.remove("state/Library.migrations.json")
    }

    private static func kept(_ scratch: TemporaryDirectory) throws -> [String] {
        try scratch.state.names().filter { $0.contains(".kept-") }
    }

    @Test(arguments: [true, false])
    func `copies are moved aside by a first run, the app is told, and nothing removes them`(
        isDamaged: Bool
    ) async throws {
        try await Self.lose(scratch)
        if isDamaged {
            try scratch.write("{", to: "state/Library.migrations.json")
            let error = try #require(throws: MigrationError.self) { try scratch.manager(upgradingTo: "1.1") }
            #expect(error.code == .stateCorrupted)
            #expect(
                error.description.hasSuffix(
                    "Copies of protected files may be in \(scratch.state.snapshot). A first run moves them to another folder "
                        + "and keeps them. If you repair the file by hand, keep its \"interruption\" member: without it, the "
                        + "next start deletes the copies."
                )
            )
            try FileManager.default.moveItem(atPath: scratch.state.stateFile, toPath: scratch.file("bad"))
        }
        let told = Log()
        let options = MigrationManager.Options {
            if $0.isCopying || $0.kind == .started || $0.kind == .finished { return }
            told.add("\($0.kind) \($0.error?.path ?? ""): \($0.error?.description ?? "")")
        }
        let manager = try scratch.manager(upgradingTo: "1.1", options: options)
        let name = try #require(Self.kept(scratch).first)
        #expect(name.wholeMatch(of: /Library\.migrations\.kept-[0-9]{8}T[0-9]{6}Z/) != nil, "\(name)")
        let folder = scratch.state.path + "/" + name
        #expect(
            told.lines == [
                "leftoverNotRemoved \(folder): Copies of protected files were found, but no state of manager \"Library\" "
                    + "(\(scratch.state.stateFile)) refers to them. They are kept at \(folder). This library neither restores nor "
                    + "removes them. Compare them with your data, then remove them."
            ]
        )
        #expect(try scratch.read("data") == "old\nchanged\n")
        try manager.whenMigrating(toVersion: "1.1", protecting: [scratch.file("data")]) {
            #expect($0.attempt == 1)
        }
        _ = try scratch.manager(upgradingTo: "1.2", options: options)
        #expect(try scratch.read("state/\(name)/0/item") == "old\n")
        #expect(try !scratch.state.names().contains("Library.migrations.snapshot"))
        #expect(told.lines.count == 1)
    }

    @Test func `copies that the same second moved aside get a number`() throws {
        let location = StateLocation(name: "Library", directory: scratch.state.path)
        var names: [String] = []
        for content in ["first", "second", "third"] {
            try scratch.write(content, to: "state/Library.migrations.snapshot/0/item")
            let folder = try #require(try SavedFiles(in: location, of: nil)?.keep(asOf: 0))
            names.append(String(folder.dropFirst(scratch.state.path.count + 1)))
            #expect(try scratch.read("state/\(names.last ?? "")/0/item") == content)
        }
        let name = "Library.migrations.kept-19700101T000000Z"
        #expect(names == [name, name + "-2", name + "-3"])
    }

    @Test func `copies stay at their place where firstRun: throws, or the manager only looks`() async throws {
        try await Self.lose(scratch)
        _ = try scratch.manager(upgradingTo: "1.1", options: .init(isReadOnly: true))
        #expect(throws: MigrationError.self) {
            try scratch.manager(upgradingTo: "1.1", firstRun: .existingData(at: "2.0"))
        }
        #expect(try scratch.read("state/Library.migrations.snapshot/0/item") == "old\n")
        #expect(try Self.kept(scratch) == [])
    }

    @Test func `copies with the mark stay, and the next ones get another place`() throws {
        let location = StateLocation(name: "Library", directory: scratch.state.path)
        try scratch.write("old", to: "state/Library.migrations.snapshot/0/item")
        try scratch.makeFolder("state/Library.migrations.snapshot/kept")
        #expect(try location.snapshotFolder() == location.snapshot + "-2")
        try scratch.write("v1", to: "data")
        for version in ["1.1", "1.2"] {
            let manager = try scratch.manager(upgradingTo: version)
            let run = {
                try manager.whenMigrating(toVersion: version, protecting: [scratch.file("data")]) {
                    #expect(scratch.exists("state/Library.migrations.snapshot-2/0/item"))
                    try scratch.write("half", to: "data")
                    if version == "1.2" { throw Refusal() }
                }
            }
            if version == "1.1" {
                _ = try run()
            } else {
                #expect(throws: MigrationError.self) { _ = try run() }
            }
        }
        #expect(try scratch.read("data") == "half")
        #expect(try scratch.read("state/Library.migrations.snapshot/0/item") == "old")
        #expect(!scratch.exists("state/Library.migrations.snapshot-2"))
    }

    @Test(arguments: [true, false])
    func `copies in use are found when those with the mark were removed meanwhile`(isReturning: Bool) throws {
        try scratch.makeFolder("state/Library.migrations.snapshot/kept")
        try scratch.write("v1", to: "data")
        let manager = try scratch.manager(upgradingTo: "1.1")
        do {
            try manager.whenMigrating(toVersion: "1.1", protecting: [scratch.file("data")]) {
                try scratch.remove("state/Library.migrations.snapshot")
                try scratch.write("v2", to: "data")
                if !isReturning { throw Refusal() }
            }
        } catch {
            #expect(error.code == .migrationFailed, "\(error)")
        }
        #expect(try scratch.read("data") == (isReturning ? "v2" : "v1"))
        try scratch.expectNoCopies()
    }

    @Test(arguments: ["file", "link"])
    func `what is no folder was not made by this library, and stays`(kind: String) throws {
        try scratch.makeFolder("state")
        try scratch.makeFolder("elsewhere")
        switch kind {
        case "file": try scratch.write("nobody's", to: "state/Library.migrations.snapshot")
        default: try scratch.link("state/Library.migrations.snapshot", to: scratch.file("elsewhere"))
        }
        let told = Log()
        _ = try scratch.manager(upgradingTo: "1.1", options: told.options())
        #expect(told.lines == [])
        #expect(scratch.exists("state/Library.migrations.snapshot"))
        #expect(try Self.kept(scratch) == [])
    }

    @Test func `copies of a closure that is running stay, though its state and its lock are gone`()
        async throws
    {
        try scratch.write("old", to: "data")
        let manager = try scratch.manager(upgradingTo: "1.1")
        await #expect(throws: MigrationError.self) {
            try await manager.whenMigrating(toVersion: "1.1", protecting: [scratch.file("data")]) {
                try scratch.remove("state/Library.migrations.lock")
                try scratch.remove("state/Library.migrations.json")
                await #expect(processExitsWith: .success) { [path = scratch.path as String] in
                    let error = #expect(throws: MigrationError.self) {
                        try LostLockTests.start(path, ["1.1"], timeout: .inVain)
                    }
                    #expect(error?.code == .lockTimeout)
                }
                #expect(try scratch.read("state/Library.migrations.snapshot/0/item") == "old")
            }
        }
        _ = try scratch.manager(upgradingTo: "1.1")
        #expect(try scratch.read("state/\(Self.kept(scratch).first ?? "")/0/item") == "old")
    }
}
