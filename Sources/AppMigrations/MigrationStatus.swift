/// A manager's state at one moment, to show on a screen, to log, or to send to support.
///
/// ``MigrationManager/status`` returns it, after it has read the state file and tested whether the lock is
/// held. ``description`` is a text for a person, and ``json`` is a text for a program.
public struct MigrationStatus: Sendable, CustomStringConvertible {
    /// The name of the manager.
    public let name: String

    /// The version of the app that asked for this status.
    public let appVersion: AppVersion

    /// The path of the state file.
    public let stateFile: String

    /// The version up to which everything has run; `nil` if there is no state.
    public let lastRunVersion: AppVersion?

    /// The version of the data when the state was created or reset; `nil` if there is no state.
    public let baseline: AppVersion?

    /// The newest version of the app that was started on this data; `nil` if there is no state.
    public let launchedVersion: AppVersion?

    /// The oldest version of the app that may use the data; `nil` if every version may.
    public let minimumAppVersion: AppVersion?

    /// The migration that was started last, if it isn't recorded as done.
    ///
    /// It is running, or it has failed, or its process has crashed.
    public let latestAttempt: UnfinishedMigration?

    /// The other migrations that were started and aren't recorded as done.
    public let otherAttempts: [UnfinishedMigration]

    /// The migrations that have run on this data, the oldest first; only the newest 1,000 are kept.
    public let history: [AppliedMigration]

    /// Makes a status for previews and tests of a screen that shows it.
    ///
    /// - Parameters:
    ///   - name: The name of the manager.
    ///   - appVersion: The version of the app that asks for the status.
    ///   - stateFile: The path of the state file.
    ///   - lastRunVersion: The version up to which everything has run; `nil` if there is no state.
    ///   - baseline: The version of the data when the state was created or reset. If it is `nil`,
    ///     `lastRunVersion` is used.
    ///   - launchedVersion: The newest version of the app that was started on this data. If it is `nil`,
    ///     `lastRunVersion` is used.
    ///   - minimumAppVersion: The oldest version of the app that may use the data; `nil` if every version
    ///     may.
    ///   - latestAttempt: The migration that was started last, if it isn't recorded as done.
    ///   - otherAttempts: The other migrations that were started and aren't recorded as done.
    ///   - history: The migrations that have run on this data, the oldest first.
    public init(
        name: String,
        appVersion: AppVersion,
        stateFile: String,
        lastRunVersion: AppVersion? = nil,
        baseline: AppVersion? = nil,
        launchedVersion: AppVersion? = nil,
        minimumAppVersion: AppVersion? = nil,
        latestAttempt: UnfinishedMigration? = nil,
        otherAttempts: [UnfinishedMigration] = [],
        history: [AppliedMigration] = []
    ) {
        self.name = name
        self.appVersion = appVersion
        self.stateFile = stateFile
        self.lastRunVersion = lastRunVersion
        self.baseline = baseline ?? lastRunVersion
        self.launchedVersion = launchedVersion ?? lastRunVersion
        self.minimumAppVersion = minimumAppVersion
        self.latestAttempt = latestAttempt
        self.otherAttempts = otherAttempts
        self.history = history
    }

    /// True if there is a state.
    ///
    /// If there is none, the versions are `nil` and the lists are empty.
    public var hasState: Bool { lastRunVersion != nil }
}

extension MigrationStatus {
    /// Makes the status of a state, for an app with the version `appVersion`.
    ///
    /// `isUnderWay` says whether a process is running the latest attempt; `nil` if that is unknown. `holder`
    /// has lines about the host that has the lease of that attempt, if several hosts share the data.
    ///
    /// - Throws: ``MigrationError`` with the code `stateCorrupted` if the rows of the history are damaged.
    package init(
        _ state: MigrationState?,
        of location: StateLocation,
        appVersion: AppVersion,
        isUnderWay: Bool?,
        heldBy holder: [String] = []
    ) throws(MigrationError) {
        let versions = state?.versions
        let minimumAppVersion = versions?.minimumAppVersion ?? .zero
        self.init(
            name: location.name,
            appVersion: appVersion,
            stateFile: location.state,
            lastRunVersion: versions?.lastRun,
            baseline: versions?.baseline,
            launchedVersion: versions?.launched,
            minimumAppVersion: minimumAppVersion == .zero ? nil : minimumAppVersion,
            latestAttempt: versions?.latestAttempt.map {
                UnfinishedMigration($0, isUnderWay: isUnderWay, heldBy: holder)
            },
            otherAttempts: versions?.otherAttempts.map { UnfinishedMigration($0) } ?? [],
            history: try state?.rows(at: location) ?? []
        )
    }
}

extension MigrationStatus {
    /// Several lines for a person to read, with times in UTC.
    ///
    /// The text contains one path, that of the state file. It contains the whole text of a closure's own
    /// error. It doesn't contain the text of a checkpoint, only how much was done.
    public var description: String {
        var lines: [Message] = ["Migrations of \(name.quoted) in app version \(appVersion)"]
        lines.append("State: \(stateFile)")
        guard let lastRunVersion, let baseline, let launchedVersion else {
            lines.append("There is no state yet: no version of the app has created one here.")
            return lines.map(\.description).joined(separator: "\n")
        }
        lines.append(
            "Last-run version: \(lastRunVersion). Baseline: \(baseline). Newest app version started: \(launchedVersion)."
        )
        if let minimumAppVersion {
            let verdict: Message = minimumAppVersion.exceeds(appVersion) ? "must not" : "may"
            lines.append(
                """
                Only app version \(minimumAppVersion) or a later one may use the data. App version \(appVersion) \
                \(verdict) use it.
                """
            )
        }
        if let latestAttempt { lines += latestAttempt.lines(isLatest: true) }
        for attempt in otherAttempts { lines += attempt.lines(isLatest: false) }
        lines.append("Migrations that have run: \(history.isEmpty ? "none" : "\(history.count)")")
        for row in history {
            lines.append(
                """
                  \(row.version) (data was at \(row.previousVersion)), finished \(Timestamp.text(row.finishedAt)) by \
                app version \(row.appVersion) in \(JSON.seconds(row.duration)) s, attempts: \(row.attemptCount)
                """
            )
        }
        return lines.map(\.description).joined(separator: "\n")
    }

    /// A JSON object on a single line (the example is wrapped), whose keys are the names of the properties.
    ///
    /// As in the state file, versions and times are strings, and durations are numbers of seconds. A property
    /// that is `nil` is omitted:
    ///
    /// ```json
    /// { "name" : "Library", "appVersion" : "1.5",
    ///   "stateFile" : "…/Library.migrations.json",
    ///   "lastRunVersion" : "1.4", "baseline" : "1.1",
    ///   "launchedVersion" : "1.5",
    ///   "latestAttempt" : { "version" : "1.5", "attemptCount" : 2,
    ///     "crashCount" : 1, "appVersion" : "1.5",
    ///     "startedAt" : "2026-11-21T03:54:28Z",
    ///     "isUnderWay" : false },
    ///   "otherAttempts" : [],
    ///   "history" : [ { "version" : "1.4", "previousVersion" : "1.1",
    ///     "appVersion" : "1.4",
    ///     "finishedAt" : "2026-11-21T03:54:28Z",
    ///     "duration" : 0.0123, "attemptCount" : 1 } ] }
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
            ("latestAttempt", latestAttempt?.json),
            ("otherAttempts", JSON.array(otherAttempts.map(\.json))),
            ("history", JSON.array(history.map(\.json))),
        ])
    }
}
