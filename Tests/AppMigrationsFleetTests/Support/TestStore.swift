import AppMigrations
import AppMigrationsFleet

/// A store in memory that counts its calls, and fails or stalls where a test wants it to.
final class TestStore: FleetStore {
    struct Failure: Error, Equatable, CustomStringConvertible {
        var description: String { "the network is gone" }
    }

    /// How a call goes.
    enum Answer: Sendable {
        case works
        /// Throws, and does nothing.
        case fails
        /// Does its work, and throws: the answer was lost.
        case worksAndFails
        /// Does its work, and says that another host was faster: a retry of the client met its own write.
        case worksAndRefuses
        /// Says that another host was faster, which is not so.
        case refuses
        /// Throws, and does its work once the test calls `arrive()`.
        case comesLate
        /// Waits until the test lets it go on.
        case stalls
    }

    private struct Progress {
        var reads = 0
        var writes = 0
        var onRead: @Sendable (Int) -> Answer = { _ in .works }
        var onWrite: @Sendable (Int, String) -> Answer = { _, _ in .works }
        var stalled: [Int: CheckedContinuation<Void, Never>] = [:]
        /// The calls that stalled so far.
        var stalls = 0
        /// The calls whose task was cancelled: nobody waits for their answer any more.
        var abandoned: Set<Int> = []
        var documents: [String] = []
        var late: [@Sendable () async throws -> FleetRevision?] = []
    }

    private let memory = InMemoryFleetStore()
    private let progress = Guarded(Progress())

    var reads: Int { progress.withLock { $0.reads } }
    var writes: Int { progress.withLock { $0.writes } }
    /// Every document that was written, in order.
    var documents: [String] { progress.withLock { $0.documents } }

    func onRead(_ answer: @escaping @Sendable (_ number: Int) -> Answer) {
        progress.withLock { $0.onRead = answer }
    }

    func onWrite(_ answer: @escaping @Sendable (_ number: Int, _ document: String) -> Answer) {
        progress.withLock { $0.onWrite = answer }
    }

    func works() {
        progress.withLock { progress in
            progress.onRead = { _ in .works }
            progress.onWrite = { _, _ in .works }
        }
        answer()
    }

    /// Lets the calls go on that stall now.
    func answer() {
        let stalled = progress.withLock { progress in
            defer { progress.stalled = [:] }
            return progress.stalled
        }
        for continuation in stalled.values { continuation.resume() }
    }

    func document(named name: String) async throws -> FleetDocument? {
        let (onRead, number) = progress.withLock { progress in
            progress.reads += 1
            return (progress.onRead, progress.reads)
        }
        let answer = onRead(number)
        if case .fails = answer { throw Failure() }
        if case .stalls = answer { await stall() }
        return try await memory.document(named: name)
    }

    func replaceDocument(
        named name: String,
        ifRevision revision: FleetRevision?,
        with document: [UInt8]
    ) async throws -> FleetRevision? {
        let text = String(decoding: document, as: UTF8.self)
        let (onWrite, number) = progress.withLock { progress in
            progress.writes += 1
            return (progress.onWrite, progress.writes)
        }
        let answer = onWrite(number, text)
        switch answer {
        case .fails: throw Failure()
        case .refuses: return nil
        case .comesLate:
            progress.withLock {
                $0.late.append { [memory] in
                    try await memory.replaceDocument(named: name, ifRevision: revision, with: document)
                }
            }
            throw Failure()
        case .stalls: await stall()
        case .works, .worksAndFails, .worksAndRefuses: break
        }
        let written = try await memory.replaceDocument(named: name, ifRevision: revision, with: document)
        if written != nil { progress.withLock { $0.documents.append(text) } }
        switch answer {
        case .worksAndFails: throw Failure()
        case .worksAndRefuses: return nil
        default: return written
        }
    }

    /// Does what came late; gives how much of it was written.
    func arrive() async throws -> Int {
        let late = progress.withLock { progress in
            defer { progress.late = [] }
            return progress.late
        }
        var written = 0
        for write in late where try await write() != nil { written += 1 }
        return written
    }

    /// How many calls stall for whose answer somebody waits.
    var hanging: Int {
        progress.withLock { progress in progress.stalled.keys.count { !progress.abandoned.contains($0) } }
    }

    /// Waits until the test lets the store work again, also in a cancelled task.
    private func stall() async {
        let number = progress.withLock { progress in
            progress.stalls += 1
            return progress.stalls
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                progress.withLock { $0.stalled[number] = continuation }
            }
        } onCancel: {
            progress.withLock { _ = $0.abandoned.insert(number) }
        }
    }

    /// The newest document, as text.
    func text(_ name: String = "Data") async throws -> String? {
        try await memory.document(named: name).map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    /// Writes the newest document with another text in the place of one, past every manager.
    @discardableResult
    func edit(_ old: String, to new: String) async throws -> String {
        let edited = try (await text() ?? "").replacing(old, with: new)
        try await put(edited)
        return edited
    }

    /// Puts a document in the place of the one that stands there, as an older or newer release would.
    func put(_ text: String, _ name: String = "Data") async throws {
        let found = try await memory.document(named: name)
        _ = try await memory.replaceDocument(named: name, ifRevision: found?.revision, with: Array(text.utf8))
    }
}

/// A store before each of whose calls something else happens.
struct InterposedStore: FleetStore {
    let store: TestStore
    var beforeRead: @Sendable () throws -> Void = {}
    let beforeWrite: @Sendable (TestStore) async throws -> Void

    func document(named name: String) async throws -> FleetDocument? {
        try beforeRead()
        return try await store.document(named: name)
    }

    func replaceDocument(
        named name: String,
        ifRevision revision: FleetRevision?,
        with document: [UInt8]
    ) async throws -> FleetRevision? {
        try await beforeWrite(store)
        return try await store.replaceDocument(named: name, ifRevision: revision, with: document)
    }
}
