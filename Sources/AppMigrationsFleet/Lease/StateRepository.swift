internal import AppMigrations
internal import AppMigrationsSQL

/// Reads and saves the state of one manager in the store, and notices when nobody renews its lease any more.
final class StateRepository: Sendable {
    let location: StateLocation
    let store: any FleetStore
    /// Limits each call to the store to half a lease.
    let deadline: Deadline
    /// The revision of the last read that found a lease, and when this host read it for the first time.
    private let lastSeen = Guarded<(revision: FleetRevision?, since: Duration)>((nil, .zero))

    /// The content of the store at one moment.
    struct Found: Sendable {
        /// Both `state` and `revision` are `nil` if there is no document.
        var state: MigrationState?
        var revision: FleetRevision?
        /// True if the document has a lease that has not expired, as far as this host can tell.
        ///
        /// Only ``read(within:)`` sets it.
        var isLeaseHeld = false

        /// The lease, and the fencing token of the latest lease.
        var record = LeaseRecord(endedWithFence: 0)

        var lease: Lease? { record.lease }

        /// The host that has the lease, for messages.
        var holderName: String { lease?.owner ?? "another host" }
    }

    /// The result of a save that threw no error.
    enum SaveOutcome: Sendable {
        /// The document was replaced, and has this revision now.
        case saved(FleetRevision)
        /// The store refused. Either the document has changed, or it is unchanged but could not be replaced
        /// now, for example because its row was locked.
        case refused(Found)
    }

    init(location: StateLocation, store: any FleetStore, deadline: Deadline) {
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
            // The server may have restarted and lost the last renewal. So the lease counts as expired only
            // after its whole length, counted from the next read.
            if error.code == .stateUnreadable { lastSeen.withLock { $0.revision = nil } }
            throw error
        }
        let answered = deadline.clock.awake()
        var found = try found(document)
        if let lease = found.lease {
            found.isLeaseHeld = lastSeen.withLock { lastSeen in
                if lastSeen.revision == found.revision { return asked - lastSeen.since < lease.length }
                lastSeen = (found.revision, answered)
                return true
            }
        }
        return found
    }

    nonisolated(nonsending) func document(
        within limit: Duration? = nil
    ) async throws(MigrationError) -> FleetDocument? {
        do {
            return try await deadline.bound(limit) { [self] in
                try await store.document(named: location.name)
            }
        } catch {
            if error is CancellationError || Task.isCancelled {
                throw location.cancelled("while the state of \(location) was read", because: error)
            }
            throw location.unreadable(error)
        }
    }

    /// Decodes a document.
    ///
    /// ``Found/isLeaseHeld`` stays false.
    func found(_ document: FleetDocument?) throws(MigrationError) -> Found {
        guard let document else { return Found() }
        let state = try MigrationState(document: document.bytes, at: location)
        let record = try LeaseRecord(of: state, at: location)
        return Found(state: state, revision: document.revision, record: record)
    }

    /// Encodes a state as the bytes of a document.
    ///
    /// If it is too large, throws an error that ends with `consequence`.
    func bytes(
        of state: MigrationState,
        version: AppVersion?,
        else consequence: Message
    ) throws(MigrationError) -> [UInt8] {
        if let bytes = try state.documentToSave(at: location) { return bytes }
        let message: Message = """
            The state of \(location) was not saved, because it is larger than 1 MiB. The store has the old state. \(consequence)
            """
        throw location.error(.stateNotSaved, version: version, message)
    }

    /// Saves the state, if the document has this revision.
    ///
    /// If the store throws or refuses, this reads the document again. After an error, the store may have
    /// written the document all the same. After a refusal, its client may have repeated a write that had
    /// already succeeded.
    nonisolated(nonsending) func save(
        _ state: MigrationState,
        version: AppVersion? = nil,
        ifRevision revision: FleetRevision?,
        within limit: Duration? = nil,
        else consequence: Message
    ) async throws(MigrationError) -> SaveOutcome {
        let bytes = try bytes(of: state, version: version, else: consequence)
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
                throw location.notSaved(because: failure, version: version, consequence: consequence)
            }
        } catch {
            if let error = error as? MigrationError { throw error }
            let unknown: Message = "It is not known whether the state was saved. \(consequence)"
            if Task.isCancelled {
                let moment: Message = "while the state of \(location) was saved"
                throw location.cancelled(moment, version: version, because: error).ending(in: .text(unknown))
            }
            throw location.unreadable(error).ending(in: .text(unknown))
        }
    }

    /// Takes the lease: replaces `state`, which was read with `revision`, by `intent`, which has the new
    /// lease.
    ///
    /// All calls of the store share one deadline, and run to their end even in a cancelled task.
    ///
    /// If the save fails, the store may still carry it out later. Then nobody would renew that lease, and the
    /// next host would count a crash of a closure that was never called. To prevent this, a second save
    /// writes the old state without a lease. It changes the revision, so the late write is refused.
    func takeLease(
        with intent: MigrationState,
        fence: Int,
        over state: MigrationState,
        version: AppVersion,
        ifRevision revision: FleetRevision?
    ) async throws(MigrationError) -> SaveOutcome {
        let consequence: Message = "Migration \(version) was not run."
        let end = deadline.clock.uptime() + deadline.limit
        do throws(MigrationError) {
            return try await uncancelled { [self] () async throws(MigrationError) in
                do throws(MigrationError) {
                    return try await save(
                        intent,
                        version: version,
                        ifRevision: revision,
                        else: consequence
                    )
                } catch {
                    if error.code != .stateNotSaved || error.underlyingError == nil { throw error }
                    // Also remove an expired lease of another host. Otherwise its holder could renew it, and
                    // would continue with a lower fence than the document's.
                    let released = state.changed { LeaseRecord(endedWithFence: fence).write(to: &$0) }
                    let left = end - deadline.clock.uptime()
                    let outcome = try await save(
                        released,
                        version: version,
                        ifRevision: revision,
                        within: left,
                        else: consequence
                    )
                    if case .saved = outcome { throw error }
                    return outcome
                }
            }
        } catch {
            if !Task.isCancelled { throw error }
            let moment: Message = "while the lease of \(location) was taken"
            throw location.cancelled(moment, version: version, because: error)
                .ending(in: .text(consequence))
        }
    }

    /// The store, if it can write a document in the transaction of a closure; otherwise `nil`.
    var postgres: (any PostgresStore)? { store as? any PostgresStore }

    /// How long a host waits for a lock before it asks the server whose transaction has the lock.
    ///
    /// Most locks are free again before this, so most waits cost no query.
    var timeToAskForBlocker: Duration { min(.seconds(5), deadline.lease / 6) }

    /// Describes the open transaction that has locked the row of the document, for messages.
    ///
    /// `nil` if there is none, or if the store isn't PostgreSQL.
    func blocker() async -> String? {
        guard let postgres else { return nil }
        do {
            let rows = try await deadline.bound { [location] in
                try await postgres.ask(postgres.table.blockerSQL, [.text(location.name)])
            }
            guard case .text(let process) = rows.first?.first else { return nil }
            return "the open transaction of the server's process \(process)"
        } catch {
            return "an unknown transaction (the server could not be asked: \(error))"
        }
    }
}
