// The JSON text of a state, as it is in the state file: the names of its members, and how they are read and
// written.

extension MigrationState {
    private static var knownKeys: [String] {
        [
            "format", "name", "lastRunVersion", "baseline", "launchedVersion", "freshInstall",
            "minimumAppVersion", "latestAttempt", "otherAttempts", "droppedVersion", "history",
        ]
    }

    /// Reads the text of a state, but not the rows of its history.
    ///
    /// - Throws: ``MigrationError`` with the code `stateCorrupted` or `stateFromNewerFormat`.
    package init(document: [UInt8], at location: StateLocation) throws(MigrationError) {
        let json: JSON
        let history: History?
        let format: Int
        do throws(JSONError) {
            (json, history) = try Self.split(document)
            format = try json.requiredMember("format").count()
        } catch {
            throw .corrupted(location, because: error)
        }
        if format > Self.format { throw .fromNewerFormat(format, at: location) }
        do throws(JSONError) {
            try self.init(json, history: history, of: document, named: location.name)
        } catch {
            throw .corrupted(location, because: error)
        }
    }

    private init(
        _ json: JSON,
        history: History?,
        of document: [UInt8],
        named name: String
    ) throws(JSONError) {
        let format = try json.requiredMember("format")
        guard try format.count() == Self.format else { throw format.expected("format \(Self.format)") }
        let storedName = try json.requiredMember("name")
        guard try storedName.string() == name else { throw storedName.expected("this manager's name") }
        let lastRun = try json.version("lastRunVersion")
        let versions = StateVersions(
            lastRun: lastRun,
            baseline: try json.versionIfPresent("baseline") ?? lastRun,
            launched: try json.versionIfPresent("launchedVersion") ?? lastRun,
            freshInstall: try json.versionIfPresent("freshInstall"),
            minimumAppVersion: try json.versionIfPresent("minimumAppVersion") ?? .zero,
            latestAttempt: try json.memberUnlessNull("latestAttempt").map(LatestAttempt.init),
            otherAttempts: try json.member("otherAttempts")?.elements().map(AttemptedMigration.init) ?? []
        )
        var rows: [AppliedMigration] = []
        if history == nil, let elements = try json.member("history")?.elements() {
            rows = try elements.map(AppliedMigration.init)
        }
        self.init(
            name: name,
            versions: versions,
            history: history ?? History(rows: rows),
            droppedVersion: try json.versionIfPresent("droppedVersion") ?? .zero,
            otherMembers: try json.otherMembers(than: Self.knownKeys, in: document)
        )
    }

    /// Splits a document into its history and everything else.
    ///
    /// If the history is in the form that this library writes, its rows aren't read. Otherwise, for example
    /// after a person has repaired the file, the whole text is read, and the returned history is `nil`.
    private static func split(_ document: [UInt8]) throws(JSONError) -> (JSON, History?) {
        let end = Array("]\n}\n".utf8)
        if document.suffix(end.count) == end[...],
            let head = document.end(of: Array("\n  \"history\" : [".utf8)),
            let history = History(written: document[head..<max(head, document.count - end.count)])
        {
            do throws(JSONError) {
                return (try JSON.read(Array(document[..<head]) + end), history)
            } catch {
                // The text begins in another form. Read it as a whole, which says what is wrong with it.
            }
        }
        return (try JSON.read(document), nil)
    }

    /// The text to save.
    ///
    /// If it would exceed the size limit of a state, the oldest rows of the history are left out. It is `nil`
    /// if the text would be too large even without any rows.
    ///
    /// - Throws: ``MigrationError`` with the code `stateCorrupted`, if rows have to be left out and are
    ///   damaged.
    package func documentToSave(at location: StateLocation) throws(MigrationError) -> [UInt8]? {
        var state = self
        var document = state.document
        while document.count > StateFile.sizeLimit {
            let count = state.history.count
            if count == 0 { return nil }
            do throws(JSONError) {
                // Rows have about the same length.
                let excess = document.count - StateFile.sizeLimit
                let average = max(1, state.history.text.count / count)
                try state.dropOldestRows(min(count, excess / average + 1))
            } catch {
                throw .corrupted(location, because: error)
            }
            document = state.document
        }
        return document
    }

    /// The text of the state, in the one form that this library writes.
    ///
    /// ``StateHead`` reads the first members in exactly this order and form. Change both together.
    var document: [UInt8] {
        let minimum = versions.minimumAppVersion
        let attempts = versions.otherAttempts
        let firstMembers: [(String, String?)] = [
            ("format", String(Self.format)),
            ("name", name.quoted),
            ("lastRunVersion", versions.lastRun.json),
            ("baseline", versions.baseline.json),
            ("launchedVersion", versions.launched.json),
            ("freshInstall", versions.freshInstall?.json),
            ("minimumAppVersion", minimum == .zero ? nil : minimum.json),
            ("latestAttempt", versions.latestAttempt?.json),
            ("otherAttempts", attempts.isEmpty ? nil : JSON.array(attempts.map(\.json))),
        ]
        let separator = ",\n  "
        var text = Array("{\n  ".utf8)
        text += JSON.members(firstMembers, separator: separator).utf8
        // If `StateHead` finds one of these members, it returns nothing, so that the text is read in full.
        for member in otherMembers {
            text += separator.utf8
            text += member.text
        }
        if droppedVersion != .zero { text += "\(separator)\"droppedVersion\" : \(droppedVersion.json)".utf8 }
        text += "\(separator)\"history\" : [".utf8
        text += history.text
        text += (history.text.isEmpty ? "]\n}\n" : "\n  ]\n}\n").utf8
        return text
    }
}

extension LatestAttempt {
    fileprivate init(_ json: JSON) throws(JSONError) {
        self.init(
            try AttemptedMigration(json),
            at: try json.requiredMember("startedAt").time(),
            failure: try json.memberUnlessNull("failure")?.string()
        )
    }

    fileprivate var json: String {
        JSON.object(
            migration.members + [
                ("startedAt", Timestamp.text(startedAt).quoted),
                ("failure", failure?.quoted ?? "null"),
            ]
        )
    }
}

extension Checkpoint {
    /// Reads the checkpoint of an attempt; `nil` if the attempt has no checkpoint.
    ///
    /// If there is a checkpoint, the version of the app that saved it is required.
    fileprivate init?(amongMembersOf json: JSON) throws(JSONError) {
        let progress = try json.member("progress")?.fraction()
        let appVersion = try json.versionIfPresent("checkpointAppVersion")
        guard let text = try json.member("checkpoint")?.string() else { return nil }
        guard let appVersion else { throw json.missing("checkpointAppVersion") }
        self.init(text: text, appVersion: appVersion, progress: progress)
    }
}

extension AttemptedMigration {
    fileprivate init(_ json: JSON) throws(JSONError) {
        self.init(
            try json.version("version"),
            attemptCount: try json.requiredMember("attemptCount").count(),
            crashCount: try json.requiredMember("crashCount").count(),
            by: try json.version("appVersion"),
            checkpoint: try Checkpoint(amongMembersOf: json)
        )
    }

    fileprivate var json: String { JSON.object(members) }

    fileprivate var members: [(String, String?)] {
        [
            ("version", version.json),
            ("attemptCount", JSON.count(attemptCount)),
            ("crashCount", JSON.count(crashCount)),
            ("appVersion", appVersion.json),
            ("checkpoint", checkpoint?.text.quoted),
            ("checkpointAppVersion", checkpoint?.appVersion.json),
            ("progress", checkpoint?.progress?.description),
        ]
    }
}

extension AppliedMigration {
    init(_ json: JSON) throws(JSONError) {
        self.init(
            version: try json.version("version"),
            previousVersion: try json.version("previousVersion"),
            appVersion: try json.version("appVersion"),
            finishedAt: try json.requiredMember("finishedAt").time(),
            duration: try json.requiredMember("duration").duration(),
            attemptCount: try json.requiredMember("attemptCount").count()
        )
    }

    var json: String {
        JSON.object([
            ("version", version.json),
            ("previousVersion", previousVersion.json),
            ("appVersion", appVersion.json),
            ("finishedAt", Timestamp.text(finishedAt).quoted),
            ("duration", JSON.seconds(duration)),
            ("attemptCount", JSON.count(attemptCount)),
        ])
    }
}

extension [UInt8] {
    /// The index after the first occurrence of `text`; `nil` if it doesn't occur.
    fileprivate func end(of text: [UInt8]) -> Int? {
        guard count >= text.count else { return nil }
        for index in 0...(count - text.count) where self[index] == text[0] {
            if self[index..<(index + text.count)].elementsEqual(text) { return index + text.count }
        }
        return nil
    }
}
