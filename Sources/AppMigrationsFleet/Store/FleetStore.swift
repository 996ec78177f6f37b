internal import AppMigrations

/// Where the hosts of a fleet keep the one small document of each manager: a database, or any store that can
/// compare and set.
///
/// It has two methods, which can be implemented with PostgreSQL, MySQL, SQLite, Redis, DynamoDB, etcd, a
/// ConfigMap of Kubernetes, or an object store that supports `If-Match`.
/// <doc:SeveralHosts#A-store-of-your-own> lists the promises that a store has to keep, and
/// ``FleetStoreConformance`` tests whether a store keeps them.
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
    /// The manager reads the document again if this method returns `nil`, and also if it throws.
    ///
    /// - Returns: The revision of the new document. `nil` if nothing was written, because another host was
    ///   faster: the document has another revision, or the revision is `nil` and there is a document. It may
    ///   also be `nil` if the document can't be replaced at the moment, for example because its row is
    ///   locked.
    /// - Throws: Any error if the document could not be replaced, or if it isn't known whether it was.
    func replaceDocument(
        named name: String,
        ifRevision revision: FleetRevision?,
        with document: [UInt8]
    ) async throws -> FleetRevision?
}
