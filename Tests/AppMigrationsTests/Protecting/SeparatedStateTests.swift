import AppMigrations
import Foundation
import Testing

/// The state directory is at another place than the list says: moved or copied, with the files or without them.
@Suite(.temporaryDirectory) struct SeparatedStateTests {
    let scratch = TemporaryDirectory.current

    /// Dies in a closure that left `a` half written and removed `b`, in the folder or as two named files.
    private static func die(_ scratch: TemporaryDirectory, _ state: String, protecting paths: [String])
        async throws
    {
        try scratch.write("old a", to: "v1/data/a")
        try scratch.write("old b", to: "v1/data/b")
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [folder = scratch.path as String, state = state as String, paths = paths as [String]] in
            let scratch = TemporaryDirectory(path: folder)
            try library("1.1", in: scratch.file(state)).whenMigrating(
                toVersion: "1.1",
                protecting: paths.map(scratch.file)
            ) {
                try scratch.remove("v1/data/a")
                try scratch.write("half", to: "v1/data/a")
                try scratch.remove("v1/data/b")
                AppMigrationsTests.die()
            }
        }
    }

    private func move(_ name: String, _ new: String) throws {
        try scratch.makeFolder(FilePaths.parent(new))
        try #require(rename(scratch.file(name), scratch.file(new)) == 0)
    }

    private func copy(_ name: String, _ new: String) throws {
        try scratch.makeFolder(FilePaths.parent(new))
        try FileManager.default.copyItem(atPath: scratch.file(name), toPath: scratch.file(new))
    }

    /// Expects the refusal, and that nothing below the folder is another one than before.
    private func expectRefused(_ state: String, _ former: String, _ place: String) throws {
        let before = try FileManager.default.subpathsOfDirectory(atPath: scratch.path).sorted()
        let error = try #require(throws: MigrationError.self) { try library("1.1", in: scratch.file(state)) }
        #expect(error.code == .protectionFailed)
        let (old, new) = (try scratch.resolved(former), try scratch.resolved(place))
        let reason = "without \(old), which would be restored to \(new);"
        #expect(error.description.contains(reason), "\(error)")
        #expect(try FileManager.default.subpathsOfDirectory(atPath: scratch.path).sorted() == before)
    }

    static let protected = [["v1/data"], ["v1/data/a", "v1/data/b"]]

    @Test(arguments: protected, [false, true])
    func `a state and files that went different ways put nothing back, whatever is at the new place`(
        paths: [String],
        isSomethingThere: Bool
    ) async throws {
        try await Self.die(scratch, "v1/state", protecting: paths)
        try move("v1/state", "v2/conf/state")
        try move("v1/data", "v2/data")
        if isSomethingThere { try scratch.write("another profile's", to: "v2/conf/data/b") }
        let name = paths[0].dropFirst(2)
        try expectRefused("v2/conf/state", "v1" + name, "v2/conf" + name)
        #expect(try scratch.read("v2/data/a") == "half")
        // Back to where they belong to each other.
        try move("v2/conf/state", "v2/state")
        try move("v2", "v1")
        _ = try library("1.1", in: scratch.file("v1/state"))
        #expect(try scratch.read("v1/data/a") + scratch.read("v1/data/b") == "old aold b")
    }

    @Test func `files that were moved after the state are put back`() async throws {
        try await Self.die(scratch, "v1/state", protecting: ["v1/data"])
        try move("v1/state", "v2/conf/state")
        try move("v1/data", "v2/conf/data")
        _ = try library("1.1", in: scratch.file("v2/conf/state"))
        #expect(try scratch.read("v2/conf/data/a") + scratch.read("v2/conf/data/b") == "old aold b")
    }

    @Test(arguments: protected)
    func `a state that was moved beside files that stayed puts nothing back`(paths: [String]) async throws {
        try await Self.die(scratch, "v1/state", protecting: paths)
        try move("v1/state", "conf/state")
        try expectRefused("conf/state", paths[0], "conf" + paths[0].dropFirst(2))
        #expect(try scratch.read("v1/data/a") == "half")
    }

    @Test(arguments: [("v1/data/a", "v2/deep/state", "v2/data/a"), ("v1/data", "v1/other/state", "v1/data")])
    func `a state that was copied without the files puts nothing back`(
        path: String,
        copied: String,
        place: String
    ) async throws {
        try await Self.die(scratch, "v1/deep/state", protecting: [path])
        try copy("v1/deep/state", copied)
        try expectRefused(copied, path, place)
        #expect(try scratch.read("v1/data/a") == "half")
    }

    @Test(arguments: protected, [1, 2])
    func `a folder that was copied as a whole is put back in the copy, while the original stays`(
        paths: [String],
        starts: Int
    ) async throws {
        try await Self.die(scratch, "v1/state", protecting: paths)
        try copy("v1", "v2")
        let told = Log()
        let options = MigrationManager.Options { event in
            if event.kind == .leftoverNotRemoved { told.add(event.error?.description ?? "") }
        }
        for _ in 1...starts { _ = try library("1.1", in: scratch.file("v2/state"), options: options) }
        #expect(try scratch.read("v2/data/a") + scratch.read("v2/data/b") == "old aold b")
        #expect(try scratch.read("v1/data/a") == "half")
        #expect(!scratch.exists("v1/data/b"))
        // Nobody knows whose file was replaced there.
        let v2 = TemporaryDirectory(path: scratch.file("v2"))
        let kept = try #require(try v2.kept())
        let replaced = kept + "/0/replaced-1" + (paths.count == 1 ? "/a" : "")
        #expect(try v2.read(replaced) == "half")
        #expect(told.lines.count == 1)
        let reason =
            "was moved or copied from \(try scratch.resolved("v1/state")). Protected files were restored at the new place, where they"
        #expect(told.lines.first?.contains(reason) == true, "\(told.lines)")
        #expect(told.lines.first?.contains("They are kept at \(v2.file(kept)). This library") == true)
        // The next restore there is an ordinary one.
        _ = try v2.fail(protecting: [v2.file("data")], options: options) {
            try v2.write("half", to: "data/a")
        }
        #expect(told.lines.count == 1)
        #expect(try v2.read("data/a") == "old a")
        _ = try library("1.1", in: scratch.file("v1/state"), options: options)
        #expect(try scratch.read("v1/data/a") + scratch.read("v1/data/b") == "old aold b")
    }

    @Test func `a folder that was moved as a whole keeps what a restore replaces there`() async throws {
        try await Self.die(scratch, "v1/state", protecting: ["v1/data"])
        try move("v1", "v2")
        _ = try library("1.1", in: scratch.file("v2/state"))
        let v2 = TemporaryDirectory(path: scratch.file("v2"))
        #expect(try v2.read("data/a") + v2.read("data/b") == "old aold b")
        let kept = try #require(try v2.kept())
        #expect(try v2.read(kept + "/0/replaced-1/a") == "half")
    }

    /// A process that dies when the state no longer asks for the copies leaves what was replaced to the next start.
    @Test func `what was replaced at a new place is kept by the next start, if the first one dies`()
        async throws
    {
        try await Self.die(scratch, "v1/state", protecting: ["v1/data"])
        try move("v1", "v2")
        await #expect(processExitsWith: .signal(SIGKILL)) { [state = scratch.file("v2/state") as String] in
            _ = try library(
                "1.1",
                in: state,
                options: .init { if $0.kind == .restored { AppMigrationsTests.die() } }
            )
        }
        let v2 = TemporaryDirectory(path: scratch.file("v2"))
        #expect(try v2.read("state/Library.migrations.snapshot/0/replaced-1/a") == "half")
        try v2.migrate(protecting: "other")
        let kept = try #require(try v2.kept())
        #expect(try v2.read(kept + "/0/replaced-1/a") == "half")
    }
}
