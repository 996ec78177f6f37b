/// Tells one state of a document from every other: a number that the store counts, an entity tag, a version.
///
/// The manager only asks whether two are equal.
public struct FleetRevision: Sendable, Hashable, CustomStringConvertible {
    /// The text of the revision, as the store gave it.
    public let description: String

    /// A revision that the store writes as a text, such as an entity tag.
    public init(_ text: String) { description = text }

    /// A revision that the store counts.
    public init(_ number: some BinaryInteger) { description = number.description }
}
