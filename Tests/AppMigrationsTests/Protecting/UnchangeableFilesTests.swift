import Foundation
import Testing

@testable import AppMigrations

/// What a restore could not put back is refused before anything runs.
///
/// Only root may make files immutable, and become another user.
#if os(Linux)
@Suite(.temporaryDirectory, .enabled(if: geteuid() == 0)) struct UnchangeableFilesTests {
    let scratch = TemporaryDirectory.current

    static let rows: [(protected: String, flagged: String, isAppendOnly: Bool)] = [
        ("data/file", "data/file", false), ("data/file", "data/file", true), ("data/file", "data", false),
        ("data/file", "data", true), ("data/file", "data/file-wal", false), ("data", "data", false),
        ("data", "data", true),
        ("data/missing", "data", true),
    ]

    @Test(arguments: rows)
    func `immutable and append-only files and folders are refused`(
        protected: String,
        flagged: String,
        isAppendOnly: Bool
    ) throws {
        for name in ["data/file", "data/file-wal"] { try scratch.write("old", to: name) }
        // Not every file system has it.
        if !scratch.setImmutable(flagged, isAppendOnly ? 0x20 : 0x10) { return }
        defer { _ = scratch.setImmutable(flagged, 0) }
        let error = try scratch.manager(upgradingTo: "1.1").refusal(protecting: scratch.file(protected))
        let reason =
            "because \(try scratch.resolved(flagged)) is \(isAppendOnly ? "append-only" : "immutable")."
        #expect(error.description.contains(reason), "\(error)")
        try scratch.expectNoCopies()
    }

    @Test func `an immutable file inside a folder comes back with the folder`() throws {
        try scratch.write("old", to: "data/locked")
        try scratch.write("old", to: "data/file")
        if !scratch.setImmutable("data/locked") { return }
        try scratch.expectPutBack(protecting: [scratch.file("data")]) {
            try scratch.write("half", to: "data/file")
        }
        #expect(try scratch.read("data/file") + scratch.read("data/locked") == "oldold")
        _ = scratch.setImmutable("data/locked", 0)
    }

    /// A daemon that works as another user than the one that it was started by.
    @Test func `rights are those of the effective user`() async {
        await #expect(processExitsWith: .success) {
            let scratch = try TemporaryDirectory()
            let path = try scratch.write("old", to: "closed/data")
            _ = try scratch.manager(upgradingTo: "1.1")
            for name in [
                "", "closed/data", "state", "state/Library.migrations.json", "state/Library.migrations.lock",
            ] {
                try #require(lchown(scratch.file(name), 65_534, 65_534) == 0)
            }
            try scratch.setMode(0o755, of: "closed")
            try #require(seteuid(65_534) == 0)
            let error = try scratch.manager(upgradingTo: "1.1").refusal(protecting: path)
            let folder = try scratch.resolved("closed")
            #expect(
                error.description.contains("this user can't both read \(folder) and write to it"),
                "\(error)"
            )
            try #require(seteuid(0) == 0)
        }
    }

    @Test func `another user's file in a folder for everybody is refused`() async {
        await #expect(processExitsWith: .success) {
            let scratch = try TemporaryDirectory()
            let path = try scratch.write("old", to: "shared/data")
            try scratch.setMode(0o1777, of: "shared")
            try scratch.setMode(0o666, of: "shared/data")
            try scratch.becomeNobody(but: "shared", "shared/data")
            let error = try scratch.manager(upgradingTo: "1.1").refusal(protecting: path)
            let folder = try scratch.resolved("shared")
            #expect(
                error.description.contains("\(folder) has the sticky bit, so this user can't rename it"),
                "\(error)"
            )
        }
    }

    @Test func `another user's folder in a folder that isn't writable is refused`() async {
        await #expect(processExitsWith: .success) {
            let scratch = try TemporaryDirectory()
            try scratch.write("old", to: "closed/data/file")
            for name in ["closed", "closed/data"] { try scratch.setMode(0o755, of: name) }
            try scratch.setMode(0o666, of: "closed/data/file")
            try scratch.becomeNobody(but: "closed", "closed/data", "closed/data/file")
            let error = try scratch.manager(upgradingTo: "1.1").refusal(
                protecting: scratch.file("closed/data")
            )
            #expect(
                error.description.contains("neither it nor the folder that it is in can be written to: "),
                "\(error)"
            )
        }
    }
}
#endif
