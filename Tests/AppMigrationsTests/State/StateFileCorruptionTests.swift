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
        ("{\(start),\"interruption\":{}}", "expected an object with the member \"version\" at byte 65"),
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
                + "moves the file aside. The next manager then begins with a first run. Copies of protected files may be in "
                + "\(folder.snapshot). A first run moves them to another folder and keeps them. If you repair the file by "
                + "hand, keep its \"interruption\" member: without it, the next start deletes the copies."
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
