internal import AppMigrations
internal import AppMigrationsSQL

final class StoredState: Sendable {
    let location: StateLocation
    let store: any FleetStore
    /// Half a lease for each call.
    let deadline: Deadline
    /// The revision that the last read gave, and since when.
    private let watch = Guarded<(revision: FleetRevision?, since: Duration)>((nil, .zero))

    /// The text in the store at one moment.
    struct Found: Sendable {
        /// Both are `nil` where there is no document.
        var state: MigrationState?
        var revision: FleetRevision?
        /// True if a lease stands, by all that this host has seen.
        var isHeld = false

        var lease: Lease? { state?.versions.interruption?.lease }

        /// Whom a wait is for, for people to read.
        var holder: String { lease?.owner ?? "another host" }
    }

    enum Outcome: Sendable {
        case saved(FleetRevision)
        /// Another document stands there, or the same one could not be replaced now.
        case refused(Found)
    }

    init(_ location: StateLocation, _ store: any FleetStore, _ deadline: Deadline) {
        self.location = location
        self.store = store
        self.deadline = deadline
    }

    /// Reads the state, and says whether a lease stands in it: until this host has seen one revision for the
    /// lease's length.
    ///
    /// A revision comes never again, so between two looks that gave the same one the holder hasn't renewed.
    /// The time that an answer takes doesn't count.
    nonisolated(nonsending) func read(within limit: Duration? = nil) async throws(MigrationError) -> Found {
        let asked = deadline.clock.awake()
        let document: FleetDocument?
        do throws(MigrationError) { document = try await self.document(within: limit) } catch {
            // A server that comes up again may have forgotten a renewal, so the lease is watched for its
            // whole length anew.
            if error.code == .stateUnreadable { watch.withLock { $0.revision = nil } }
            throw error
        }
        let answered = deadline.clock.awake()
        var found = try found(document)
        if let lease = found.lease {
            found.isHeld = watch.withLock { watch in
                if watch.revision == found.revision { return asked - watch.since < lease.length }
                watch = (found.revision, answered)
                return true
            }
        }
        return found
    }

    nonisolated(nonsending) func document(
        within limit: Duration? = nil
    ) async throws(MigrationError) -> FleetDocument? {
        do {
            return try await deadline.bound(limit) { [self] in try await store.document(named: location.name)
            }
        } catch {
            if error is CancellationError || Task.isCancelled {
                throw location.cancelled("while the state of \(location) was read", nil, error)
            }
            throw location.unreadable(error)
        }
    }

    func found(_ document: FleetDocument?) throws(MigrationError) -> Found {
        guard let document else { return Found() }
        let state = try MigrationState(document: document.bytes, at: location)
        return Found(state: state, revision: document.revision)
    }

    func text(of state: MigrationState, _ version: AppVersion?, else consequence: Message)
        throws(MigrationError) -> [UInt8]
    {
        if let bytes = state.documentToSave { return bytes }
        let message: Message = """
            The state of \(location) was not saved, because it takes more than 1 MiB. The store has the old state. \(consequence)
            """
        throw location.error(.stateNotSaved, version: version, message)
    }

    /// Looks after a store that throws, which may have written, and one that refuses, which may have met its
    /// own first try.
    nonisolated(nonsending) func save(
        _ state: MigrationState,
        _ version: AppVersion? = nil,
        at revision: FleetRevision?,
        within limit: Duration? = nil,
        else consequence: Message
    ) async throws(MigrationError) -> Outcome {
        let bytes = try text(of: state, version, else: consequence)
        do {
            return try await deadline.bound(limit) { [self] in
                var failure: (any Error)?
                do {
                    if let saved = try await store.replaceDocument(
                        named: location.name,
                        ifRevision: revision,
                        with: bytes
                    ) {
                        return .saved(saved)
                    }
                } catch { failure = error }
                let document = try await store.document(named: location.name)
                if let document, document.bytes == bytes { return .saved(document.revision) }
                let found = try found(document)
                guard let failure, found.revision == revision else { return .refused(found) }
                throw location.notSaved(failure, version, consequence)
            }
        } catch {
            if let error = error as? MigrationError { throw error }
            let unknown: Message = "It is not known whether the state was saved. \(consequence)"
            if Task.isCancelled {
                let moment: Message = "while the state of \(location) was saved"
                throw location.cancelled(moment, version, error).adding(unknown)
            }
            throw location.unreadable(error).adding(unknown)
        }
    }

    /// Saves the intent of a claim over the state that stood at a revision, within one deadline, also in a
    /// cancelled task.
    ///
    /// Where that failed the store may still be at it. The lease would stand then with nobody to renew it,
    /// and the next host take a closure that was never called for a death. So the revision is moved on,
    /// without a lease.
    func save(
        claiming intent: MigrationState,
        over state: MigrationState,
        _ version: AppVersion,
        at revision: FleetRevision?
    ) async throws(MigrationError) -> Outcome {
        let consequence: Message = "Migration \(version) was not run."
        let end = deadline.clock.uptime() + deadline.limit
        do throws(MigrationError) {
            return try await uncancelled { [self] () async throws(MigrationError) in
                do throws(MigrationError) {
                    return try await save(intent, version, at: revision, else: consequence)
                } catch {
                    if error.code != .stateNotSaved || error.underlyingError == nil { throw error }
                    // Take out a lease that has run out as well: its holder would go on with a lower fence
                    // than the document's.
                    let void = state.endingLease(fence: intent.fence)
                    let left = end - deadline.clock.uptime()
                    let outcome = try await save(void, version, at: revision, within: left, else: consequence)
                    if case .saved = outcome { throw error }
                    return outcome
                }
            }
        } catch {
            if !Task.isCancelled { throw error }
            throw location.cancelled("while the lease of \(location) was taken", version, error)
                .adding(consequence)
        }
    }

    /// The store where it can write a document in the transaction of a closure.
    var postgres: (any PostgresStore)? { store as? any PostgresStore }

    /// The server's process whose open transaction has the row of the document, for people to read; `nil`
    /// where none has.
    func blocker() async -> String? {
        guard let postgres else { return nil }
        do {
            let rows = try await deadline.bound { [location] in
                try await postgres.ask(postgres.table.blocker, [.text(location.name)])
            }
            guard case .text(let process) = rows.first?.first else { return nil }
            return "the open transaction of the server's process \(process)"
        } catch {
            return "a transaction whose process is unknown: \(MigrationError.sentence(error))"
        }
    }
}
