internal import AppMigrations
internal import AppMigrationsSQL

/// Reads and saves the state of one manager in the store, and notices when nobody renews a lease any more.
final class StoredState: Sendable {
    let location: StateLocation
    let store: any FleetStore
    /// Limits each call to the store to half a lease.
    let deadline: Deadline
    /// The revision of the last read that found a lease, and when this host read it for the first time.
    private let watch = Guarded<(revision: FleetRevision?, since: Duration)>((nil, .zero))

    /// The content of the store at one moment.
    struct Found: Sendable {
        /// Both `state` and `revision` are `nil` if there is no document.
        var state: MigrationState?
        var revision: FleetRevision?
        /// True if the document has a lease that has not expired, as far as this host can tell.
        ///
        /// Only ``read(within:)`` sets it.
        var isHeld = false

        var lease: Lease? { state?.versions.interruption?.lease }

        /// The host that has the lease, for messages.
        var holder: String { lease?.owner ?? "another host" }
    }

    enum Outcome: Sendable {
        case saved(FleetRevision)
        /// The store refused. Either the document has changed, or it is unchanged but could not be replaced
        /// now, for example because its row was locked.
        case refused(Found)
    }

    init(_ location: StateLocation, _ store: any FleetStore, _ deadline: Deadline) {
        self.location = location
        self.store = store
        self.deadline = deadline
    }

    /// Reads the state, and decides whether its lease is still held.
    ///
    /// The lease counts as expired after this host has seen the same revision for the length of the lease.
    ///
    /// Revisions are never used twice. So if two reads return the same revision, the holder has not renewed
    /// the lease in between. The time is measured from the end of the first read to the start of this one, so
    /// slow answers don't count.
    nonisolated(nonsending) func read(within limit: Duration? = nil) async throws(MigrationError) -> Found {
        let asked = deadline.clock.awake()
        let document: FleetDocument?
        do throws(MigrationError) { document = try await self.document(within: limit) } catch {
            // The server may have restarted and lost the last renewal. So the lease is watched again, for its
            // whole length.
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

    /// Decodes a document.
    ///
    /// ``Found/isHeld`` stays false.
    func found(_ document: FleetDocument?) throws(MigrationError) -> Found {
        guard let document else { return Found() }
        let state = try MigrationState(document: document.bytes, at: location)
        return Found(state: state, revision: document.revision)
    }

    /// Encodes a state.
    ///
    /// If it is too large, throws an error that ends with `consequence`.
    func text(of state: MigrationState, _ version: AppVersion?, else consequence: Message)
        throws(MigrationError) -> [UInt8]
    {
        if let bytes = state.documentToSave { return bytes }
        let message: Message = """
            The state of \(location) was not saved, because it is larger than 1 MiB. The store has the old state. \(consequence)
            """
        throw location.error(.stateNotSaved, version: version, message)
    }

    /// Saves the state.
    ///
    /// If the store throws or refuses, this reads the document again. After an error, the store may have
    /// written the document all the same. After a refusal, its client may have repeated a write that had
    /// already succeeded.
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

    /// Takes the lease: replaces the document of `revision`, which was `state`, with `intent`.
    ///
    /// All its calls share one deadline, and it runs to its end even in a cancelled task.
    ///
    /// If the save fails, the store may still carry it out later. Then nobody would renew that lease, and the
    /// next host would count a crash of a closure that was never called. To prevent this, a second save
    /// writes the old state without a lease. It changes the revision, so the late write is refused.
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
                    // Also remove an expired lease of another host. Otherwise its holder could renew it, and
                    // would continue with a lower fence than the document's.
                    let released = state.endingLease(fence: intent.fence)
                    let left = end - deadline.clock.uptime()
                    let outcome = try await save(
                        released,
                        version,
                        at: revision,
                        within: left,
                        else: consequence
                    )
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

    /// The store, if it can write a document in the transaction of a closure; otherwise `nil`.
    var postgres: (any PostgresStore)? { store as? any PostgresStore }

    /// Describes the open transaction that has locked the row of the document, for messages.
    ///
    /// `nil` if there is none, or if the store isn't PostgreSQL.
    func blocker() async -> String? {
        guard let postgres else { return nil }
        do {
            let rows = try await deadline.bound { [location] in
                try await postgres.ask(postgres.table.blocker, [.text(location.name)])
            }
            guard case .text(let process) = rows.first?.first else { return nil }
            return "the open transaction of the server's process \(process)"
        } catch {
            return "an unknown transaction (the server could not be asked: \(error))"
        }
    }
}
