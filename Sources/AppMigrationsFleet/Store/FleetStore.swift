internal import AppMigrations

/// Where the hosts of a fleet keep the one small document of each manager: a database, or any store that can
/// compare and set.
///
/// Two methods fit PostgreSQL, MySQL, SQLite, Redis, DynamoDB, an object store with `If-Match`, etcd and a
/// ConfigMap of Kubernetes. The guide <doc:WritingAStore> has the promises one by one, and
/// ``FleetStoreConformance`` runs them against a store.
///
/// A document is text as UTF-8 without NUL, at most 1 MiB of it, so that a column of text will do.
public protocol FleetStore: Sendable {
    /// Reads the newest document of a manager; `nil` says that there is none, and never that it could not be
    /// read.
    func document(named name: String) async throws -> FleetDocument?

    /// Replaces the document that has this revision, or makes the first where the revision is `nil`.
    ///
    /// Comparing and setting are one step: of two hosts that replace the same revision, one is refused.
    ///
    /// - Returns: The revision of what is written now; `nil` where the document has another revision, or, for
    ///   a `nil` revision, where there is one: another host was faster.
    /// - Throws: Where it is not known whether the document was replaced. The manager reads again.
    func replaceDocument(
        named name: String,
        ifRevision revision: FleetRevision?,
        with document: [UInt8]
    ) async throws -> FleetRevision?
}

/// The text that a store holds for one manager.
public struct FleetDocument: Sendable, Hashable {
    /// The document as it was handed over, byte for byte.
    public let bytes: [UInt8]

    /// The revision of these bytes, which no other document of this name ever had.
    public let revision: FleetRevision

    /// A text of a store, with the revision under which it stands there.
    public init(bytes: [UInt8], revision: FleetRevision) {
        self.bytes = bytes
        self.revision = revision
    }
}

/// Tells one state of a document from every other: a number that the store counts, an entity tag, a version.
///
/// The manager only asks whether two are equal.
public struct FleetRevision: Sendable, Hashable, CustomStringConvertible {
    /// A revision that is a number is kept as one: nearly no start asks for its text.
    private let number: Int64?
    private let text: String

    /// The text of the revision, as the store gave it.
    public var description: String { number?.description ?? text }

    /// A revision that the store writes as a text, such as an entity tag.
    public init(_ text: String) {
        number = Int64(text).flatMap { $0.description == text ? $0 : nil }
        self.text = number == nil ? text : ""
    }

    /// A revision that the store counts.
    public init(_ number: some BinaryInteger) {
        self.number = Int64(exactly: number)
        text = self.number == nil ? number.description : ""
    }
}

/// A store in the memory of this process, for tests: several managers are several hosts.
public final class InMemoryFleetStore: FleetStore {
    // By bytes: a string of Swift takes two spellings of a name for one.
    private let contents = Guarded((documents: [[UInt8]: FleetDocument](), revisions: UInt64(0)))

    /// Makes a store without documents.
    public init() {}

    public func document(named name: String) async throws -> FleetDocument? {
        contents.withLock { $0.documents[Array(name.utf8)] }
    }

    public func replaceDocument(
        named name: String,
        ifRevision revision: FleetRevision?,
        with document: [UInt8]
    ) async throws -> FleetRevision? {
        let name = Array(name.utf8)
        return contents.withLock { contents in
            guard contents.documents[name]?.revision == revision else { return nil }
            contents.revisions += 1
            let next = FleetRevision(contents.revisions)
            contents.documents[name] = FleetDocument(bytes: document, revision: next)
            return next
        }
    }
}
