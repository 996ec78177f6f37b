/// The text that a store holds for one manager.
public struct FleetDocument: Sendable, Hashable {
    /// The document, byte for byte as it was passed to the store.
    public let bytes: [UInt8]

    /// The revision of this document.
    ///
    /// No earlier document of this name had it, not even one with the same bytes.
    public let revision: FleetRevision

    /// Creates a document from its bytes and its revision in the store.
    public init(bytes: [UInt8], revision: FleetRevision) {
        self.bytes = bytes
        self.revision = revision
    }
}
