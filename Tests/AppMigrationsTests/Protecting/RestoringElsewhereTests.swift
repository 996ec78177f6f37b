import Foundation
import Testing

@testable import AppMigrations

/// A folder that can't be moved as a whole: on another file system, or in a folder that this user can't write to.
@Suite(.temporaryDirectory) struct RestoringElsewhereTests {
    let scratch = TemporaryDirectory.current

    /// Several kinds of entries: what stays, changes, goes and comes.
    private static func fill(_ other: TemporaryDirectory) throws {
        try other.write("old", to: "folder/changed")
        try other.write("old", to: "folder/gone")
        try other.write("old", to: "folder/inner/deep/file")
        try other.write("old", to: "folder/kind")
        try other.link("folder/link", to: "inner")
    }

    private static func change(_ other: TemporaryDirectory) throws {
        try other.write("new", to: "folder/changed")
        try other.remove("folder/gone")
        try other.write("new", to: "folder/inner/deep/made")
        try other.remove("folder/kind")
        try other.write("new", to: "folder/kind/now a folder")
        try other.remove("folder/link")
        try other.write("new", to: "folder/made/inner")
    }

    private static let names = ["folder", "folder/changed", "folder/inner", "folder/link"]

    private static func expectOld(_ other: TemporaryDirectory) throws {
        #expect(try other.names("folder") == ["changed", "gone", "inner", "kind", "link"])
        #expect(try other.names("folder/inner/deep") == ["file"])
        for name in ["changed", "gone", "inner/deep/file", "kind"] {
            #expect(try other.read("folder/" + name) == "old")
        }
    }

    @Test func `a folder on another file system is put back`() throws {
        try withTemporaryDirectory(in: TemporaryDirectory.memory) { other throws in
            try Self.fill(other)
            try other.setMode(0o750, of: "folder")
            let before = try Self.names.map(other.attributes)
            try scratch.expectPutBack(protecting: [other.file("folder"), other.file("absent")]) {
                try Self.change(other)
                try other.setMode(0o700, of: "folder")
                try other.write("new", to: "absent/file")
            }
            try Self.expectOld(other)
            let after = try Self.names.map(other.attributes)
            #expect(after == before)
            #expect(!other.exists("absent"))
        }
    }

    @Test(arguments: ["removed", "file", "link"])
    func `so is one that the closure replaced by something else`(kind: String) throws {
        try withTemporaryDirectory(in: TemporaryDirectory.memory) { other throws in
            try Self.fill(other)
            try other.write("db", to: "db")
            try other.write("wal", to: "db-wal")
            try scratch.expectPutBack(protecting: [other.file("folder"), other.file("db")]) {
                for name in ["folder", "db", "db-wal"] { try other.remove(name) }
                if kind == "file" { try other.write("new", to: "folder") }
                if kind == "link" { try other.link("folder", to: "/") }
            }
            try Self.expectOld(other)
            #expect(try other.read("db") + other.read("db-wal") == "dbwal")
        }
    }

    /// It can't be moved to the copies, so it is copied there, and once more where a name can't be copied it gets another one.
    @Test(arguments: ["", "inner/"], [false, true])
    func `a state that the closure made on another file system is not removed`(
        folder: String,
        isUnnameable: Bool
    ) throws {
        try withTemporaryDirectory(in: TemporaryDirectory.memory) { other throws in
            try Self.fill(other)
            let told = Log()
            let options = MigrationManager.Options { event in
                if event.kind == .leftoverNotRemoved { told.add(event.error?.path ?? "") }
            }
            let error = try scratch.fail(protecting: [other.file("folder")], options: options) {
                let manager = try library("1.1", in: other.file("folder/" + folder + "made"))
                try manager.whenMigrating(toVersion: "1.1") {}
                if isUnnameable {
                    let name =
                        Array(other.file("folder/\(folder)made/caf").utf8CString.dropLast()) + [-23, 0]
                    // Apple's file systems refuse such names.
                    _ = mkdir(name, 0o700)
                }
            }
            #expect(error.code == .migrationFailed, "\(error)")
            let state = (folder.isEmpty ? "" : "made/") + "Library.migrations.json"
            let path = try #require(told.lines.first)
            #expect(told.lines.count == 1)
            let top = folder.isEmpty ? "folder/made" : "folder/inner"
            if path == (try other.resolved(top + ".replaced-1")) {
                #expect(isUnnameable)
                #expect(other.exists(top + ".replaced-1/" + state))
                try other.remove(top + ".replaced-1")
            } else {
                let kept = try #require(try scratch.kept())
                #expect(path == scratch.file(kept))
                let found = try FileManager.default.subpathsOfDirectory(atPath: path)
                #expect(found.contains { $0.hasSuffix("/" + state) }, "\(found)")
            }
            try Self.expectOld(other)
            // Nothing of it is in the way of the next start.
            try scratch.manager(upgradingTo: "1.1").whenMigrating(
                toVersion: "1.1",
                protecting: [other.file("folder")]
            ) {}
        }
    }

    /// In one start after another: each copy is durable before the next item is put back, but not each by itself.
    @Test func `hundreds of entries come back, with the progress of the copying`() throws {
        try withTemporaryDirectory(in: TemporaryDirectory.memory) { other throws in
            for number in 0..<300 { try other.write("old \(number)", to: "folder/\(number)") }
            try other.write("wal", to: "folder/1-wal")
            let notes = Log()
            let isFailing = Log()
            let options = MigrationManager.Options { event in
                guard event.kind == .progressed, !isFailing.lines.isEmpty else { return }
                #expect(event.isCopying && event.note?.hasPrefix("restoring ") == true)
                notes.add("\(event.fraction ?? 2)")
            }
            try scratch.expectPutBack(protecting: [other.file("folder")], options: options) {
                isFailing.add("from here on")
                for number in 0..<300 { try other.write("new", to: "folder/\(number)") }
                try other.remove("folder/1-wal")
            }
            for number in 0..<300 { #expect(try other.read("folder/\(number)") == "old \(number)") }
            #expect(try other.read("folder/1-wal") == "wal")
            #expect(notes.lines.count > 10)
            #expect(notes.lines.allSatisfy { (0...1).contains(Double($0) ?? 2) })
        }
    }

    @Test(arguments: [false, true])
    func `files are not put back to a file system that came or went since`(isElsewhere: Bool) throws {
        try withTemporaryDirectory(in: TemporaryDirectory.memory) { other throws in
            let folder = isElsewhere ? other : scratch
            try folder.write("old", to: "data")
            let error = try scratch.fail(protecting: [folder.file("data")]) {
                try folder.write("new", to: "data")
                var list = try #require(try SnapshotList.read(in: scratch.state.snapshot))
                list.paths[0].mountDistance += 1
                try Data(list.text).write(to: URL(filePath: scratch.state.snapshot + "/list"))
            }
            let place = try folder.resolved("data")
            let reason =
                "a file system was mounted or unmounted at \(place) since the copies were made; undo that"
            #expect(error.code == .protectionFailed)
            #expect(error.path == place)
            #expect(error.description.contains(": \(reason). The copies are kept, and "), "\(error)")
            #expect(try folder.read("data") == "new")
        }
    }

    /// As another user, since root may write into every folder.
    @Test(arguments: [0o700, 0o555])
    func `a folder whose own folder isn't writable is put back`(mode: mode_t) async {
        await #expect(processExitsWith: .success) { [mode = mode as mode_t] in
            let scratch = try TemporaryDirectory()
            let other = TemporaryDirectory(path: scratch.file("closed"))
            try Self.fill(other)
            try scratch.becomeNobody()
            try other.setMode(mode, of: "folder")
            try scratch.setMode(0o500, of: "closed")
            let before = try Self.names.map(other.attributes)
            try scratch.expectPutBack(protecting: [other.file("folder")]) {
                try other.setMode(0o700, of: "folder")
                try Self.change(other)
            }
            try Self.expectOld(other)
            #expect(try Self.names.map(other.attributes) == before)
        }
    }
}
