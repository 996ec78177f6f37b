/// The report of a rehearsal: one row for each run.
///
/// It prints as a table with the findings below it.
public struct RehearsalReport: Sendable {
    /// The manager's name; `SQL migrations` of those.
    public let name: String

    /// The version that was rehearsed; of SQL migrations the newest.
    public let currentVersion: String

    /// True if the upgrades were compared with a fresh install.
    let hasFreshInstall: Bool

    /// The versions declared, or those of the SQL migrations, in their order.
    public internal(set) var declaredVersions: [String] = []

    /// The runs, in their order.
    ///
    /// There are none when the declarations themselves can't be right.
    public internal(set) var runs: [RehearsedRun] = []

    /// Findings about the versions, whatever the data, and that nothing was rehearsed.
    public internal(set) var versionFindings: [RehearsalFinding] = []

    /// Everything that was found: about the versions first, then run by run.
    public var findings: [RehearsalFinding] { versionFindings + runs.flatMap(\.findings) }

    /// True if nothing was found.
    public var isClean: Bool { findings.isEmpty }

    /// The declared versions that ran in no run, for want of a starting point before them.
    public var unrehearsedVersions: [String] {
        guard !runs.isEmpty else { return declaredVersions }
        let ran = Set(runs.flatMap(\.ran))
        return declaredVersions.filter { !ran.contains($0) }
    }

    /// Throws the first finding, if there is one.
    ///
    /// - Throws: The first of ``findings``.
    public func requireClean() throws(RehearsalFinding) {
        if let first = findings.first { throw first }
    }
}
