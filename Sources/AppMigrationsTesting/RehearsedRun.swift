public import AppMigrations

/// One run of a rehearsal: one or more starts of the app on the data of one starting point.
public struct RehearsedRun: Sendable {
    /// The starting point: its version, `fresh install` or `everything`, and its name where it has one.
    ///
    /// Of SQL migrations it is the release, or `new database`.
    public let start: String

    /// The run in words, for instance `step by step` or `killed after the closure of 1.1`.
    public let title: String

    /// The app's versions that were started, one after the other; none of SQL migrations.
    public let appVersions: [AppVersion]

    /// The versions of the migrations that ran to their end, in their order.
    ///
    /// A migration that ran twice is listed twice.
    public let ran: [String]

    /// How long the declarations took, all starts together.
    public let duration: Duration

    /// The differences from the run that it was compared with, or how it failed.
    public let findings: [RehearsalFinding]

    /// The answer of the app's `firstRun:`, in a row that asked it; `nil` in the others, and where `firstRun:` threw.
    public internal(set) var answer: MigrationManager.FirstRun?
}
