// The JSON text of a state, as it is in the state file: the names of its members, and how they are read and
// written.

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
        let json: JSON
        let format: Int
        do throws(JSONError) {
            json = try JSON.read(document)
            format = try json.requiredMember("format").count()
        } catch {
            throw .corrupted(location, because: error)
        }
        if format > Self.format { throw .fromNewerFormat(format, at: location) }
        do throws(JSONError) {
            try self.init(json, of: document, named: location.name)
        } catch {
            throw .corrupted(location, because: error)
        }
    }

    private convenience init(_ json: JSON, of document: [UInt8], named name: String) throws(JSONError) {
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
            interruption: try json.memberUnlessNull("interruption").map(Interruption.init),
            attempted: try json.member("attempted")?.elements().map(AttemptedMigration.init) ?? []
        )
        self.init(
            name: name,
            versions: versions,
            history: try json.member("history")?.elements().map(AppliedMigration.init) ?? [],
            droppedVersion: try json.versionIfPresent("droppedVersion") ?? .zero,
            unknownMembers: try json.members(except: Self.knownKeys, in: document),
            fence: try json.member("fence")?.count() ?? 0
        )
    }

    /// The text to save.
    ///
    /// If it would exceed the size limit of a state, the oldest rows of the history are left out. It is `nil`
    /// if the text would be too large even without any rows.
    package var documentToSave: [UInt8]? {
        let document = document
        var excess = document.count - StateFile.sizeLimit
        if excess <= 0 { return document }
        var count = 0
        while excess > 0, count < history.count {
            excess -= history[count].json.utf8.count + Self.betweenRows.utf8.count
            count += 1
        }
        // The state without these rows stores the highest version among them, which can make its text too
        // long again. So this property calls itself for that state and may drop more rows.
        return count > 0 ? withoutOldestRows(count).documentToSave : nil
    }

    private static var betweenRows: String { ",\n    " }

    /// The text of the state, in the one form that this library writes.
    ///
    /// ``StateHead`` reads the first members in exactly this order and form. Change both together.
    var document: [UInt8] {
        let minimum = versions.minimumAppVersion
        let members: [(String, String?)] = [
            ("format", String(Self.format)),
            ("name", name.quoted),
            ("lastRunVersion", versions.lastRun.json),
            ("baseline", versions.baseline.json),
            ("launchedVersion", versions.launched.json),
            ("freshInstall", versions.freshInstall?.json),
            ("minimumAppVersion", minimum == .zero ? nil : minimum.json),
            ("interruption", versions.interruption?.json),
            ("attempted", versions.attempted.isEmpty ? nil : JSON.array(versions.attempted.map(\.json))),
        ]
        let rows = history.map(\.json).joined(separator: Self.betweenRows)
        let history = rows.isEmpty ? "" : "\n    \(rows)\n  "
        // The unknown members are written before `lastMembers`. If `StateHead` finds an unknown member there,
        // it returns nothing, so that the text is read in full.
        let lastMembers: [(String, String?)] = [
            ("fence", fence > 0 ? JSON.count(fence) : nil),
            ("droppedVersion", droppedVersion == .zero ? nil : droppedVersion.json),
            ("history", "[\(history)]"),
        ]
        let start = "{\n  " + JSON.members(members, separator: ",\n  ") + ",\n"
        let end = "  " + JSON.members(lastMembers, separator: ",\n  ") + "\n}\n"
        return Array(start.utf8) + unknownMembers + Array(end.utf8)
    }
}

// These are classes, for which Swift doesn't synthesize `==`, and an `==` that is written by hand could miss
// a property. Comparing the texts compares every property that is saved.

extension MigrationState: Equatable {
    /// True if both would be saved as the same text.
    package static func == (left: MigrationState, right: MigrationState) -> Bool {
        left.document == right.document
    }
}

extension StateVersions: Equatable {
    /// True if both would be saved as the same text.
    package static func == (left: StateVersions, right: StateVersions) -> Bool {
        MigrationState(name: "", versions: left) == MigrationState(name: "", versions: right)
    }
}

extension Interruption {
    fileprivate convenience init(_ json: JSON) throws(JSONError) {
        self.init(
            try AttemptedMigration(json),
            isProtecting: try json.requiredMember("isProtecting").bool(),
            at: try json.requiredMember("startedAt").time(),
            failure: try json.memberUnlessNull("failure")?.string(),
            lease: try Lease(amongMembersOf: json)
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
        return JSON.object(attempt.members(isProtecting: isProtecting) + members)
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

extension Lease {
    /// Reads the lease of an attempt; `nil` if the attempt has no lease.
    ///
    /// If there is an `owner`, the other members of a lease are required.
    fileprivate init?(amongMembersOf json: JSON) throws(JSONError) {
        let beat = try json.member("beat")?.count()
        let fence = try json.member("fence")?.count()
        let length = try json.member("lease")?.duration()
        guard let owner = try json.member("owner")?.string() else { return nil }
        guard let beat, let fence, let length else {
            throw json.expected(
                "the members \("beat".quoted), \("fence".quoted) and \("lease".quoted) with the owner"
            )
        }
        self.init(owner: owner, beat: beat, fence: fence, length: length)
    }
}

extension AttemptedMigration {
    fileprivate convenience init(_ json: JSON) throws(JSONError) {
        self.init(
            try json.version("version"),
            attempts: try json.requiredMember("attempts").count(),
            deaths: try json.requiredMember("deaths").count(),
            by: try json.version("appVersion"),
            checkpoint: try Checkpoint(amongMembersOf: json),
            isCopying: try json.member("isCopying")?.bool() ?? false,
            isRestored: try json.member("isRestored")?.bool() ?? false
        )
    }

    fileprivate var json: String { JSON.object(members()) }

    /// The members of an attempt.
    ///
    /// `isProtecting` is written only for an interruption.
    fileprivate func members(isProtecting: Bool? = nil) -> [(String, String?)] {
        [
            ("version", version.json),
            ("attempts", JSON.count(attempts)),
            ("deaths", JSON.count(deaths)),
            ("isProtecting", isProtecting?.description),
            ("isCopying", isCopying ? "true" : nil),
            ("isRestored", isRestored ? "true" : nil),
            ("appVersion", appVersion.json),
            ("checkpoint", checkpoint?.text.quoted),
            ("checkpointAppVersion", checkpoint?.appVersion.json),
            ("progress", checkpoint?.progress?.description),
        ]
    }
}

extension AppliedMigration {
    fileprivate init(_ json: JSON) throws(JSONError) {
        self.init(
            version: try json.version("version"),
            previousVersion: try json.version("previousVersion"),
            appVersion: try json.version("appVersion"),
            finishedAt: try json.requiredMember("finishedAt").time(),
            duration: try json.requiredMember("duration").duration(),
            attempts: try json.requiredMember("attempts").count()
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
