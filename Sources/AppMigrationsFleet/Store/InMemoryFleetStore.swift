internal import AppMigrations

/// A store in the memory of this process, for tests.
///
/// Several managers that share it are like several hosts.
public final class InMemoryFleetStore: FleetStore {
    // The keys are bytes, because two Swift strings are equal if they are two Unicode spellings of the same
    // name.
    private let contents = Guarded((documents: [[UInt8]: FleetDocument](), lastRevision: UInt64(0)))

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
            contents.lastRevision += 1
            let next = FleetRevision(contents.lastRevision)
            contents.documents[name] = FleetDocument(bytes: document, revision: next)
            return next
        }
    }
}
