public import AppMigrations

/// One run of a rehearsal: one or more starts of the app on the data of one starting point.
public struct RehearsedRun: Sendable {
    /// The starting point: its version, `fresh install` or `everything`, and its label if it has one.
    ///
    /// For SQL migrations it is the release, or `new database`.
    public let start: String

    /// The run in words, for example `step by step` or `killed after the closure of 1.1`.
    public let title: String

    /// The versions of the app that were started, in order; empty for SQL migrations.
    public let appVersions: [AppVersion]

    /// The versions of the migrations that completed, in the order in which they ran.
    ///
    /// A migration that ran twice is listed twice.
    public let ran: [String]

    /// The time that the declarations took in all starts together.
    public let duration: Duration

    /// The differences from the run that it was compared with, or its failure.
    public let findings: [RehearsalFinding]

    /// The value that the app's `firstRun:` returned, if this run called it; `nil` if it didn't, or if
    /// `firstRun:` threw.
    public internal(set) var answer: MigrationManager.FirstRun?

    /// For SQL migrations, the tables for which a row was invented, because the record of the release has
    /// none.
    public internal(set) var tablesWithInventedRow = [String]()

    /// For SQL migrations, the tables that stayed empty, because no row could be invented that their
    /// constraints and triggers accept.
    ///
    /// Add a row to the record of the release.
    public internal(set) var tablesWithoutRow = [String]()

    /// False for the run after an interrupted install, whose resulting data can't be compared.
    ///
    /// An interrupted install has no data, so the migrations only have to complete without an error. Such a
    /// run doesn't count as a test of a migration.
    var isCompared = true
}
