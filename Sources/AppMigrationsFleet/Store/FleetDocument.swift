/// What a store holds for one manager.
public struct FleetDocument: Sendable, Hashable {
    /// The document as it was handed over, byte for byte.
    public let bytes: [UInt8]

    /// The revision of these bytes, which no other document of this name ever had.
    public let revision: FleetRevision

    /// What was read from a store, with the revision under which it stands there.
    public init(bytes: [UInt8], revision: FleetRevision) {
        self.bytes = bytes
        self.revision = revision
    }
}
