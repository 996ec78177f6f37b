import Foundation
import Testing

@testable import AppMigrations

private let start = #""format":1,"name":"Library","lastRunVersion":"1""#

/// Files in the state file's place that are no state of ours.
@Suite(.temporaryDirectory) struct StateFileCorruptionTests {
    let folder = TemporaryDirectory.current

    @Test(arguments: [
        ("", "expected a value at byte 0"), ("[]", "expected an object at byte 0"),
        ("{}", "expected an object with the member \"format\" at byte 0"),
        (#"{"format":1,"lastRunVersion":"1"}"#, "expected an object with the member \"name\" at byte 0"),
        (
            #"{"format":1,"name":"Library"}"#,
            "expected an object with the member \"lastRunVersion\" at byte 0"
        ),
        (#"{"format":0}"#, "expected format 1 at byte 10"),
        (#"{"format":"1"}"#, "expected a whole number from 0 to 999999999 at byte 10"),
        (#"{"format":1.0}"#, "expected a whole number from 0 to 999999999 at byte 10"),
        (#"{"format":1,"name":"library"}"#, "expected this manager's name at byte 19"),
        (#"{"format":1,"name":"Library","lastRunVersion":"1."}"#, "expected a version at byte 46"),
        (#"{"format":1,"name":"Library","lastRunVersion":null}"#, "expected a string at byte 46"),
        (
            "{\(start),\"baseline\":\"1\",\"baseline\":\"1\"}",
            "expected a key that doesn't occur earlier in the object at byte 65"
        ),
        ("{\(start),\"latestAttempt\":{}}", "expected an object with the member \"version\" at byte 66"),
        ("{\(start),\"history\":{}}", "expected an array at byte 60"),
        (#"{"x":1,}"#, "expected a key at byte 7"), (#"{"x" 1}"#, "expected a colon at byte 5"),
        (#"{"x":1 "y":2}"#, "expected a comma or a closing bracket at byte 7"),
        (#"{"x":01}"#, "expected a number at byte 5"), (#"{"x":1.}"#, "expected a digit at byte 7"),
        (#"{"x":tru}"#, "expected a value at byte 5"),
        (#"{"x":"\x"}"#, "expected a valid JSON escape sequence at byte 6"),
        (#"{"x":"\ud800"}"#, "expected a valid JSON escape sequence at byte 6"),
        (#"{"x":"\udc00"}"#, "expected a valid JSON escape sequence at byte 6"),
        (#"{"x":"\ud800\u0041"}"#, "expected a valid JSON escape sequence at byte 6"),
        (#"{"x":"\u+123"}"#, "expected a valid JSON escape sequence at byte 6"),
        (#"{"x":1}}"#, "expected the end of the text at byte 7"),
        ("{\"x\":\"\n\"}", "expected a closing quotation mark or a valid string character at byte 6"),
        ("{\"x\":\"", "expected a closing quotation mark or a valid string character at byte 6"),
        ("{\"x\":" + String(repeating: "[", count: 65), "expected at most 64 levels of nesting at byte 69"),
    ])
    func `a state that isn't ours is corrupted, and every byte stays`(text: String, reason: String) throws {
        try folder.write(text)
        let error = try #require(throws: MigrationError.self) { try folder.manager() }
        #expect(error.code == .stateCorrupted)
        #expect(
            error.description
                == "The state of manager \"Library\" (\(folder.stateFile)) is damaged, or is not a state of this manager: "
                + "\(reason). The state was left unchanged. Nothing was run. Repair the file, or restore it from a "
                + "backup. If you can't, call MigrationManager.forgetState(named:stateDirectory:lockTimeout:), which "
                + "moves the file aside. The next manager then begins with a first run."
        )
        #expect(try folder.stateText() == text)
        #expect(try folder.names() == ["Library.migrations.json"])
    }

    @Test(arguments: [
        #"{"format":2}"#, #"{"name":"x","format" : 17,"history":"new"}"#,
        #"{"lastRunVersion":"1.0-beta","format":2}"#,
    ])
    func `a newer format is told from corruption`(text: String) throws {
        try folder.write(text)
        let error = try #require(throws: MigrationError.self) { try folder.manager() }
        #expect(error.code == .stateFromNewerFormat)
        #expect(try folder.stateText() == text)
    }

    /// Other things in its place are in ``SpecialFileTests``.
    @Test func `what has more than 1 MiB is corrupted`() throws {
        let start = #"{"format":1,"name":"Library","lastRunVersion":"1","x":""#
        let padding = String(repeating: "x", count: (1 << 20) - start.utf8.count - 2)
        try folder.write(start + padding + "x\"}")
        #expect(try #require(throws: MigrationError.self) { try folder.manager() }.code == .stateCorrupted)
        try folder.write(start + padding + "\"}")
        #expect(try folder.manager().lastRunVersion == version("1"))
    }
}

/// Rows of the history that can't be read.
///
/// A start keeps their bytes and doesn't read them.
@Suite(.temporaryDirectory) struct DamagedHistoryTests {
    let folder = TemporaryDirectory.current

    private static let row = """
        { "version" : "1.1", "previousVersion" : "1.0", "appVersion" : "1.1", "finishedAt" : "2026-11-20T23:59:59Z", \
        "duration" : 0.0123, "attemptCount" : 1 }
        """

    /// Lines that look like rows of ours.
    static let misread = [
        row.replacing("1.1", with: "1."), row.replacing("-11-", with: "-13-"),
        row.replacing("0.0123", with: "true"), row.replacing("\"duration\" : 0.0123, ", with: ""),
        row.replacing("\"appVersion\"", with: "appVersion"), row + " " + row,
    ]

    /// Lines that don't look like rows of ours: a start with work may find them damaged too.
    static let broken = ["{", "x", row + ","]

    /// Writes a state of an app 1.4 in the form that the library writes.
    private func write(rows: String) throws {
        try folder.write(
            """
            {
              "format" : 1,
              "name" : "Library",
              "lastRunVersion" : "1.1",
              "baseline" : "1.0",
              "launchedVersion" : "1.4",
              "history" : [
                \(rows)
              ]
            }

            """
        )
    }

    @Test(arguments: misread)
    func `a start runs what is pending, and every byte of the rows stays`(rows: String) throws {
        try write(rows: rows)
        #expect(try folder.manager("1.4").declare("1.1", "1.2") == ["1.2"])
        let text = try folder.stateText()
        #expect(text.contains("\"history\" : [\n    \(rows),\n    { \"version\" : \"1.2\""))
        #expect(try folder.manager("1.5").declare("1.1", "1.2", "1.5") == ["1.5"])
        #expect(try folder.stateText().contains("[\n    \(rows),\n    {"))
        // A checkpoint and a failure are saves too.
        #expect(throws: MigrationError.self) {
            try folder.manager("1.6").whenMigrating(toVersion: "1.6") { context in
                try context.saveCheckpoint("half")
                throw Failure()
            }
        }
        #expect(try folder.stateText().contains("[\n    \(rows),\n    {"))
    }

    @Test(arguments: misread + broken)
    func `who reads the rows finds the damage, and every byte of the state stays`(rows: String) throws {
        try write(rows: rows)
        let before = try folder.everything()
        let look = try folder.look("1.4")
        let manager = try folder.manager("1.4")
        let errors = [
            #expect(throws: MigrationError.self) { try look.status },
            #expect(throws: MigrationError.self) { try manager.status },
            #expect(throws: MigrationError.self) { try manager.plan { try $0.declare("1.2") } },
            #expect(throws: MigrationError.self) { try manager.reset(to: "1.0") },
            #expect(throws: MigrationError.self) { try manager.declare("1.0.5", addedIn: "1.4") },
        ]
        for error in errors {
            #expect(error?.code == .stateCorrupted)
            #expect(error?.path == folder.stateFile)
        }
        #expect(try folder.everything().first == before.first)
        // The way out is the same as for other damage.
        #expect(try folder.forget() != nil)
    }

    @Test func `damage is found before the closure runs where a row has to go`() throws {
        let rows = Array(repeating: Self.row, count: MigrationState.historyLimit - 1) + [Self.misread[0]]
        try write(rows: rows.joined(separator: ",\n    "))
        let before = try folder.stateText()
        let error = try folder.manager("1.4").refusal(of: "1.2")
        #expect(error.code == .stateCorrupted)
        #expect(try folder.stateText() == before)
    }

    /// As an editor, another program or a person may have written it.
    @Test(arguments: [
        "[ROW]", "[ ROW ]", "[\nROW]", "[\n    ROW\n]", "[\n    ROW\n  ],\n  \"later\" : [ 1 ]",
    ])
    func `a history that a person wrote in another form is read whole`(history: String) throws {
        let history = history.replacing("ROW", with: Self.row)
        try write(rows: "")
        let text = try folder.stateText()
        let start = try #require(text.range(of: "[\n"))
        try folder.write(text[..<start.lowerBound] + history + "\n}\n")
        #expect(try folder.manager("1.4").declare("1.2") == ["1.2"])
        #expect(try folder.manager("1.4").status.history.map(\.version) == [version("1.1"), version("1.2")])
        #expect(try folder.stateText().contains("\"later\" : [ 1 ]") == history.contains("later"))
    }
}

/// A state file that is fine and can't be had at the moment.
@Suite(.temporaryDirectory) struct StateFileUnreadableTests {
    let folder = TemporaryDirectory.current

    @Test func `a loop of links above the state is no damage`() throws {
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/loop",
            withDestinationPath: folder.path + "/loop"
        )
        let error = try #require(throws: MigrationError.self) {
            try library("1", in: folder.path + "/loop/x", firstRun: .freshInstall)
        }
        #expect(error.code == .stateUnreadable)
        #expect((error.underlyingError as? SystemCallError)?.errorNumber == ELOOP)
    }

    // Leases are Linux's.
    #if os(Linux)
    @Test func `a file on which another program has a lease is no damage`() throws {
        let manager = try folder.manager("1.4", after: "1.1", launched: "1.4")
        let descriptor = open(folder.stateFile, O_RDWR | O_CLOEXEC)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        // fcntl(2): the holder of a lease is told by SIGIO when somebody opens the file, and has its time to answer.
        signal(SIGIO, SIG_IGN)
        let setLease: Int32 = 1_024
        // A lease needs a file that nobody else has open. A process that another test starts has every descriptor of this
        // one, until it executes its program.
        while fcntl(descriptor, setLease, F_WRLCK) != 0 {
            try #require(errno == EAGAIN)
            sched_yield()
        }
        let errors = [
            try #require(throws: MigrationError.self) { try folder.manager() },
            try manager.refusal(of: "1.2"),
        ]
        for error in errors {
            #expect(error.code == .stateUnreadable)
            #expect((error.underlyingError as? SystemCallError)?.errorNumber == EAGAIN)
        }
        _ = fcntl(descriptor, setLease, F_UNLCK)
        #expect(try folder.manager().declare("1.2") == ["1.2"])
    }
    #endif
}
