import Foundation
import Testing

@testable import AppMigrations

/// The head of a state, which a start reads instead of the whole.
@Suite(.temporaryDirectory) struct StateHeadTests {
    let folder = TemporaryDirectory.current

    /// The complaint about a text whose head has other versions than the whole text; `nil` if there is none.
    private static func complaint(_ bytes: [UInt8], name: String = "Library") -> String? {
        guard let versions = StateHead.read(bytes, name: name) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        guard let history = text.range(of: "  \"history\" : [") else { return "there is no history" }
        let alone = Array(text[..<history.upperBound].utf8) + Array("]\n}\n".utf8)
        guard let whole = MigrationState(reading: alone, name: name) else { return "the whole is refused" }
        return whole.versions == versions ? nil : "the whole has other versions"
    }

    private static func isPlain(_ state: MigrationState) -> Bool {
        state.versions.latestAttempt == nil && state.versions.otherAttempts.isEmpty
            && state.otherMembers.isEmpty
    }

    @Test func `of a state as it is written it says what the whole says, and of one with more nothing`() {
        var random = RandomState(generator: SeededGenerator(seed: 21))
        var plain = 0
        let rounds = Thoroughness.ordinarily(500, everything: 2_000)
        for _ in 0..<rounds {
            let state = random.state(named: "Library")
            let versions = StateHead.read(state.document, name: "Library")
            #expect(versions == (Self.isPlain(state) ? state.versions : nil))
            plain += versions == nil ? 0 : 1
        }
        #expect(plain > rounds / 20)
    }

    @Test func `whatever byte of it is changed, it gives up or says what the whole would`() {
        let versions = StateVersions(
            lastRun: version("1.4"),
            baseline: version("1.1"),
            launched: version("1.5"),
            freshInstall: version("1.4"),
            minimumAppVersion: version("1.2-3")
        )
        let state = MigrationState(name: "Library", versions: versions)
        let original = state.document
        var read = 0
        for offset in 0..<original.count - "]\n}\n".utf8.count {
            for byte in UInt8.min...UInt8.max {
                var bytes = original
                bytes[offset] = byte
                if let complaint = Self.complaint(bytes) {
                    Issue.record("\(complaint): byte \(offset) is \(byte)")
                }
                read += StateHead.read(bytes, name: "Library") == nil ? 0 : 1
            }
        }
        #expect(read > 250, "Too few heads were read to say something.")
    }

    @Test func `of a broken text it says nothing, or what the whole would`() {
        var random = RandomState(generator: SeededGenerator(seed: 22))
        var read = 0
        let rounds = Thoroughness.ordinarily(800, everything: 4_000)
        for _ in 0..<rounds {
            var state = random.state(named: "Library")
            state.versions.latestAttempt = nil
            state.versions.otherAttempts = []
            let bytes = random.mutated(state.document)
            if let complaint = Self.complaint(bytes) {
                Issue.record("\(complaint): \(String(decoding: bytes, as: UTF8.self))")
            }
            read += StateHead.read(bytes, name: "Library") == nil ? 0 : 1
        }
        #expect(read > rounds / 4, "Too few heads were read to say something.")
    }

    @Test func `a text that is cut off within it is read in full`() {
        var versions = StateBitFlipTests.state.versions
        versions.latestAttempt = nil
        let document = MigrationState(name: "Library", versions: versions).document
        let length = document.count - "]\n}\n".utf8.count
        for count in 0...document.count {
            let versions = StateHead.read(Array(document[..<count]), name: "Library")
            #expect((versions != nil) == (count >= length))
        }
    }

    @Test(arguments: [1, 5])
    func `a state whose path or versions leave no room for it is read in full`(folders: Int) throws {
        let long = (0..<folders).map { _ in String(repeating: "f", count: 200) }.joined(separator: "/")
        let release = String(repeating: "9999.", count: 200) + "1"
        let manager = try library("1.4", in: "\(folder.path)/\(long)", firstRun: .freshInstall)
        try manager.reset(to: "1.1")
        #expect(try library("1.4", in: "\(folder.path)/\(long)").lastRunVersion == version("1.1"))
        try library(release, in: "\(folder.path)/\(long)").declare(release)
        #expect(try library(release, in: "\(folder.path)/\(long)").lastRunVersion == version(release))
    }

    @Test(arguments: ["", "{", "]", "], \"launchedVersion\" : \"2\" }"])
    func `damage behind it is found by the first start that has work, and every byte stays`(end: String)
        throws
    {
        _ = try library("1.4", in: folder.path, firstRun: .freshInstall)
        let text = try folder.stateText()
        let head = try #require(text.range(of: "\"history\" : ["))
        let damaged = text[..<head.upperBound] + end
        try folder.write(String(damaged))
        let manager = try folder.manager("1.4")
        #expect(try manager.declare("1.3", "1.4").isEmpty)
        let error = try #require(throws: MigrationError.self) { try folder.manager("1.5") }
        #expect(error.code == .stateCorrupted)
        #expect(try manager.refusal(of: "1.4-1").code == .stateCorrupted)
        #expect(throws: MigrationError.self) { try manager.status }
        #expect(try folder.stateText() == String(damaged))
    }
}
