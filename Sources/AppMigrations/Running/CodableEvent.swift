/// What a log or another process gets of an event: all but its error.
extension MigrationEvent: Codable {
    /// Reads what ``encode(to:)`` writes; the event has no error then.
    public init(from decoder: any Decoder) throws {
        let members = try MemberReader(decoder)
        self.init(
            try members.read("kind"),
            try members.read("name"),
            version: try members.readIfThere("version"),
            previousVersion: try members.readIfThere("previousVersion"),
            attempt: try members.readIfThere("attempt"),
            fraction: try members.readIfThere("fraction"),
            note: try members.readIfThere("note"),
            duration: try members.seconds("duration")
        )
    }

    /// Writes `kind` by its name, `name` for the manager, and where the event has them `version`, `from` for
    /// `previousVersion`, `attempt`, `fraction`, `note`, and the duration as `seconds`.
    public func encode(to encoder: any Encoder) throws {
        var members = MemberWriter(encoder)
        try members.write("kind", kind)
        try members.write("name", managerName)
        try members.write("version", version)
        try members.write("previousVersion", previousVersion)
        try members.write("attempt", attempt)
        try members.write("fraction", fraction)
        try members.write("note", note)
        try members.write("duration", seconds: duration)
    }
}

extension MigrationEvent.Kind: Codable {
    /// Reads the name of a kind.
    ///
    /// A name that this release of the library doesn't know throws `DecodingError`.
    public init(from decoder: any Decoder) throws { self = try Self.all.named(in: decoder) }

    /// Writes the name of the kind.
    public func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }

    private static var all: [Self] {
        [.waiting, .started, .progressed, .finished, .failed, .restored, .leftoverNotRemoved]
    }
}
