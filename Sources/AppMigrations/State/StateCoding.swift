// The text of a state, wherever it is kept: what each member is called, read and written.

extension MigrationState {
    private static var knownKeys: [String] {
        [
            "format", "name", "lastRunVersion", "baseline", "launchedVersion", "freshInstall",
            "minimumAppVersion",
            "interruption", "attempted", "fence", "droppedVersion", "history",
        ]
    }

    /// Reads the whole text.
    ///
    /// - Throws: ``MigrationError`` with the code `stateCorrupted` or `stateFromNewerFormat`.
    package convenience init(document: [UInt8], at location: StateLocation) throws(MigrationError) {
        let json = try JSON.read(document, at: location)
        let format = try json.needed("format")
        let number = try format.count()
        if number > Self.format {
            let text: Message = """
                The state of \(location) has format \(number); this release of the library reads up to \(Self.format). Nothing was \
                run or written. Start a newer release of the app.
                """
            throw location.error(.stateFromNewerFormat, nil, text)
        }
        if number < Self.format { throw format.expected("format \(Self.format)") }
        let name = try json.needed("name")
        guard try name.text() == location.name else { throw name.expected("this manager's name") }
        let lastRun = try json.version("lastRunVersion")
        let marks = StateMarks(
            lastRun: lastRun,
            baseline: try json.versionOrNil("baseline") ?? lastRun,
            launched: try json.versionOrNil("launchedVersion") ?? lastRun,
            freshInstall: try json.versionOrNil("freshInstall"),
            minimumAppVersion: try json.versionOrNil("minimumAppVersion"),
            attempts: (
                try json.value("interruption").map(Interruption.init),
                try json.member("attempted")?.elements().map(AttemptedMigration.init) ?? []
            )
        )
        self.init(
            location.name,
            marks,
            history: try json.member("history")?.elements().map(AppliedMigration.init) ?? [],
            droppedVersion: try json.versionOrNil("droppedVersion") ?? .zero,
            unknownMembers: try json.members(except: Self.knownKeys, of: document),
            fence: try json.member("fence")?.count() ?? 0
        )
    }

    /// The text, without the oldest rows of the history if it would take more than a state may; `nil` if it does without any row.
    package var writtenDocument: [UInt8]? {
        let document = document
        var excess = document.count - StateFile.sizeLimit
        if excess <= 0 { return document }
        var count = 0
        while excess > 0, count < history.count {
            excess -= history[count].json.utf8.count + Self.betweenRows.utf8.count
            count += 1
        }
        // The text says which versions it lost, which takes room itself.
        return count > 0 ? withoutOldestRows(count).writtenDocument : nil
    }

    private static var betweenRows: String { ",\n    " }

    /// The text, in the one form that this library writes, and whose beginning ``StateHead`` knows.
    var document: [UInt8] {
        let members: [(String, String?)] = [
            ("format", String(Self.format)),
            ("name", name.quoted),
            ("lastRunVersion", marks.lastRun.json),
            ("baseline", marks.baseline.json),
            ("launchedVersion", marks.launched.json),
            ("freshInstall", marks.freshInstall?.json),
            ("minimumAppVersion", marks.minimumAppVersion == .zero ? nil : marks.minimumAppVersion.json),
            ("interruption", marks.interruption?.json),
            ("attempted", marks.attempted.isEmpty ? nil : JSON.array(marks.attempted.map(\.json))),
        ]
        let rows = history.map(\.json).joined(separator: Self.betweenRows)
        let history = rows.isEmpty ? "" : "\n    \(rows)\n  "
        // These come after the unknown members: a document that has some is read in full, and not by its head.
        let last: [(String, String?)] = [
            ("fence", fence > 0 ? JSON.count(fence) : nil),
            ("droppedVersion", droppedVersion == .zero ? nil : droppedVersion.json),
            ("history", "[\(history)]"),
        ]
        let start = "{\n  " + JSON.lines(members, ",\n  ") + ",\n"
        return Array(start.utf8) + unknownMembers + Array("  \(JSON.lines(last, ",\n  "))\n}\n".utf8)
    }
}

extension MigrationState: Equatable {
    /// True if the two are written the same.
    package static func == (left: MigrationState, right: MigrationState) -> Bool {
        left.document == right.document
    }
}

extension StateMarks: Equatable {
    package static func == (left: StateMarks, right: StateMarks) -> Bool {
        MigrationState("", left) == MigrationState("", right)
    }
}

extension Interruption {
    fileprivate convenience init(_ json: JSON) throws(MigrationError) {
        self.init(
            try AttemptedMigration(json),
            isProtecting: try json.needed("isProtecting").flag(),
            at: try json.needed("startedAt").moment(),
            failure: try json.value("failure")?.text(),
            try Lease(of: json)
        )
    }

    fileprivate var json: String {
        let members: [(String, String?)] = [
            ("startedAt", Timestamp.text(startedAt).quoted),
            ("failure", failure?.quoted ?? "null"),
            ("owner", lease?.owner.quoted),
            ("beat", lease.map { JSON.count($0.beat) }),
            ("fence", lease.map { JSON.count($0.fence) }),
            ("lease", lease.map { JSON.seconds($0.length) }),
        ]
        return JSON.object(known.members(isProtecting: isProtecting) + members)
    }
}

extension Checkpoint {
    /// The checkpoint among the members of an attempt, where there is one: its text and the version that wrote it belong together.
    fileprivate init?(of json: JSON) throws(MigrationError) {
        let progress = try json.member("progress")?.fraction()
        let appVersion = try json.versionOrNil("checkpointAppVersion")
        guard let text = try json.member("checkpoint")?.text() else { return nil }
        guard let appVersion else { throw json.missing("checkpointAppVersion") }
        self.init(text: text, appVersion: appVersion, progress: progress)
    }
}

extension Lease {
    /// The lease among the members of an attempt, where there is one: what says whose it is and how long it is belongs together.
    fileprivate init?(of json: JSON) throws(MigrationError) {
        let beat = try json.member("beat")?.count()
        let fence = try json.member("fence")?.count()
        let length = try json.member("lease")?.duration()
        guard let owner = try json.member("owner")?.text() else { return nil }
        guard let beat, let fence, let length else {
            throw json.expected("an owner with \("beat".quoted), \("fence".quoted) and \("lease".quoted)")
        }
        self.init(owner: owner, beat: beat, fence: fence, length: length)
    }
}

extension AttemptedMigration {
    fileprivate convenience init(_ json: JSON) throws(MigrationError) {
        self.init(
            try json.version("version"),
            attempts: try json.needed("attempts").count(),
            deaths: try json.needed("deaths").count(),
            by: try json.version("appVersion"),
            try Checkpoint(of: json),
            isCopying: try json.member("isCopying")?.flag() ?? false
        )
    }

    fileprivate var json: String { JSON.object(members()) }

    /// The members in the state file, which a status has too.
    func members(isProtecting: Bool? = nil) -> [(String, String?)] {
        [
            ("version", version.json),
            ("attempts", JSON.count(attempts)),
            ("deaths", JSON.count(deaths)),
            ("isProtecting", isProtecting?.description),
            ("isCopying", isCopying ? "true" : nil),
            ("appVersion", appVersion.json),
            ("checkpoint", checkpoint?.text.quoted),
            ("checkpointAppVersion", checkpoint?.appVersion.json),
            ("progress", checkpoint?.progress?.description),
        ]
    }
}

extension AppliedMigration {
    fileprivate init(_ json: JSON) throws(MigrationError) {
        self.init(
            version: try json.version("version"),
            previousVersion: try json.version("previousVersion"),
            appVersion: try json.version("appVersion"),
            finishedAt: try json.needed("finishedAt").moment(),
            duration: try json.needed("duration").duration(),
            attempts: try json.needed("attempts").count()
        )
    }

    var json: String {
        JSON.object([
            ("version", version.json),
            ("previousVersion", previousVersion.json),
            ("appVersion", appVersion.json),
            ("finishedAt", Timestamp.text(finishedAt).quoted),
            ("duration", JSON.seconds(duration)),
            ("attempts", JSON.count(attempts)),
        ])
    }
}

extension AppVersion {
    var json: String { "\"\(description)\"" }
}
