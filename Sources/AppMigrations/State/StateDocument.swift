/// What reading a state's text can end in, besides a state.
enum StateProblem: Error, Equatable {
    case notOurs(StateJSONReader.Problem)
    case without(key: String, end: Int)
    case newerFormat(Int)
}

extension StateMarks {
    /// Reads what a start needs from the text of a state file.
    ///
    /// The history is passed over unread when it is certain to be the last member: its rows hold no `]`, so the
    /// first one ends it, and where only the closing brace follows no other member can be hidden. Anything else is
    /// read in full, and so is the whole text before anything runs or is written.
    ///
    /// If the text is longer than `bytes`, they have to end in the history; `HistoryEnd` passes over the rest.
    static func read(
        _ bytes: UnsafeBufferPointer<UInt8>,
        name: String,
        isWhole: Bool = true
    ) throws(StateProblem) -> StateMarks {
        var document = StateDocument(bytes, name: name)
        try document.read(isWhole ? .passed : .cut)
        return try document.marks()
    }
}

/// What follows the beginning of a state's text that was cut in its history: passed over, or not certain to be the rest of
/// the last member.
struct HistoryEnd {
    private var hasBracket = false
    private(set) var isComplete = false

    mutating func passes(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        if !hasBracket {
            guard let bracket = Platform.first(0x5D, in: bytes) else { return true }
            hasBracket = true
            index = bracket &+ 1
        }
        while index < bytes.count {
            switch bytes[index] {
            case 0x09, 0x0A, 0x0D, 0x20: break
            case 0x7D where !isComplete: isComplete = true
            default: return false
            }
            index &+= 1
        }
        return true
    }
}

extension MigrationState {
    /// Reads the whole text of a state file.
    static func read(_ bytes: UnsafeBufferPointer<UInt8>, name: String) throws(StateProblem) -> MigrationState
    {
        var document = StateDocument(bytes, name: name)
        try document.read(.read)
        return MigrationState(
            name: name,
            marks: try document.marks(),
            history: document.history,
            unknownMembers: document.unknownMembers,
            fence: document.fence
        )
    }
}

/// The members of a state's text, collected in whatever order they stand.
///
/// Bits say which keys have been there: optionals of versions would cost a start, see `StateMarks.Interrupted`, and so
/// does every conformance of an `OptionSet`, whose symbols are looked up when a program is loaded.
private struct StateDocument {
    private enum Bit {
        static var format: UInt16 { 1 }
        static var name: UInt16 { 2 }
        static var lastRunVersion: UInt16 { 4 }
        static var baseline: UInt16 { 8 }
        static var launchedVersion: UInt16 { 16 }
        static var interrupted: UInt16 { 32 }
        static var history: UInt16 { 64 }
        static var attempted: UInt16 { 128 }
        static var minimumAppVersion: UInt16 { 256 }
        static var fence: UInt16 { 512 }
        static var needed: UInt16 { format | name | lastRunVersion }
    }

    /// What becomes of the history: its rows are read, passed over, or cut off with the text.
    enum History { case read, passed, cut }

    private var reader: StateJSONReader
    private let name: String
    private var keys: UInt16 = 0
    private var lastRun = AppVersion.zero
    private var baseline = AppVersion.zero
    private var launched = AppVersion.zero
    private var floor = StateMarks.Floor.none
    private var interrupted = StateMarks.Interrupted.no
    private var attempted = StateMarks.Attempted.none
    private(set) var history: [AppliedMigration] = []
    private(set) var unknownMembers: [UInt8] = []
    private(set) var fence = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>, name: String) {
        reader = StateJSONReader(bytes)
        self.name = name
    }

    mutating func read(_ way: History) throws(StateProblem) {
        do throws(StateJSONReader.Problem) {
            try readMembers(way)
        } catch {
            throw explain(error)
        }
    }

    private mutating func readMembers(_ way: History) throws(StateJSONReader.Problem) {
        reader.skipWhitespace()
        try reader.expect(0x7B, .object)
        if reader.pass(0x7D) { return try reader.expectEnd() }
        repeat {
            let start = reader.index
            let key = try reader.key()
            if key.equals("format") {
                try note(Bit.format, key)
                try readFormat()
            } else if key.equals("name") {
                try note(Bit.name, key)
                let text = try reader.string()
                guard text.equals(utf8Of: name) else { throw reader.problem(.ourName, at: text.offset) }
            } else if key.equals("lastRunVersion") {
                try note(Bit.lastRunVersion, key)
                try reader.version(into: &lastRun)
            } else if key.equals("baseline") {
                try note(Bit.baseline, key)
                try reader.version(into: &baseline)
            } else if key.equals("launchedVersion") {
                try note(Bit.launchedVersion, key)
                try reader.version(into: &launched)
            } else if key.equals("minimumAppVersion") {
                try note(Bit.minimumAppVersion, key)
                try readFloor()
            } else if key.equals("interruption") {
                try note(Bit.interrupted, key)
                if try !reader.isNull() { interrupted = .during(try reader.interruption()) }
            } else if key.equals("attempted") {
                try note(Bit.attempted, key)
                attempted = try reader.attempted()
            } else if key.equals("fence") {
                try note(Bit.fence, key)
                try readFence()
            } else if key.equals("history") {
                try note(Bit.history, key)
                if keys & Bit.needed == Bit.needed, passes(way) { return }
                history = try reader.history()
            } else {
                try reader.skipValue()
                if way == .read { keep(from: start) }
            }
        } while try reader.continues(until: 0x7D)
        try reader.expectEnd()
        // Whole by itself, it isn't the beginning of what follows.
        if way == .cut { throw reader.problem(.end) }
    }

    @inline(never)
    private mutating func readFloor() throws(StateJSONReader.Problem) {
        var version = AppVersion.zero
        try reader.version(into: &version)
        floor = version == .zero ? .none : .version(version)
    }

    @inline(never)
    private mutating func readFence() throws(StateJSONReader.Problem) {
        let start = reader.index
        fence = try reader.integer()
        if fence < 0 { throw reader.problem(.positive, at: start) }
    }

    private mutating func readFormat() throws(StateJSONReader.Problem) {
        let start = reader.index
        let value = try reader.integer()
        guard value == MigrationState.format else { throw reader.problem(.value, at: start) }
    }

    /// Keeps the member that was passed, without the white space behind it, in the form in which it is written again.
    @inline(never)
    private mutating func keep(from start: Int) {
        var end = reader.index
        while [0x20, 0x0A, 0x0D, 0x09].contains(reader.bytes[end - 1]) { end -= 1 }
        unknownMembers += "  ".utf8
        unknownMembers += reader.bytes[start..<end]
        unknownMembers += ",\n".utf8
    }

    private func has(_ bit: UInt16) -> Bool { keys & bit != 0 }

    private mutating func note(_ bit: UInt16, _ text: JSONText) throws(StateJSONReader.Problem) {
        if has(bit) { throw reader.problem(.newKey, at: text.offset) }
        keys |= bit
    }

    private func passes(_ way: History) -> Bool {
        guard way != .read, reader.next == 0x5B else { return false }
        let close = reader.first(0x5D)
        if way == .cut { return close == nil }
        guard let close else { return false }
        var rest = reader
        rest.move(to: close &+ 1)
        return rest.pass(0x7D) && rest.index == rest.bytes.count
    }

    func marks() throws(StateProblem) -> StateMarks {
        guard has(Bit.format) else { throw .without(key: "format", end: reader.index) }
        guard has(Bit.name) else { throw .without(key: "name", end: reader.index) }
        guard has(Bit.lastRunVersion) else { throw .without(key: "lastRunVersion", end: reader.index) }
        return StateMarks(
            lastRun: lastRun,
            baseline: has(Bit.baseline) ? baseline : lastRun,
            launched: has(Bit.launchedVersion) ? launched : lastRun,
            floor,
            interrupted,
            attempted
        )
    }

    /// A text of a newer format may break every rule of ours; its `format` is then the only thing to say.
    @inline(never)
    private func explain(_ problem: StateJSONReader.Problem) -> StateProblem {
        var scan = StateJSONReader(reader.bytes)
        do throws(StateJSONReader.Problem) {
            scan.skipWhitespace()
            try scan.expect(0x7B, .object)
            repeat {
                let isFormat = try scan.key().equals("format")
                if isFormat, (0x30...0x39).contains(scan.next) {
                    let format = try scan.integer()
                    if format > MigrationState.format { return .newerFormat(format) }
                } else {
                    try scan.skipValue()
                }
            } while try scan.continues(until: 0x7D)
        } catch {
            return .notOurs(problem)
        }
        return .notOurs(problem)
    }
}
