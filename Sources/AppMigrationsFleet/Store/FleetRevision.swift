/// Tells one state of a document from every other: a number that the store counts, an entity tag, a version.
///
/// The manager only asks whether two are equal.
public struct FleetRevision: Sendable, Hashable, CustomStringConvertible {
    public let description: String

    public init(_ text: String) { description = text }

    public init(_ number: some BinaryInteger) { description = number.description }
}
