/// One run of a rehearsal of SQL migrations: from the schema of a release, or of a new database, to the newest.
public struct SQLRehearsedRun: Sendable {
    /// The release, or `new database`.
    public let start: String

    /// The versions that ran, in their order.
    public let ran: [Int64]

    /// How long they took.
    public let duration: Duration

    /// What differs from a new database, or how the run failed.
    public let findings: [SQLRehearsalFinding]
}
