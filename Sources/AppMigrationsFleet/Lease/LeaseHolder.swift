internal import AppMigrations
internal import AppMigrationsSQL

/// The lease while a closure runs: the state with the intent, renewed in the store.
///
/// A checkpoint is saved by the same steps as a renewal, one after the other. Once the lease is lost nothing
/// is written.
final class LeaseHolder: Sendable {
    struct Progress {
        var state: MigrationState
        var revision: FleetRevision
        /// When the last save that succeeded was begun: the store has it from then on at the earliest.
        var renewed: Duration
        /// When the lease is given up if the last try to renew it fails; `nil` while others are left.
        var end: Duration?
        /// The highest beat that was sent to the store, whether or not it was saved.
        var beat = 0
        var hasEnded = false
        var loss: LeaseLoss?
        var calling: Task<(any Error)?, Never>?
        var renewing: Task<Void, Never>?
        var db: (any AsyncSQLConnection & Sendable)?
        /// The statements that are under way, each with whether its task was cancelled.
        var statements = [Int: Bool]()
        var statementCount = 0
        /// Ends with the save that was begun last, which began after those before it had ended.
        var lastSave: AsyncStream<Never>?
    }

    let stored: StoredState
    let version: AppVersion
    let lease: Lease
    let progress: Guarded<Progress>

    init(_ stored: StoredState, _ version: AppVersion, _ lease: Lease, _ progress: Progress) {
        self.stored = stored
        self.version = version
        self.lease = lease
        self.progress = Guarded(progress)
    }

    var clock: FleetClock { stored.deadline.clock }
    var renewed: Duration { progress.withLock { $0.renewed } }
    var loss: LeaseLoss? { progress.withLock { $0.loss } }
    var state: MigrationState { progress.withLock { $0.state } }
    var revision: FleetRevision { progress.withLock { $0.revision } }

    func isOfThisHolder(_ other: Lease?) -> Bool { other.map { $0.isSameLease(as: lease) } == true }

    func lose(_ loss: LeaseLoss) {
        let renewing = progress.withLock { progress in
            if progress.loss == nil, !progress.hasEnded { progress.loss = loss }
            return progress.renewing
        }
        renewing?.cancel()
    }

    /// Runs a save once those before it are done, in a task that isn't cancelled with the caller's.
    ///
    /// Otherwise finished work would stay unrecorded, and a failure would count as a death.
    private func inTurn<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let (ended, ending) = AsyncStream<Never>.makeStream()
        let before = progress.withLock { progress in
            defer { progress.lastSave = ended }
            return progress.lastSave
        }
        let task = Task {
            if let before { for await _ in before {} }
            defer { ending.finish() }
            return await Result(of: body)
        }
        return try await task.value.get()
    }

    /// Saves the state with the next beat of the lease: a renewal, or a checkpoint.
    ///
    /// While tries are left, this one ends when the time of the last one begins. If the last one fails, the
    /// lease is lost.
    func save(
        isCheckpoint: Bool = false,
        _ change: @escaping @Sendable (MigrationState) -> MigrationState = { $0 }
    ) async throws(MigrationError) {
        try await inTurn { [self] () async throws(MigrationError) in
            let end = beginTry(isCheckpoint: isCheckpoint)
            do throws(MigrationError) { try await write(change, until: end) } catch {
                let isGivenUp = progress.withLock { $0.end }.map { clock.uptime() >= $0 } == true
                if isGivenUp { lose(.notRenewed(lease.length / 2)) }
                throw error
            }
        }
    }

    private func write(
        _ change: (MigrationState) -> MigrationState,
        until end: Duration
    ) async throws(MigrationError) {
        let consequence: Message =
            "The next attempt of migration \(version) continues from the last checkpoint."
        for _ in 1...5 {
            let now = progress.withLock { $0 }
            if let loss = now.loss { throw stored.location.leaseLost(loss, version) }
            if now.hasEnded { throw stored.location.checkpointAfterEnd(of: version) }
            // Each try has a beat of its own. If the store shows an earlier try, that one is not taken for
            // this one, which was sent later: other hosts count from when the store had it.
            let changed = change(now.state)
            let next = changed.renewingLease(
                beat: max(now.beat, changed.versions.interruption?.lease?.beat ?? 0) + 1
            )
            progress.withLock { $0.beat = next.versions.interruption?.lease?.beat ?? 0 }
            let sent = clock.uptime()
            let limit = max(.zero, end - sent)
            switch try await stored.save(next, version, at: now.revision, within: limit, else: consequence) {
            case .saved(let revision):
                return progress.withLock { progress in
                    progress.state = next
                    progress.revision = revision
                    progress.renewed = sent
                    progress.end = nil
                }
            case .refused(let found): try adopt(found)
            }
        }
        throw stored.location.notSaved(nil, version, consequence)
    }

    /// Takes over the revision of a save of this holder that was thought to have failed.
    ///
    /// An older one than was saved is that of a standby which took over without the last commits, or of a
    /// backup. What the closure has done in that database since is gone with them, and the next attempt has
    /// to do it again.
    private func adopt(_ found: StoredState.Found) throws(MigrationError) {
        let known = state.versions.interruption?.lease?.beat ?? 0
        let isHeld = isOfThisHolder(found.lease) && found.state?.versions.interruption?.failure == nil
        guard let revision = found.revision, let beat = found.lease?.beat, isHeld, beat >= known else {
            let loss = isHeld ? LeaseLoss.setBack : .taken(by: found.lease?.owner)
            lose(loss)
            throw stored.location.leaseLost(loss, version)
        }
        progress.withLock { ($0.revision, $0.state) = (revision, $0.state.renewingLease(beat: beat)) }
    }

    /// Ends the renewals and checkpoints, once those under way are done; gives how the lease was lost before.
    func end() async -> LeaseLoss? {
        await inTurn { [self] in
            progress.withLock {
                $0.hasEnded = true
                return $0.loss
            }
        }
    }

    /// Takes over what was committed with a transaction.
    func move(to state: MigrationState) { progress.withLock { $0.state = state } }

    /// A transaction that has locked the document is about to end, or a store to come back; false where the
    /// task can't pause.
    private func pauseBriefly() async -> Bool {
        do { try await clock.pause(.milliseconds(100)) } catch { return false }
        return true
    }

    /// Saves the state without the lease, after ``end()``; waits for a locked row or an absent store as long
    /// as the lease stands.
    ///
    /// `isRecorded` says whether a state that stands is the one that was to be saved, with what came after
    /// it.
    func release(
        _ next: MigrationState,
        else consequence: Message,
        _ isRecorded: @escaping @Sendable (MigrationState) -> Bool
    ) async throws(MigrationError) {
        try await inTurn { [self] () async throws(MigrationError) in
            var left = 5
            var limit = stored.deadline.limit
            var rest: Duration { renewed + lease.length - clock.uptime() }
            while left > 0 {
                do throws(MigrationError) {
                    let base = revision
                    switch try await stored.save(next, version, at: base, within: limit, else: consequence) {
                    case .saved: return progress.withLock { $0.state = next }
                    case .refused(let found):
                        if let state = found.state, isRecorded(state) {
                            return progress.withLock { $0.state = state }
                        }
                        let isLocked = found.revision == base
                        if isLocked { _ = await pauseBriefly() }
                        if !isLocked || rest <= .zero { left -= 1 }
                        try adopt(found)
                    }
                } catch {
                    // A lease that was lost has no cause, and neither has a state that is too large.
                    guard error.underlyingError != nil, await pauseBriefly() else { throw error }
                    limit = min(limit, rest)
                    if limit <= .zero { throw error }
                }
            }
            throw stored.location.notSaved(nil, version, consequence)
        }
    }
}

/// How a host lost its lease.
enum LeaseLoss: Sendable {
    case notRenewed(Duration)
    /// Another host wrote the document; `nil` where no lease is in it now.
    case taken(by: String?)
    /// The store has an older document than this host has saved.
    case setBack
}
