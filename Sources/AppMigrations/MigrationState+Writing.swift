extension MigrationState {
    /// The text of the state file in at most `limit` bytes, for which the oldest rows of the history go if they must;
    /// `nil` when even that doesn't do.
    func document(limit: Int) -> [UInt8]? {
        var state = self
        while true {
            let document = state.document
            if document.count <= limit { return document }
            if state.history.isEmpty { return nil }
            state.history.removeFirst((state.history.count + 1) / 2)
        }
    }

    /// The text of the state file, in the one form that this library writes.
    var document: [UInt8] {
        var text = "{\n"
        text += "  \"format\" : \(Self.format),\n"
        text += "  \"name\" : \(Self.quoted(name)),\n"
        text += "  \"lastRunVersion\" : \"\(marks.lastRun)\",\n"
        text += "  \"baseline\" : \"\(marks.baseline)\",\n"
        text += "  \"launchedVersion\" : \"\(marks.launched)\",\n"
        if let interrupted = marks.interrupted {
            text += "  \"interrupted\" : \(Self.text(interrupted)),\n"
        }
        text += "  \"history\" : ["
        var separator = "\n    "
        for row in history {
            text += separator + Self.text(row)
            separator = ",\n    "
        }
        text += history.isEmpty ? "]\n}\n" : "\n  ]\n}\n"
        return Array(text.utf8)
    }

    private static func text(_ interrupted: Interruption) -> String {
        let protected = interrupted.protected.map(quoted).joined(separator: ", ")
        let failure = interrupted.failure.map(quoted) ?? "null"
        return "{ \"version\" : \"\(interrupted.version)\", \"attempts\" : \(interrupted.attempts), "
            + "\"deaths\" : \(interrupted.deaths), \"protected\" : [\(protected)], "
            + "\"appVersion\" : \"\(interrupted.appVersion)\", "
            + "\"startedAt\" : \"\(Timestamp.text(interrupted.startedAt))\", \"failure\" : \(failure) }"
    }

    private static func text(_ row: AppliedMigration) -> String {
        "{ \"version\" : \"\(row.version)\", \"from\" : \"\(row.previousVersion)\", "
            + "\"appVersion\" : \"\(row.appVersion)\", "
            + "\"finishedAt\" : \"\(Timestamp.text(row.finishedAt))\", \"seconds\" : \(seconds(row.duration)), "
            + "\"attempts\" : \(row.attempts) }"
    }

    /// A duration in decimal seconds, to the nanosecond, without zeros at the end.
    static func seconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        var digits = String(attoseconds / 1_000_000_000)
        guard attoseconds >= 1_000_000_000 else { return String(seconds) }
        digits = String(repeating: "0", count: 9 - digits.count) + digits
        while digits.hasSuffix("0") { digits.removeLast() }
        return "\(seconds).\(digits)"
    }

    /// A JSON string: what RFC 8259 asks to escape is escaped, everything else stands as UTF-8.
    static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case "\u{0}"..<"\u{20}":
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
