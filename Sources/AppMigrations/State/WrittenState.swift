extension MigrationState {
    /// The text of the state file in at most `limit` bytes; `nil` when it doesn't fit.
    ///
    /// Half of them are for the history, whose oldest rows go when it takes more: a thousand rows do with versions of more
    /// than a hundred characters. What else a state holds never makes them go, since a row that is gone for good would be
    /// missed long after a list of protected paths.
    func document(limit: Int) -> [UInt8]? {
        var rows = history.map(Self.text)[...]
        var size = rows.reduce(0) { $0 + $1.utf8.count + Self.separator.utf8.count }
        while size > limit / 2, let oldest = rows.popFirst() {
            size -= oldest.utf8.count + Self.separator.utf8.count
        }
        let document = document(rows)
        return document.count <= limit ? document : nil
    }

    /// The text of the state file with its whole history.
    var document: [UInt8] { document(history.map(Self.text)[...]) }

    private static var separator: String { ",\n    " }

    /// The text of the state file, in the one form that this library writes.
    private func document(_ rows: ArraySlice<String>) -> [UInt8] {
        var text = "{\n"
        text += "  \"format\" : \(Self.format),\n"
        text += "  \"name\" : \(name.quoted),\n"
        text += "  \"lastRunVersion\" : \"\(marks.lastRun)\",\n"
        text += "  \"baseline\" : \"\(marks.baseline)\",\n"
        text += "  \"launchedVersion\" : \"\(marks.launched)\",\n"
        if marks.minimumAppVersion != .zero {
            text += "  \"minimumAppVersion\" : \"\(marks.minimumAppVersion)\",\n"
        }
        if let interrupted = marks.interrupted {
            text += "  \"interruption\" : \(Self.text(interrupted)),\n"
        }
        if !marks.attempted.isEmpty {
            text += "  \"attempted\" : [ \(marks.attempted.map(Self.text).joined(separator: ", ")) ],\n"
        }
        if fence > 0 { text += "  \"fence\" : \(Self.count(fence)),\n" }
        let history = rows.isEmpty ? "" : "\n    " + rows.joined(separator: Self.separator) + "\n  "
        let end = "  \"history\" : [\(history)]\n}\n"
        return Array(text.utf8) + unknownMembers + Array(end.utf8)
    }

    private static func text(_ attempted: AttemptedMigration) -> String {
        "{ \"version\" : \"\(attempted.version)\", \"attempts\" : \(count(attempted.attempts)), "
            + "\"deaths\" : \(count(attempted.deaths)), \"appVersion\" : \"\(attempted.appVersion)\""
            + text(attempted.checkpoint) + " }"
    }

    /// A number of at most eighteen digits, which is what the reader takes.
    private static func count(_ number: Int) -> Int { min(max(number, 0), 999_999_999_999_999_999) }

    private static func text(_ interrupted: Interruption) -> String {
        let failure = interrupted.failure.map(\.quoted) ?? "null"
        return "{ \"version\" : \"\(interrupted.version)\", \"attempts\" : \(count(interrupted.attempts)), "
            + "\"deaths\" : \(count(interrupted.deaths)), \"isProtecting\" : \(interrupted.isProtecting), "
            + "\"appVersion\" : \"\(interrupted.appVersion)\", "
            + "\"startedAt\" : \"\(Timestamp.text(interrupted.startedAt))\", \"failure\" : \(failure)"
            + text(interrupted.checkpoint) + text(interrupted.lease) + " }"
    }

    private static func text(_ lease: Lease?) -> String {
        guard let lease else { return "" }
        return ", \"owner\" : \(lease.owner.quoted), \"beat\" : \(count(lease.beat)), "
            + "\"fence\" : \(count(lease.fence)), \"lease\" : \(seconds(lease.length))"
    }

    private static func text(_ checkpoint: Checkpoint?) -> String {
        guard let checkpoint else { return "" }
        let progress = checkpoint.progress.map { ", \"progress\" : \($0)" } ?? ""
        return ", \"checkpoint\" : \(checkpoint.text.quoted), "
            + "\"checkpointAppVersion\" : \"\(checkpoint.appVersion)\"" + progress
    }

    private static func text(_ row: AppliedMigration) -> String {
        "{ \"version\" : \"\(row.version)\", \"previousVersion\" : \"\(row.previousVersion)\", "
            + "\"appVersion\" : \"\(row.appVersion)\", "
            + "\"finishedAt\" : \"\(Timestamp.text(row.finishedAt))\", \"duration\" : \(seconds(row.duration)), "
            + "\"attempts\" : \(count(row.attempts)) }"
    }

    /// A duration in decimal seconds, to the nanosecond, without zeros at the end; within what the reader takes, whatever a
    /// clock said.
    static func seconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = min(max(duration, .zero), .seconds(999_999_999_999)).components
        var digits = String(attoseconds / 1_000_000_000)
        guard attoseconds >= 1_000_000_000 else { return String(seconds) }
        digits = String(repeating: "0", count: 9 - digits.count) + digits
        while digits.hasSuffix("0") { digits.removeLast() }
        return "\(seconds).\(digits)"
    }
}
