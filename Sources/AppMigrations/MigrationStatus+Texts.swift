extension MigrationStatus {
    /// The rows of the history that ``description`` has room for.
    private static var rowLimit: Int { 20 }

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
        let rows = history.suffix(Self.rowLimit)
        let newest: Message = rows.count < history.count ? ", of which the newest \(rows.count)" : ""
        lines.append(rows.isEmpty ? "History: none ran here." : "History: \(history.count) ran here\(newest)")
        for row in rows {
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
        JSON.object([
            ("version", version.json),
            ("attempts", String(attempts)),
            ("deaths", String(deaths)),
            ("appVersion", appVersion.json),
            ("startedAt", startedAt.map { Timestamp.text($0).quoted }),
            ("failure", failure?.quoted),
            ("checkpoint", checkpoint?.quoted),
            ("checkpointAppVersion", checkpointAppVersion?.json),
            ("progress", progress?.description),
            ("isUnderWay", isUnderWay?.description),
            ("awaitsRestore", awaitsRestore.description),
        ])
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
                "Interrupted\(isUnderWay == nil ? " or under way" : " by a death"): \(version)"
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
        if let failure { lines.append("  Error: \(failure)") }
        if awaitsRestore { lines.append("  Protected files wait to be put back.") }
        return lines
    }
}
