import Foundation
import Testing

@testable import AppMigrations

/// A history that a start passes over in pages: it may never hide anything.
@Suite(.temporaryDirectory) struct LongHistoryTests {
    let folder = TemporaryDirectory.current

    private static let state: MigrationState = {
        var state = StateBitFlipTests.state
        state.history = Array(repeating: state.history[0], count: 60)
        return state
    }()

    private static func read(_ bytes: [UInt8], in folder: TemporaryDirectory) throws -> (
        StateMarks?, StateMarks?
    ) {
        try Data(bytes).write(to: URL(fileURLWithPath: folder.stateFile))
        let file = StateFile(location: StateLocation(name: "Library", directory: folder.path))
        let whole = try? file.readState()?.marks
        do throws(MigrationError) {
            guard case .marks(let marks) = try file.readMarks() else { return (nil, whole) }
            return (marks, whole)
        } catch {
            #expect(error.code == .stateCorrupted || error.code == .stateFromNewerFormat)
            return (nil, whole)
        }
    }

    @Test func `a changed byte is refused, or changes nothing that a start needs`() throws {
        var generator = SeededGenerator(seed: 11)
        let original = Self.state.document
        #expect(original.count > 2 * 4_096)
        for offset in stride(from: 0, to: original.count, by: 5) {
            var bytes = original
            let structural: [UInt8] = [0x5D, 0x7D, 0x22, 0x2C, 0x00]
            bytes[offset] =
                offset.isMultiple(of: 10)
                ? structural[offset / 10 % structural.count]
                : bytes[offset] ^ (1 << UInt8.random(in: 0..<8, using: &generator))
            let (marks, whole) = try Self.read(bytes, in: folder)
            if let whole {
                #expect(marks == whole, "byte \(offset)")
            } else if let marks {
                #expect(marks == Self.state.marks, "byte \(offset)")
            }
        }
    }

    @Test func `wherever its pages end, it is read as it is in one piece`() throws {
        let document = Self.state.document
        let ends = ["]\n}\n", "]}", "]", "}", "]}}", "]]}", "]}x", "]}\0", "],\"x\":[]}", ""]
        let body = try #require(document.lastIndex(of: 0x5D))
        for length in stride(from: 0, to: 8_200, by: 7) {
            let end = ends[length % ends.count]
            let space = Array(repeating: UInt8(ascii: " "), count: length)
            let bytes = document[..<body] + space + Array(end.utf8)
            let (marks, whole) = try Self.read(Array(bytes), in: folder)
            #expect(marks == whole, "\(length) spaces and \(end)")
            #expect((whole != nil) == ["]\n}\n", "]}", "],\"x\":[]}"].contains(end))
        }
    }

    /// Wherever the first part that is read ends, a text that is whole by then is no beginning.
    @Test func `a whole state is not the beginning of what comes behind it`() throws {
        let state = #"{"format":1,"name":"Library","lastRunVersion":"1.4","x":""#
        for length in 400..<1_100 {
            let filling = String(repeating: "x", count: length) + #""}"#
            let rest = String(repeating: "y", count: 300) + "]}"
            let (marks, whole) = try Self.read(Array((state + filling + rest).utf8), in: folder)
            #expect(marks == nil && whole == nil, "\(length)")
        }
    }

    @Test func `a member behind it counts`() throws {
        let text = String(decoding: Self.state.document, as: UTF8.self)
        let more = text.replacing(/\]\s*\}\s*$/, with: "], \"launchedVersion\": \"7\" }")
        let bytes = Array(more.replacing(/"launchedVersion" : "1.5",/, with: "").utf8)
        let (marks, whole) = try Self.read(bytes, in: folder)
        #expect(marks?.launched == version("7"))
        #expect(marks == whole)
        let earlier = "\"history\": [], \"launchedVersion\": \"8\", \"rows\": ["
        let closed = text.replacing(/"history" : \[/, with: earlier)
            .replacing(/"launchedVersion" : "1.5",/, with: "")
        #expect(try Self.read(Array(closed.utf8), in: folder).0?.launched == version("8"))
        let (double, _) = try Self.read(Array(more.utf8), in: folder)
        #expect(double == nil)
    }

    @Test(arguments: [(0, true), (1, false)])
    func `a state of 1 MiB is read and one of a byte more refused`(more: Int, isRead: Bool) throws {
        var bytes = Self.state.document
        let space = Array(repeating: UInt8(ascii: " "), count: (1 << 20) - bytes.count + more)
        bytes += space
        let (marks, whole) = try Self.read(bytes, in: folder)
        #expect((marks != nil) == isRead)
        #expect((whole != nil) == isRead)
    }
}
