/// What reading a state's text can end in, besides a state.
enum StateProblem: Error, Equatable {
    case notOurs(JSONReader.Problem, key: StaticKey?)
    case newerFormat(Int)

    /// The key whose value was refused.
    enum StaticKey: String {
        case format, name, lastRunVersion, baseline, launchedVersion, interrupted, history
    }
}

extension MigrationMarks {
    /// Reads what a start needs from the text of a state file.
    ///
    /// The history is passed over unread when it is certain to be the last member: its rows hold no `]`, so the
    /// first one ends it, and where only the closing brace follows no other member can be hidden. Anything else is
    /// read in full, and so is the whole text before anything runs or is written.
    static func read(_ bytes: UnsafeBufferPointer<UInt8>, name: String) throws(StateProblem) -> MigrationMarks
    {
        var document = StateDocument(bytes, name: name)
        try document.read(passingHistory: true)
        return try document.marks()
    }
}

extension MigrationState {
    /// Reads the whole text of a state file.
    static func read(_ bytes: UnsafeBufferPointer<UInt8>, name: String) throws(StateProblem) -> MigrationState
    {
        var document = StateDocument(bytes, name: name)
        try document.read(passingHistory: false)
        return MigrationState(name: name, marks: try document.marks(), history: document.history)
    }
}

/// The members of a state's text, collected in whatever order they stand.
private struct StateDocument {
    var reader: JSONReader
    let name: String
    var format: Int?
    var hasName = false
    var lastRun: AppVersion?
    var baseline: AppVersion?
    var launched: AppVersion?
    var interrupted: Interruption?
    var hasInterrupted = false
    var hasHistory = false
    var history: [AppliedMigration] = []

    init(_ bytes: UnsafeBufferPointer<UInt8>, name: String) {
        reader = JSONReader(bytes)
        self.name = name
    }

    mutating func read(passingHistory: Bool) throws(StateProblem) {
        do throws(JSONReader.Problem) {
            try readMembers(passingHistory: passingHistory)
        } catch {
            throw explain(error)
        }
    }

    /// A text of a newer format may break every rule of ours; its `format` is then the only thing to say.
    private func explain(_ problem: JSONReader.Problem, key: StateProblem.StaticKey? = nil)
        -> StateProblem
    {
        var scan = JSONReader(reader.bytes)
        do throws(JSONReader.Problem) {
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
            return .notOurs(problem, key: key)
        }
        return .notOurs(problem, key: key)
    }

    private mutating func readMembers(passingHistory: Bool) throws(JSONReader.Problem) {
        reader.skipWhitespace()
        try reader.expect(0x7B, .object)
        if reader.pass(0x7D) { return try reader.expectEnd() }
        repeat {
            let key = try reader.key()
            if key.equals("format") {
                try once(format == nil, key)
                format = try readFormat()
            } else if key.equals("name") {
                try once(!hasName, key)
                let text = try reader.string()
                guard text.equals(utf8Of: name) else { throw reader.problem(.ourName, at: text.offset) }
                hasName = true
            } else if key.equals("lastRunVersion") {
                try once(lastRun == nil, key)
                lastRun = try reader.version()
            } else if key.equals("baseline") {
                try once(baseline == nil, key)
                baseline = try reader.version()
            } else if key.equals("launchedVersion") {
                try once(launched == nil, key)
                launched = try reader.version()
            } else if key.equals("interrupted") {
                try once(!hasInterrupted, key)
                hasInterrupted = true
                if try !reader.isNull() { interrupted = try reader.interruption() }
            } else if key.equals("history") {
                try once(!hasHistory, key)
                hasHistory = true
                if passingHistory, lastRun != nil, format != nil, hasName, passLastMember() { return }
                history = try reader.history()
            } else {
                try reader.skipValue()
            }
        } while try reader.continues(until: 0x7D)
        try reader.expectEnd()
    }

    private mutating func readFormat() throws(JSONReader.Problem) -> Int {
        let start = reader.index
        let value = try reader.integer()
        guard value == MigrationState.format else { throw reader.problem(.value, at: start) }
        return value
    }

    private func once(_ isNew: Bool, _ key: JSONText) throws(JSONReader.Problem) {
        if !isNew { throw reader.problem(.newKey, at: key.offset) }
    }

    private mutating func passLastMember() -> Bool {
        guard reader.next == 0x5B, let close = reader.first(0x5D) else { return false }
        var rest = reader
        rest.move(to: close &+ 1)
        return rest.pass(0x7D) && rest.index == rest.bytes.count
    }

    func marks() throws(StateProblem) -> MigrationMarks {
        guard format != nil else { throw missing(.format) }
        guard hasName else { throw missing(.name) }
        guard let lastRun else { throw missing(.lastRunVersion) }
        return MigrationMarks(
            lastRun: lastRun,
            baseline: baseline ?? lastRun,
            launched: launched ?? lastRun,
            interrupted: interrupted
        )
    }

    private func missing(_ key: StateProblem.StaticKey) -> StateProblem {
        .notOurs(reader.problem(.present), key: key)
    }
}
