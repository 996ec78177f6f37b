import AppMigrations
import AppMigrationsFleet
import Testing

/// Stores that break one promise each, around one that keeps them all.
enum BrokenStore: String, CaseIterable, CustomTestStringConvertible {
    case absentIsEmpty, absentThrows, createsTwice, ignoresRevisions, comparesLater, revisionOfContent
    case countsFromOneAgain, readsOldReplica, trims, cutsOff, lowersNames, composesNames, refusesAlways
    case losesDocuments, silentWithoutServer

    var testDescription: String { rawValue }

    /// The promise that is broken.
    var promise: String {
        switch self {
        case .absentIsEmpty, .absentThrows: "absence"
        case .createsTwice: "creation"
        case .ignoresRevisions: "comparison"
        case .revisionOfContent, .countsFromOneAgain: "revisions"
        case .readsOldReplica: "freshness"
        case .trims, .cutsOff: "bytes"
        case .lowersNames, .composesNames: "names"
        case .comparesLater, .refusesAlways, .losesDocuments: "concurrency"
        case .silentWithoutServer: "errors"
        }
    }
}

final class StoreWithFault: FleetStore {
    private struct Progress {
        var older: [String: FleetDocument] = [:]
        var overwritten = 0
    }

    let fault: BrokenStore
    private let memory = InMemoryFleetStore()
    private let progress = Guarded(Progress())
    /// Where the first writer that has compared waits for the second.
    private let meeting = Meeting()

    init(_ fault: BrokenStore) { self.fault = fault }

    /// Writes without comparing once more, as the second of two statements does.
    private func overwrite(_ name: String, with document: [UInt8]) async throws -> FleetRevision {
        while true {
            let revision = try await memory.document(named: name)?.revision
            if let written = try await memory.replaceDocument(
                named: name,
                ifRevision: revision,
                with: document
            ) {
                return written
            }
        }
    }

    private func name(_ name: String) -> String {
        switch fault {
        case .lowersNames: name.lowercased()
        case .composesNames: String(name.map { $0 == "e\u{301}" ? "\u{E9}" : $0 })
        default: name
        }
    }

    func document(named name: String) async throws -> FleetDocument? {
        let found = try await memory.document(named: self.name(name))
        switch fault {
        case .absentIsEmpty: return found ?? FleetDocument(bytes: [], revision: FleetRevision(0))
        case .absentThrows:
            guard let found else { throw TestStore.Failure() }
            return found
        case .losesDocuments where name.hasSuffix("crowd"): return nil
        case .readsOldReplica: return progress.withLock { $0.older[name] } ?? found
        case .revisionOfContent:
            return found.map { FleetDocument(bytes: $0.bytes, revision: Self.tag($0.bytes)) }
        case .countsFromOneAgain:
            return found.map { FleetDocument(bytes: $0.bytes, revision: Self.small($0.revision)) }
        default: return found
        }
    }

    private static func tag(_ bytes: [UInt8]) -> FleetRevision {
        FleetRevision(bytes.reduce(0) { ($0 &* 31) &+ Int($1) })
    }

    private static func small(_ revision: FleetRevision) -> FleetRevision {
        FleetRevision((Int(revision.description) ?? 0) % 8)
    }

    func replaceDocument(
        named name: String,
        ifRevision revision: FleetRevision?,
        with document: [UInt8]
    ) async throws -> FleetRevision? {
        let name = self.name(name)
        let found = try await memory.document(named: name)
        var revision = revision
        var document = document
        switch fault {
        case .createsTwice where revision == nil: revision = found?.revision
        case .ignoresRevisions where revision != nil: revision = found?.revision
        case .comparesLater where revision != nil:
            guard found?.revision == revision else { return nil }
            if name.hasSuffix("crowd") { try await meeting.pass() }
            return try await overwrite(name, with: document)
        case .revisionOfContent:
            if let found, let asked = revision {
                guard Self.tag(found.bytes) == asked else { return nil }
                revision = found.revision
            }
        case .countsFromOneAgain:
            if let found, let asked = revision {
                guard Self.small(found.revision) == asked else { return nil }
                revision = found.revision
            }
        case .readsOldReplica: progress.withLock { $0.older[name] = found }
        case .trims: while document.last == 0x0A { document.removeLast() }
        case .cutsOff: document = Array(document.prefix(65_535))
        case .refusesAlways where revision != nil && name.hasSuffix("crowd"): return nil
        default: break
        }
        let written = try await memory.replaceDocument(named: name, ifRevision: revision, with: document)
        switch fault {
        case .revisionOfContent: return written.map { _ in Self.tag(document) }
        case .countsFromOneAgain: return written.map(Self.small)
        default: return written
        }
    }
}

/// A place that nobody leaves before a second one has come; later ones pass.
private final class Meeting: Sendable {
    private let arrivals = Guarded(0)

    func pass() async throws {
        arrivals.withLock { $0 += 1 }
        try await waitUntil { arrivals.withLock { $0 >= 2 } }
    }
}

/// A store whose server is gone, and which takes that for an answer.
struct SilentStore: FleetStore {
    func document(named name: String) async throws -> FleetDocument? { nil }

    func replaceDocument(named name: String, ifRevision: FleetRevision?, with: [UInt8]) async throws
        -> FleetRevision?
    { nil }
}
