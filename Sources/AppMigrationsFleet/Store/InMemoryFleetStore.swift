internal import AppMigrations

/// A store in the memory of this process, for tests: several managers are several hosts.
public final class InMemoryFleetStore: FleetStore {
    private struct Contents {
        // By bytes: a string of Swift takes two spellings of a name for one.
        var documents: [[UInt8]: FleetDocument] = [:]
        var revisions: UInt64 = 0
    }

    private let contents = Guarded(Contents())

    /// Makes a store without documents.
    public init() {}

    public func read(_ name: String) async throws -> FleetDocument? {
        contents.withLock { $0.documents[Array(name.utf8)] }
    }

    public func replace(
        _ name: String,
        at revision: FleetRevision?,
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
