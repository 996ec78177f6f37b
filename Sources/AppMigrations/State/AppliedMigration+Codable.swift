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
