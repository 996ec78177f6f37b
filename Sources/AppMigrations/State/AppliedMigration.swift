/// A migration that ran and was recorded.
public struct AppliedMigration: Sendable, Hashable {
    /// The migration's version.
    public let version: AppVersion

    /// The last-run version when it began.
    public let previousVersion: AppVersion

    /// The version of the app that ran it.
    public let appVersion: AppVersion

    /// When it was finished, in seconds since 1970, UTC.
    public let finishedAt: Int64

    /// How long its closure took in the attempt that succeeded.
    public let duration: Duration

    /// How many times its closure was begun, the one that succeeded included.
    public let attempts: Int

    package init(
        version: AppVersion,
        previousVersion: AppVersion,
        appVersion: AppVersion,
        finishedAt: Int64,
        duration: Duration,
        attempts: Int
    ) {
        self.version = version
        self.previousVersion = previousVersion
        self.appVersion = appVersion
        self.finishedAt = finishedAt
        self.duration = duration
        self.attempts = attempts
    }
}

/// A row of the history is sent as the state file has it.
extension AppliedMigration: Codable {
    /// Reads `version`, `from`, `appVersion`, `finishedAt`, `seconds` and `attempts`.
    public init(from decoder: any Decoder) throws {
        let members = try MemberReader(decoder)
        self.init(
            version: try members.read("version"),
            previousVersion: try members.read("previousVersion"),
            appVersion: try members.read("appVersion"),
            finishedAt: try members.needed("finishedAt", members.date("finishedAt")),
            duration: try members.needed("duration", members.seconds("duration")),
            attempts: try members.read("attempts")
        )
    }

    /// Writes `version`, `from`, `appVersion`, `finishedAt` as text such as `2026-11-21T03:54:28Z`, `seconds` as a number, and
    /// `attempts`.
    public func encode(to encoder: any Encoder) throws {
        var members = MemberWriter(encoder)
        try members.write("version", version)
        try members.write("previousVersion", previousVersion)
        try members.write("appVersion", appVersion)
        try members.write("finishedAt", date: finishedAt)
        try members.write("duration", seconds: duration)
        try members.write("attempts", attempts)
    }
}
