/// What another process gets of a plan: all but the error of a version that would be refused.
extension PlannedMigration: Codable {
    /// Reads what ``encode(to:)`` writes; the row has no error then.
    public init(from decoder: any Decoder) throws {
        let members = try MemberReader(decoder)
        self.init(
            kind: try members.read("kind"),
            version: try members.read("version"),
            progress: try members.readIfThere("progress"),
            error: nil
        )
    }

    /// Writes `kind` by its name, `version`, and where an earlier attempt told it `progress`.
    public func encode(to encoder: any Encoder) throws {
        var members = MemberWriter(encoder)
        try members.write("kind", kind)
        try members.write("version", version)
        try members.write("progress", progress)
    }
}

extension PlannedMigration.Kind: Codable {
    /// Reads the name of a kind.
    ///
    /// A name that this release of the library doesn't know throws `DecodingError`.
    public init(from decoder: any Decoder) throws { self = try Self.all.named(in: decoder) }

    /// Writes the name of the kind.
    public func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }

    private static var all: [Self] {
        [.willRun, .alreadyRun, .baseline, .missed, .heldByDowngrade, .refused]
    }
}
