/// What an object of the state holds: the members whose keys are known, each at most once.
///
/// Members with other keys are passed over and checked, since a newer release may have written them.
struct JSONMembers {
    /// How the value of a member is read.
    enum Kind { case version, count, date, seconds, fraction, text, textOrNull, flag }

    private enum Value {
        case version(AppVersion)
        case number(Int64)
        case duration(Duration)
        case fraction(Double)
        case text(String?)
        case flag(Bool)
    }

    private var values: [(key: String, value: Value)] = []
    private let start: Int

    init(_ reader: inout StateJSONReader, _ known: [(key: String, kind: Kind)]) throws(StateJSONReader
        .Problem)
    {
        start = reader.index
        try reader.expect(0x7B, .object)
        if reader.pass(0x7D) { return }
        repeat {
            let key = try reader.key()
            let name = key.decoded
            guard let kind = known.first(where: { $0.key == name })?.kind else {
                try reader.skipValue()
                continue
            }
            if self[name] != nil { throw reader.problem(.newKey, at: key.offset) }
            values.append((name, try Self.value(kind, &reader)))
        } while try reader.continues(until: 0x7D)
    }

    private subscript(_ key: String) -> Value? { values.first { $0.key == key }?.value }

    private var absence: StateJSONReader.Problem {
        StateJSONReader.Problem(offset: start, expected: .present)
    }

    func version(_ key: String) throws(StateJSONReader.Problem) -> AppVersion {
        guard case .version(let version) = self[key] else { throw absence }
        return version
    }

    func number(_ key: String) throws(StateJSONReader.Problem) -> Int64 {
        guard case .number(let number) = self[key] else { throw absence }
        return number
    }

    func count(_ key: String) throws(StateJSONReader.Problem) -> Int { Int(try number(key)) }

    func duration(_ key: String) throws(StateJSONReader.Problem) -> Duration {
        guard case .duration(let duration) = self[key] else { throw absence }
        return duration
    }

    func flag(_ key: String) throws(StateJSONReader.Problem) -> Bool {
        guard case .flag(let flag) = self[key] else { throw absence }
        return flag
    }

    /// The text of a member that may be `null`, but has to be there.
    func textOrNull(_ key: String) throws(StateJSONReader.Problem) -> String? {
        guard case .text(let text) = self[key] else { throw absence }
        return text
    }

    /// The text of a member that may be missing.
    func textIfThere(_ key: String) -> String? {
        guard case .text(let text) = self[key] else { return nil }
        return text
    }

    /// The checkpoint, where there is one: its text and the version that wrote it belong together.
    func checkpoint() throws(StateJSONReader.Problem) -> Checkpoint? {
        guard let text = textIfThere("checkpoint") else { return nil }
        var checkpoint = Checkpoint(text: text, appVersion: try version("checkpointAppVersion"))
        if case .fraction(let progress) = self["progress"] { checkpoint.progress = progress }
        return checkpoint
    }

    /// The lease, where there is one: what says whose it is and how long it is belongs together.
    func lease() throws(StateJSONReader.Problem) -> Lease? {
        guard let owner = textIfThere("owner") else { return nil }
        return Lease(
            owner: owner,
            beat: try count("beat"),
            fence: try count("fence"),
            length: try duration("lease")
        )
    }

    private static func value(
        _ kind: Kind,
        _ reader: inout StateJSONReader
    ) throws(StateJSONReader.Problem) -> Value {
        let start = reader.index
        switch kind {
        case .version:
            var version = AppVersion.zero
            try reader.version(into: &version)
            return .version(version)
        case .count:
            let count = try reader.integer()
            if count < 0 { throw reader.problem(.positive, at: start) }
            return .number(Int64(count))
        case .date:
            let text = try reader.string()
            guard let date = Timestamp.read(text.decoded) else {
                throw reader.problem(.date, at: text.offset)
            }
            return .number(date)
        case .seconds:
            let seconds = try reader.double()
            guard let duration = Duration(decimalSeconds: seconds) else {
                throw reader.problem(.positive, at: start)
            }
            return .duration(duration)
        case .fraction:
            let fraction = try reader.double()
            guard fraction >= 0, fraction <= 1 else { throw reader.problem(.fraction, at: start) }
            return .fraction(fraction)
        case .text: return .text(try reader.string().decoded)
        case .textOrNull: return .text(try reader.isNull() ? nil : try reader.string().decoded)
        case .flag: return .flag(try reader.isTrue())
        }
    }
}

extension StateJSONReader {
    /// Passes an array, calling `element` at each of its elements.
    fileprivate mutating func list<Element>(
        _ element: (inout [Element], inout StateJSONReader) throws(Problem) -> Void
    ) throws(Problem) -> [Element] {
        var list: [Element] = []
        try expect(0x5B, .array)
        if pass(0x5D) { return list }
        repeat { try element(&list, &self) } while try continues(until: 0x5D)
        return list
    }

    @inline(never)
    mutating func interruption() throws(Problem) -> Interruption {
        let members = try JSONMembers(
            &self,
            [
                ("version", .version), ("attempts", .count), ("deaths", .count), ("isProtecting", .flag),
                ("appVersion", .version), ("startedAt", .date),
                ("failure", .textOrNull), ("checkpoint", .text), ("checkpointAppVersion", .version),
                ("progress", .fraction), ("owner", .text), ("beat", .count), ("fence", .count),
                ("lease", .seconds),
            ]
        )
        return Interruption(
            version: try members.version("version"),
            attempts: try members.count("attempts"),
            deaths: try members.count("deaths"),
            isProtecting: try members.flag("isProtecting"),
            appVersion: try members.version("appVersion"),
            startedAt: try members.number("startedAt"),
            failure: try members.textOrNull("failure"),
            checkpoint: try members.checkpoint(),
            lease: try members.lease()
        )
    }

    @inline(never)
    mutating func attempted() throws(Problem) -> StateMarks.Attempted {
        let versions = try list { (list: inout [AttemptedMigration], reader) throws(Problem) in
            let members = try JSONMembers(
                &reader,
                [
                    ("version", .version), ("attempts", .count), ("deaths", .count), ("appVersion", .version),
                    ("checkpoint", .text), ("checkpointAppVersion", .version), ("progress", .fraction),
                ]
            )
            list.append(
                AttemptedMigration(
                    version: try members.version("version"),
                    attempts: try members.count("attempts"),
                    deaths: try members.count("deaths"),
                    appVersion: try members.version("appVersion"),
                    checkpoint: try members.checkpoint()
                )
            )
        }
        return versions.isEmpty ? .none : .versions(versions)
    }

    @inline(never)
    mutating func history() throws(Problem) -> [AppliedMigration] {
        try list { (list: inout [AppliedMigration], reader) throws(Problem) in
            let members = try JSONMembers(
                &reader,
                [
                    ("version", .version), ("previousVersion", .version), ("appVersion", .version),
                    ("finishedAt", .date), ("duration", .seconds), ("attempts", .count),
                ]
            )
            list.append(
                AppliedMigration(
                    version: try members.version("version"),
                    previousVersion: try members.version("previousVersion"),
                    appVersion: try members.version("appVersion"),
                    finishedAt: try members.number("finishedAt"),
                    duration: try members.duration("duration"),
                    attempts: try members.count("attempts")
                )
            )
        }
    }
}
