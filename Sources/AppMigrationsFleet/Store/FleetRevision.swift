/// Identifies one state of a document: a number that the store counts, an entity tag, or a version.
///
/// The manager only asks whether two are equal.
public struct FleetRevision: Sendable, Hashable, CustomStringConvertible {
    /// A revision that is a number is kept as a number, because nearly no start needs its text.
    private let number: Int64?
    private let text: String

    /// The text of the revision, as the store has returned it.
    public var description: String { number?.description ?? text }

    /// Creates a revision from a text, such as an entity tag.
    public init(_ text: String) {
        number = Int64(text).flatMap { $0.description == text ? $0 : nil }
        self.text = number == nil ? text : ""
    }

    /// Creates a revision from a number, such as a counter.
    public init(_ number: some BinaryInteger) {
        self.number = Int64(exactly: number)
        text = self.number == nil ? number.description : ""
    }
}
