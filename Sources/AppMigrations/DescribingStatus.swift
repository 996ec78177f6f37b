/// The text of a status, line by line.
extension MigrationStatus {
    /// The rows of the history that a text has room for.
    private static var rowLimit: Int { 20 }

    /// Several lines for a person to read, with times in UTC.
    ///
    /// Of paths it has the state file's alone. What a closure's own error says stands in it as it is, and of a checkpoint only
    /// how much was done.
    public var description: String {
        var lines: [Message] = ["Migrations of \(managerName.quoted) in app version \(appVersion)"]
        lines.append("State: \(stateFile)")
        guard let marks = facts.marks else {
            lines.append("There is no state yet: no app version has made one here.")
            return Self.joined(lines)
        }
        lines.append(
            "Last run: \(marks.lastRun). Baseline: \(marks.baseline). Newest app version started: \(marks.launched)."
        )
        if let minimumAppVersion {
            let verdict: Message = requiredAppVersion == nil ? "This one may." : "This one must not touch it."
            lines.append("Only app version \(minimumAppVersion) or a later one may use the data. \(verdict)")
        }
        if let interruption { lines += interruption.lines(isInterrupted: true) }
        for attempt in attempted { lines += attempt.lines(isInterrupted: false) }
        lines += rows
        return Self.joined(lines)
    }

    private var rows: [Message] {
        if history.isEmpty { return ["History: none ran here."] }
        let shown = history.suffix(Self.rowLimit)
        let newest: Message = shown.count < history.count ? ", of which the newest \(shown.count)" : ""
        var lines: [Message] = ["History: \(history.count) ran here\(newest)"]
        for row in shown {
            lines.append(
                """
                  \(row.version) from \(row.previousVersion), finished \(Timestamp.text(row.finishedAt)) by app version \
                \(row.appVersion) in \(JSON.seconds(row.duration)) s, attempts: \(row.attempts)
                """
            )
        }
        return lines
    }

    private static func joined(_ lines: [Message]) -> String {
        var text = ""
        for line in lines { text += text.isEmpty ? line.description : "\n" + line.description }
        return text
    }
}

extension MigrationStatus.Attempt {
    fileprivate func lines(isInterrupted: Bool) -> [Message] {
        let begun: Message = startedAt.map { ", begun \(Timestamp.text($0))" } ?? ""
        let counts: Message =
            "attempts: \(attempts), deaths: \(deaths), last by app version \(appVersion)\(begun)"
        guard isInterrupted else {
            return ["Waiting: \(version), tried before, \(counts)"] + checkpointLines
        }
        let subject: Message =
            switch (isUnderWay, failure) {
            case (true, _): "Under way"
            case _ where lease != nil: "Under way"
            case (_, .some): "Failed"
            case (false, _): "Interrupted by a death"
            case (nil, _): "Interrupted or under way"
            }
        var lines: [Message] = ["\(subject): \(version), \(counts)"] + checkpointLines
        if let lease {
            let length = JSON.seconds(lease.length)
            lines.append("  Host: \(lease.owner). Its lease runs out where it isn't renewed for \(length) s.")
        }
        if let failure { lines.append("  Error: \(failure)") }
        if awaitsRestore { lines.append("  Protected files wait to be put back.") }
        return lines
    }

    private var checkpointLines: [Message] {
        guard let checkpointAppVersion else { return [] }
        let progress: Message = progress.map { " at \(Int($0 * 100)) %" } ?? ""
        return ["  A checkpoint was saved\(progress) by app version \(checkpointAppVersion)."]
    }
}
