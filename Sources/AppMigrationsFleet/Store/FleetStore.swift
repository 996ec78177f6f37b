internal import AppMigrations

/// Where the hosts of a fleet keep the one small document of each manager: a database, or any store that can
/// compare and set.
///
/// It has two methods, which can be implemented with PostgreSQL, MySQL, SQLite, Redis, DynamoDB, etcd, a
/// ConfigMap of Kubernetes, or an object store that supports `If-Match`. The guide <doc:WritingAStore> lists
/// the promises that a store has to keep, and ``FleetStoreConformance`` tests whether a store keeps them.
///
/// A document is UTF-8 text without NUL, of at most 1 MiB, so a text column can hold it.
public protocol FleetStore: Sendable {
    /// Reads the newest document of a manager. Returns `nil` only if there is none, and throws if it can't be
    /// read.
    func document(named name: String) async throws -> FleetDocument?

    /// Replaces the document if it has this revision. If the revision is `nil`, creates the document, but
    /// only if there is none.
    ///
    /// Comparing the revision and replacing the document are one step: if two hosts replace the same
    /// revision, one of them is refused.
    ///
    /// - Returns: The revision of the new document. `nil` if nothing was written, because another host was
    ///   faster: the document has another revision, or the revision is `nil` and there is a document. It may
    ///   also be `nil` if the document can't be replaced at the moment, for example because its row is
    ///   locked. The manager then reads the document again.
    /// - Throws: Any error if the document could not be replaced, or if it isn't known whether it was. The
    ///   manager then reads the document again.
    func replaceDocument(
        named name: String,
        ifRevision revision: FleetRevision?,
        with document: [UInt8]
    ) async throws -> FleetRevision?
}

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

/// A store in the memory of this process, for tests.
///
/// Several managers that share it are like several hosts.
public final class InMemoryFleetStore: FleetStore {
    // The keys are bytes, because two Swift strings are equal if they are two Unicode spellings of the same
    // name.
    private let contents = Guarded((documents: [[UInt8]: FleetDocument](), revisions: UInt64(0)))

    /// Creates a store without documents.
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
