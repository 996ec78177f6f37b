import Foundation
import Testing

@testable import AppMigrations

/// The way out of a state that keeps every start out, without a manager.
@Suite(.temporaryDirectory) struct ForgottenStateTests {
    let folder = TemporaryDirectory.current

    private static func isForgotten(_ path: String) -> Bool {
        FilePaths.last(path).wholeMatch(of: /Library\.migrations\.forgotten-[0-9]{8}T[0-9]{6}Z/) != nil
    }

    @Test func `a state is moved aside as it was, and the next manager is a first run`() throws {
        try folder.writeState(lastRun: "1.1")
        let before = try folder.stateText()
        let path = try #require(try folder.forget())
        #expect(Self.isForgotten(path), "\(path)")
        #expect(try folder.names() == ["Library.migrations.lock", FilePaths.last(path)].sorted())
        #expect(try String(contentsOfFile: path, encoding: .utf8) == before)
        #expect(try folder.manager("1.4", firstRun: .everything).launch == .first)
    }

    @Test func `where there is no state nothing is made`() throws {
        #expect(try folder.state.forget() == nil)
        #expect(!folder.exists("state"))
        #expect(try folder.forget() == nil)
        #expect(try folder.names() == [])
    }

    @Test(arguments: ["garbage", "{ \"format\" : 2 }", "", "folder", "link", "too long"])
    func `a state that can't be read is moved aside too`(content: String) throws {
        switch content {
        case "folder": try folder.write("kept", to: "Library.migrations.json/inside")
        case "link": try folder.link("Library.migrations.json", to: "nowhere")
        case "too long": try folder.write(String(repeating: " ", count: StateFile.sizeLimit + 1))
        default: try folder.write(content)
        }
        #expect(throws: MigrationError.self) { try folder.manager("1.4") }
        let path = try #require(try folder.forget())
        #expect(Self.isForgotten(path), "\(path)")
        #expect(try folder.manager("1.4").launch == .first)
        switch content {
        case "folder": #expect(try String(contentsOfFile: path + "/inside", encoding: .utf8) == "kept")
        case "link": #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == "nowhere")
        case "too long": #expect(try Data(contentsOf: URL(filePath: path)).count == StateFile.sizeLimit + 1)
        default: #expect(try String(contentsOfFile: path, encoding: .utf8) == content)
        }
    }

    @Test func `two that are forgotten in one second are both kept`() throws {
        let now = Platform.now
        let location = StateLocation(name: "Library", directory: folder.path)
        let paths = try ["first", "second", "third"].map { text in
            try folder.write(text)
            return try StateFile(location: location).moveAside(at: now)
        }
        #expect(paths.map { $0.hasPrefix(paths[0]) } == [true, true, true])
        #expect(paths.map { $0.dropFirst(paths[0].count) } == ["", "-2", "-3"])
        for (path, text) in zip(paths, ["first", "second", "third"]) {
            #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
        }
    }

    @Test func `a manager of the forgotten state runs nothing of it`() throws {
        let manager = try folder.manager("1.4", after: "1.1")
        _ = try folder.forget()
        #expect(try manager.refusal(of: "1.2").code == .stateUnreadable)
        #expect(try manager.refusal(of: "1.3").code == .managerClosed)
    }

    @Test(arguments: [true, false])
    func `inside a closure or a plan of the state it is nested`(isPlan: Bool) throws {
        let manager = try folder.manager("1.4", after: "1.1")
        let before = try folder.stateText()
        let forget = {
            let error = #expect(throws: MigrationError.self) { try folder.forget() }
            #expect(error?.code == .nested)
        }
        if isPlan {
            _ = try manager.plan { _ in forget() }
            #expect(try folder.stateText() == before)
        } else {
            try manager.whenMigrating(toVersion: "1.2") { forget() }
            #expect(manager.lastRunVersion == version("1.2"))
        }
    }

    @Test func `it waits for a closure that runs, no longer than it may`() throws {
        try folder.writeState(lastRun: "1.1")
        let before = try folder.stateText()
        let lock = try #require(
            try FileLock.takeIfFree(at: StateLocation(name: "Library", directory: folder.path))
        )
        let error = #expect(throws: MigrationError.self) { try folder.forget(lockTimeout: .inVain) }
        #expect(error?.code == .lockTimeout)
        #expect(try folder.stateText() == before)
        lock.unlock()
        #expect(try folder.forget(lockTimeout: .inVain) != nil)
    }

    @Test(arguments: [nil, "", "b/c"])
    func `a name that is none is refused`(name: String?) throws {
        let error = #expect(throws: MigrationError.self) {
            try MigrationManager.forgetState(named: name ?? ".hidden", stateDirectory: folder.path)
        }
        #expect(error?.code == .invalidName)
    }

    @Test func `a state that can't be moved stays, and the error says what to do`() async throws {
        try folder.writeState(lastRun: "1.1")
        _ = try folder.manager("1.4")
        await #expect(processExitsWith: .success) { [path = folder.path as String] in
            let folder = TemporaryDirectory(path: path)
            let before = try folder.stateText()
            try folder.becomeNobody()
            try #require(chmod(path, 0o500) == 0)
            let error = try #require(throws: MigrationError.self) { try folder.forget() }
            try #require(chmod(path, 0o700) == 0)
            #expect(error.code == .stateNotSaved)
            #expect(
                error.description.hasPrefix(
                    "The state of manager \"Library\" (\(folder.stateFile)) could not be moved aside: "
                )
            )
            #expect(
                error.description.hasSuffix(
                    "The state is unchanged. Make the folder writable for this process and try again."
                )
            )
            #expect(try folder.stateText() == before)
        }
    }
}
