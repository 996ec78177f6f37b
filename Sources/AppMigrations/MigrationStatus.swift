/// A state at one moment, for a screen, a log or a support mail.
///
/// ``MigrationManager/status`` makes it, from the file and a look at the lock. ``description`` is a text for a person, and ``json``
/// one for a program.
public struct MigrationStatus: Sendable, CustomStringConvertible {
    /// The name of the manager.
    public var name: String { location.name }

    /// The version of the app that asked.
    public let appVersion: AppVersion

    /// The path of the state file.
    public var stateFile: String { location.state }

    /// The migration whose closure was begun last and isn't recorded.
    public var interruption: Attempt? {
        state?.marks.interruption.map { Attempt($0.known, $0, isUnderWay: isUnderWay) }
    }

    /// The attempts at other versions that were begun and are still pending.
    public var attempted: [Attempt] { state?.marks.attempted.map { Attempt($0) } ?? [] }

    private let state: MigrationState?
    private let location: StateLocation
    private let isUnderWay: Bool?

    package init(_ state: MigrationState?, of location: StateLocation, current: AppVersion, isUnderWay: Bool?)
    {
        (self.state, self.location, self.isUnderWay) = (state, location, isUnderWay)
        appVersion = current
    }

    /// The version up to which everything has run; `nil` where there is no state.
    public var lastRunVersion: AppVersion? { state?.marks.lastRun }

    /// The version of the data when the state was made or reset; `nil` where there is no state.
    public var baseline: AppVersion? { state?.marks.baseline }

    /// The newest version of the app that was started on this data; `nil` where there is no state.
    public var launchedVersion: AppVersion? { state?.marks.launched }

    /// The oldest version of the app that may use the data; `nil` where every version may.
    public var minimumAppVersion: AppVersion? {
        state.flatMap { $0.marks.minimumAppVersion == .zero ? nil : $0.marks.minimumAppVersion }
    }

    /// The migrations that ran here, the oldest first, at most the newest 1,000.
    public var history: [AppliedMigration] { state?.history ?? [] }

    /// True if there is a state; without one the versions are `nil`, and the lists are empty.
    public var hasState: Bool { lastRunVersion != nil }

    /// The oldest version of the app that may use the data, where it lies above ``appVersion``: this one may not.
    public var requiredAppVersion: AppVersion? { state?.marks.floor(above: appVersion) }
}

extension MigrationStatus {
    /// The attempts at a migration that was begun and isn't recorded.
    public struct Attempt: Sendable {
        /// The version of the migration.
        public var version: AppVersion { known.version }

        /// How many times its closure was begun.
        public var attempts: Int { known.attempts }

        /// How many processes of ``appVersion`` died in it, since the last checkpoint that changed.
        ///
        /// The last process counts too, unless its closure threw or still runs, or is a host's of a fleet whose lease stands. It
        /// is the number that `attemptLimit` is compared with.
        public var deaths: Int { known.deaths }

        /// The version of the app that began it last.
        public var appVersion: AppVersion { known.appVersion }

        /// When it was begun last, in seconds since 1970, UTC; of the interrupted migration only.
        public var startedAt: Int64? { interruption?.startedAt }

        /// The error that ended it, at most 1,000 characters: what the closure's own error says.
        ///
        /// `nil` while it is under way, where its task was cancelled, and where its process died, until `resetAttempts()` notes that;
        /// of the interrupted migration only.
        public var failure: String? { end == Interruption.cancellation ? nil : end }

        /// The text that the closure saved with `saveCheckpoint`, and the next attempt goes on from.
        public var checkpoint: String? { known.checkpoint?.text }

        /// The version of the app that saved ``checkpoint``.
        public var checkpointAppVersion: AppVersion? { known.checkpoint?.appVersion }

        /// How much was done at the checkpoint, from 0 to 1.
        public var progress: Double? { known.checkpoint?.progress }

        /// True if a process is at work on it now; `nil` where that can't be told.
        public let isUnderWay: Bool?

        /// True if protected files wait to be put back, which the next start that may write does.
        public var awaitsRestore: Bool { isUnderWay != true && interruption?.isProtecting == true }

        private let known: AttemptedMigration
        private let interruption: Interruption?

        private var end: String? { interruption?.failure }

        /// The lease of the host of a fleet that may be at work; JSON doesn't have it.
        private var lease: Lease? { isUnderWay == nil ? interruption?.lease : nil }

        fileprivate init(
            _ known: AttemptedMigration,
            _ interruption: Interruption? = nil,
            isUnderWay: Bool? = false
        ) {
            (self.interruption, self.isUnderWay) = (interruption, isUnderWay)
            let isAtWork = isUnderWay ?? (interruption?.lease != nil)
            self.known = isAtWork ? known : interruption?.outcome ?? known
        }
    }

    /// Several lines for a person to read, with times in UTC.
    ///
    /// Of paths it has the state file's alone. What a closure's own error says stands in it as it is, and of a checkpoint only
    /// how much was done.
    public var description: String {
        var lines: [Message] = ["Migrations of \(name.quoted) in app version \(appVersion)"]
        lines.append("State: \(stateFile)")
        guard let lastRunVersion, let baseline, let launchedVersion else {
            lines.append("There is no state yet: no app version has made one here.")
            return lines.map(\.description).joined(separator: "\n")
        }
        lines.append(
            "Last run: \(lastRunVersion). Baseline: \(baseline). Newest app version started: \(launchedVersion)."
        )
        if let minimumAppVersion {
            let verdict: Message = requiredAppVersion == nil ? "This one may." : "This one must not touch it."
            lines.append("Only app version \(minimumAppVersion) or a later one may use the data. \(verdict)")
        }
        if let interruption { lines += interruption.lines(isInterrupted: true) }
        for attempt in attempted { lines += attempt.lines(isInterrupted: false) }
        lines.append(history.isEmpty ? "History: none ran here." : "History: \(history.count) ran here")
        for row in history {
            lines.append(
                """
                  \(row.version) from \(row.previousVersion), finished \(Timestamp.text(row.finishedAt)) by app version \
                \(row.appVersion) in \(JSON.seconds(row.duration)) s, attempts: \(row.attempts)
                """
            )
        }
        return lines.map(\.description).joined(separator: "\n")
    }

    /// An object of JSON, in one line, with the names of the properties as its keys.
    ///
    /// Versions and times are text, durations are numbers of seconds, as in the state file, and what has no value is left out:
    ///
    /// ```json
    /// { "name" : "Library", "appVersion" : "1.5",
    ///   "stateFile" : "…/Library.migrations.json",
    ///   "lastRunVersion" : "1.4", "baseline" : "1.1",
    ///   "launchedVersion" : "1.5",
    ///   "interruption" : { "version" : "1.5", "attempts" : 2,
    ///     "deaths" : 1, "appVersion" : "1.5",
    ///     "startedAt" : "2026-11-21T03:54:28Z",
    ///     "isUnderWay" : false, "awaitsRestore" : false },
    ///   "attempted" : [],
    ///   "history" : [ { "version" : "1.4", "previousVersion" : "1.1",
    ///     "appVersion" : "1.4",
    ///     "finishedAt" : "2026-11-21T03:54:28Z",
    ///     "duration" : 0.0123, "attempts" : 1 } ] }
    /// ```
    public var json: String {
        JSON.object([
            ("name", name.quoted),
            ("appVersion", appVersion.json),
            ("stateFile", stateFile.quoted),
            ("lastRunVersion", lastRunVersion?.json),
            ("baseline", baseline?.json),
            ("launchedVersion", launchedVersion?.json),
            ("minimumAppVersion", minimumAppVersion?.json),
            ("requiredAppVersion", requiredAppVersion?.json),
            ("interruption", interruption?.json),
            ("attempted", JSON.array(attempted.map(\.json))),
            ("history", JSON.array(history.map(\.json))),
        ])
    }
}

extension MigrationStatus.Attempt {
    fileprivate var json: String {
        JSON.object(
            known.members() + [
                ("startedAt", startedAt.map { Timestamp.text($0).quoted }),
                ("failure", failure?.quoted),
                ("isUnderWay", isUnderWay?.description),
                ("awaitsRestore", awaitsRestore.description),
            ]
        )
    }

    fileprivate func lines(isInterrupted: Bool) -> [Message] {
        let begun: Message = startedAt.map { ", begun \(Timestamp.text($0))" } ?? ""
        let counts: Message =
            "attempts: \(attempts), deaths: \(deaths), last by app version \(appVersion)\(begun)"
        let subject: Message =
            if !isInterrupted {
                "Waiting: \(version), tried before"
            } else if isUnderWay == true || lease != nil {
                "Under way: \(version)"
            } else if failure != nil {
                "Failed: \(version)"
            } else {
                "Interrupted\(isUnderWay == nil ? " or under way" : ""): \(version)"
            }
        var lines: [Message] = ["\(subject), \(counts)"]
        if let checkpointAppVersion {
            let progress: Message = progress.map { " at \(Int($0 * 100)) %" } ?? ""
            lines.append("  A checkpoint was saved\(progress) by app version \(checkpointAppVersion).")
        }
        if let lease {
            let length = JSON.seconds(lease.length)
            lines.append("  Host: \(lease.owner). Its lease runs out where it isn't renewed for \(length) s.")
        }
        if let end { lines.append("  Error: \(end)") }
        if awaitsRestore { lines.append("  Protected files wait to be put back.") }
        return lines
    }
}
