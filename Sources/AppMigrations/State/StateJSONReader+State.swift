extension StateJSONReader {
    @inline(__always)
    mutating func version(into version: inout AppVersion) throws(Problem) {
        let text = try string()
        switch text.version {
        case .version(let read): version = read
        case .problem: throw problem(.version, at: text.offset)
        }
    }

    private mutating func version() throws(Problem) -> AppVersion {
        var version = AppVersion.zero
        try self.version(into: &version)
        return version
    }

    /// Passes an object, calling `member` at each value; it answers whether it knew the key.
    private mutating func object(
        _ member: (inout StateJSONReader, JSONText) throws(Problem) -> Bool
    ) throws(Problem) {
        try expect(0x7B, .object)
        if pass(0x7D) { return }
        repeat {
            let key = try key()
            if try !member(&self, key) { try skipValue() }
        } while try continues(until: 0x7D)
    }

    @inline(never)
    mutating func interruption() throws(Problem) -> Interruption {
        var version, appVersion: AppVersion?
        var attempts, deaths: Int?
        var startedAt: Int64?
        var protected: [String]?
        var stateDirectory: String?
        var failure: String??
        let start = index
        try object { (reader, key) throws(Problem) in
            if key.equals("version") {
                try reader.set(&version, key) { reader throws(Problem) in try reader.version() }
            } else if key.equals("appVersion") {
                try reader.set(&appVersion, key) { reader throws(Problem) in try reader.version() }
            } else if key.equals("attempts") {
                try reader.set(&attempts, key) { reader throws(Problem) in try reader.count() }
            } else if key.equals("deaths") {
                try reader.set(&deaths, key) { reader throws(Problem) in try reader.count() }
            } else if key.equals("startedAt") {
                try reader.set(&startedAt, key) { reader throws(Problem) in try reader.date() }
            } else if key.equals("protected") {
                try reader.set(&protected, key) { reader throws(Problem) in try reader.strings() }
            } else if key.equals("stateDirectory") {
                try reader.set(&stateDirectory, key) { reader throws(Problem) in try reader.string().decoded }
            } else if key.equals("failure") {
                try reader.set(&failure, key) { reader throws(Problem) in
                    try reader.isNull() ? nil : try reader.string().decoded
                }
            } else {
                return false
            }
            return true
        }
        guard let version, let appVersion, let attempts, let deaths, let startedAt, let protected, let failure
        else {
            throw problem(.present, at: start)
        }
        return Interruption(
            version: version,
            attempts: attempts,
            deaths: deaths,
            protected: protected,
            stateDirectory: stateDirectory,
            appVersion: appVersion,
            startedAt: startedAt,
            failure: failure
        )
    }

    @inline(never)
    mutating func attempted() throws(Problem) -> StateMarks.Attempted {
        var versions: [AttemptedMigration] = []
        try expect(0x5B, .array)
        if pass(0x5D) { return .none }
        repeat { versions.append(try attemptedMigration()) } while try continues(until: 0x5D)
        return .versions(versions)
    }

    private mutating func attemptedMigration() throws(Problem) -> AttemptedMigration {
        var version, appVersion: AppVersion?
        var attempts, deaths: Int?
        let start = index
        try object { (reader, key) throws(Problem) in
            if key.equals("version") {
                try reader.set(&version, key) { reader throws(Problem) in try reader.version() }
            } else if key.equals("appVersion") {
                try reader.set(&appVersion, key) { reader throws(Problem) in try reader.version() }
            } else if key.equals("attempts") {
                try reader.set(&attempts, key) { reader throws(Problem) in try reader.count() }
            } else if key.equals("deaths") {
                try reader.set(&deaths, key) { reader throws(Problem) in try reader.count() }
            } else {
                return false
            }
            return true
        }
        guard let version, let appVersion, let attempts, let deaths else {
            throw problem(.present, at: start)
        }
        return AttemptedMigration(
            version: version,
            attempts: attempts,
            deaths: deaths,
            appVersion: appVersion
        )
    }

    @inline(never)
    mutating func history() throws(Problem) -> [AppliedMigration] {
        var rows: [AppliedMigration] = []
        try expect(0x5B, .array)
        if pass(0x5D) { return rows }
        repeat { rows.append(try row()) } while try continues(until: 0x5D)
        return rows
    }

    private mutating func row() throws(Problem) -> AppliedMigration {
        var version, previous, appVersion: AppVersion?
        var finishedAt: Int64?
        var duration: Duration?
        var attempts: Int?
        let start = index
        try object { (reader, key) throws(Problem) in
            if key.equals("version") {
                try reader.set(&version, key) { reader throws(Problem) in try reader.version() }
            } else if key.equals("from") {
                try reader.set(&previous, key) { reader throws(Problem) in try reader.version() }
            } else if key.equals("appVersion") {
                try reader.set(&appVersion, key) { reader throws(Problem) in try reader.version() }
            } else if key.equals("finishedAt") {
                try reader.set(&finishedAt, key) { reader throws(Problem) in try reader.date() }
            } else if key.equals("seconds") {
                try reader.set(&duration, key) { reader throws(Problem) in try reader.seconds() }
            } else if key.equals("attempts") {
                try reader.set(&attempts, key) { reader throws(Problem) in try reader.count() }
            } else {
                return false
            }
            return true
        }
        guard let version, let previous, let appVersion, let finishedAt, let duration, let attempts else {
            throw problem(.present, at: start)
        }
        return AppliedMigration(
            version: version,
            previousVersion: previous,
            appVersion: appVersion,
            finishedAt: finishedAt,
            duration: duration,
            attempts: attempts
        )
    }

    private mutating func set<Value>(
        _ member: inout Value?,
        _ key: JSONText,
        _ read: (inout StateJSONReader) throws(Problem) -> Value
    ) throws(Problem) {
        if member != nil { throw problem(.newKey, at: key.offset) }
        member = .some(try read(&self))
    }

    private mutating func count() throws(Problem) -> Int {
        let start = index
        let value = try integer()
        if value < 0 { throw problem(.positive, at: start) }
        return value
    }

    private mutating func seconds() throws(Problem) -> Duration {
        let start = index
        let seconds = try double()
        // Above 1e12 seconds a Double no longer holds the nanoseconds that the file is written with.
        guard seconds >= 0, seconds < 1e12 else { throw problem(.positive, at: start) }
        return .nanoseconds(Int64((seconds.truncatingRemainder(dividingBy: 1) * 1e9).rounded()))
            + .seconds(Int64(seconds))
    }

    private mutating func date() throws(Problem) -> Int64 {
        let text = try string()
        guard let date = Timestamp.read(text.decoded) else { throw problem(.date, at: text.offset) }
        return date
    }

    private mutating func strings() throws(Problem) -> [String] {
        var strings: [String] = []
        try expect(0x5B, .array)
        if pass(0x5D) { return strings }
        repeat { strings.append(try string().decoded) } while try continues(until: 0x5D)
        return strings
    }
}
