import AppMigrations
import Foundation
import Testing

/// Files of other kinds in place of the state or its lock.
@Suite(.temporaryDirectory) struct SpecialFileTests {
    let scratch = TemporaryDirectory.current

    enum Thing: CaseIterable, Sendable {
        case folder, fifo, linkToFile, linkToNothing, linkToFolder, linkToDevice, linkToFIFO, unreadableFIFO
    }

    /// Without the FIFO that only root may open, which is another error for everybody else.
    static let things = Thing.allCases.filter { $0 != .unreadableFIFO || geteuid() == 0 }

    static func put(_ thing: Thing, at name: String, in scratch: TemporaryDirectory) throws {
        let path = scratch.file(name)
        try scratch.makeFolder("state")
        switch thing {
        case .folder: try scratch.makeFolder(name)
        case .fifo: try #require(mkfifo(path, 0o600) == 0)
        case .linkToFile: try scratch.link(name, to: try scratch.write("somebody's", to: "elsewhere"))
        case .linkToNothing: try scratch.link(name, to: scratch.file("nowhere"))
        case .linkToFolder:
            try scratch.write("somebody's", to: "folder/0/item")
            try scratch.link(name, to: scratch.file("folder"))
        case .linkToDevice: try scratch.link(name, to: "/dev/zero")
        case .linkToFIFO:
            try #require(mkfifo(scratch.file("fifo"), 0o600) == 0)
            try scratch.link(name, to: scratch.file("fifo"))
        case .unreadableFIFO: try #require(mkfifo(path, 0o200) == 0)
        }
    }

    /// Nothing was made or changed outside, and the thing still stands.
    static func expectUntouched(_ thing: Thing, at name: String, in scratch: TemporaryDirectory) throws {
        #expect(scratch.exists(name))
        #expect(!scratch.exists("nowhere"))
        if thing == .linkToFile { #expect(try scratch.read("elsewhere") == "somebody's") }
        if thing == .linkToFolder { #expect(try scratch.read("folder/0/item") == "somebody's") }
    }

    @Test(arguments: things, ["json", "lock"])
    func `in place of the state or its lock it is refused, not followed and not replaced`(
        thing: Thing,
        part: String
    ) throws {
        let name = "state/Library.migrations." + part
        try Self.put(thing, at: name, in: scratch)
        let error = #expect(throws: MigrationError.self) { try scratch.manager(upgradingTo: "1.1") }
        #expect(error?.code == (part == "lock" ? .stateNotSaved : .stateCorrupted))
        #expect(error?.path == scratch.file(name))
        #expect(error?.description.contains(scratch.file(name)) == true)
        try Self.expectUntouched(thing, at: name, in: scratch)
        #expect(try scratch.state.names() == ["Library.migrations." + part])
    }

    @Test(arguments: [Thing.linkToFile, .linkToNothing, .fifo])
    func `in place of a save's temporary file it is replaced and not followed`(thing: Thing) throws {
        try Self.put(thing, at: "state/Library.migrations.json.tmp", in: scratch)
        _ = try scratch.manager(upgradingTo: "1.1")
        #expect(try scratch.state.names() == ["Library.migrations.json", "Library.migrations.lock"])
        #expect(!scratch.exists("nowhere"))
        if thing == .linkToFile { #expect(try scratch.read("elsewhere") == "somebody's") }
    }

    static func document(_ members: [String], name: String = "Library") -> String {
        let own = ["\"format\" : 1", "\"name\" : \"\(name)\"", "\"lastRunVersion\" : \"1.0\""]
        return "{ " + (own + members).joined(separator: ", ") + " }\n"
    }

    /// ``StateFileCorruptionTests`` has what is said of each mistake.
    static let texts = [
        " \n\t ", String(repeating: " ", count: 2 << 20) + document([]), document([], name: "Other"),
        document([]) + "\0", document(["\"x\" : \"\0\""]), document(["\"lastRunVersi\\u006fn\" : \"1.1\""]),
        document(["\"x\" : " + String(repeating: "[", count: 100_000)]),
        document(["\"x\" : " + String(repeating: "{\"a\":", count: 100_000)]), document([]) + document([]),
        "\u{FEFF}" + document([]), document(["\"baseline\" : \"1.0 \""]),
    ]

    @Test(arguments: texts.indices)
    func `a text that isn't ours is refused and left byte for byte`(index: Int) throws {
        let text = Self.texts[index]
        try scratch.write(text, to: "state/Library.migrations.json")
        let error = #expect(throws: MigrationError.self) { try scratch.manager(upgradingTo: "1.1") }
        #expect(error?.code == .stateCorrupted)
        #expect(error?.path == scratch.state.stateFile)
        #expect(error?.description.contains(scratch.state.stateFile) == true)
        #expect(try scratch.read("state/Library.migrations.json") == text)
        #expect(try scratch.state.names() == ["Library.migrations.json"])
    }

    @Test(
        arguments: [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0xC0, 0x80], [0xF4, 0x90, 0x80, 0x80]] as [[UInt8]]
    )
    func `bytes that aren't UTF-8 are refused and left as they are`(bytes: [UInt8]) throws {
        try scratch.write("", to: "state/Library.migrations.json")
        let parts = Self.document(["\"x\" : \"|\""]).split(separator: "|").map { Data($0.utf8) }
        let content = parts[0] + Data(bytes) + parts[1]
        try content.write(to: URL(fileURLWithPath: scratch.state.stateFile))
        let error = #expect(throws: MigrationError.self) { try scratch.manager(upgradingTo: "1.1") }
        #expect(error?.code == .stateCorrupted)
        #expect(try Data(contentsOf: URL(fileURLWithPath: scratch.state.stateFile)) == content)
    }
}
