/// What a rehearsal of SQL migrations did and found: one row for each release.
///
/// It prints as a table with the findings below it.
public struct SQLRehearsalReport: Sendable {
    /// The versions of the migrations, in their order.
    public let versions: [Int64]

    /// What is wrong with released migrations, whatever the schema, and that nothing was rehearsed.
    public internal(set) var versionFindings: [SQLRehearsalFinding] = []

    /// The runs: a new database, then the releases in their order.
    public internal(set) var runs: [SQLRehearsedRun] = []

    /// Everything that was found: about the migrations first, then run by run.
    public var findings: [SQLRehearsalFinding] { versionFindings + runs.flatMap(\.findings) }

    /// Whether nothing was found.
    public var isClean: Bool { findings.isEmpty }

    /// Throws the first finding, if there is one.
    ///
    /// - Throws: The first of ``findings``.
    public func requireClean() throws(SQLRehearsalFinding) {
        if let first = findings.first { throw first }
    }
}

extension SQLRehearsalReport: CustomStringConvertible {
    /// The table of runs, and the findings in plain words.
    public var description: String {
        let newest = versions.last.map { " to \($0)" } ?? ""
        let title =
            "Rehearsal of SQL migrations\(newest): \(TextTable.count(runs.count, "run")), "
            + TextTable.count(findings.count, "finding")
        let rows = runs.map { run in
            [
                run.start, run.ran.isEmpty ? "–" : run.ran.map(String.init).joined(separator: " "),
                TextTable.milliseconds(run.duration), TextTable.outcome(run.findings.count),
            ]
        }
        let table = rows.isEmpty ? [] : TextTable.lines([["start", "ran", "time", "outcome"]] + rows)
        return ([title] + table + findings.map { "- \($0)" }).joined(separator: "\n")
    }
}
