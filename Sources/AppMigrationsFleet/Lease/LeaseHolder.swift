internal import AppMigrations
internal import AppMigrationsSQL

/// Holds a lease while a closure runs: it saves the state of the running attempt again and again, to renew
/// the lease and to store checkpoints.
///
/// Renewals and checkpoints are saved in the same way, and only one save runs at a time. After the lease was
/// lost nothing is written.
final class LeaseHolder: Sendable {
    /// The parts of a holder that change while the closure runs.
    struct MutableState {
        var state: MigrationState
        var revision: FleetRevision
        /// When the last successful save was sent.
        ///
        /// The store received it at this time or later, so other hosts count the length of the lease from
        /// this time or later, too.
        var renewedAt: Duration
        /// When the last try to renew the lease has to be answered: if it fails, the lease is given up.
        ///
        /// `nil` until the last try has begun.
        var lastTryEnd: Duration?
        /// The beat of a lease is a counter that each save raises.
        ///
        /// This is the highest beat that was sent to the store, even if its save failed.
        var beat = 0
        /// The beat of the last save that succeeded.
        var savedBeat = 0
        /// True after ``stopRenewing()``: renewals and checkpoints are no longer saved.
        var hasStopped = false
        var loss: LeaseLoss?
        var closureTask: Task<(any Error)?, Never>?
        var renewalTask: Task<Void, Never>?
        var db: (any AsyncSQLConnection & Sendable)?
        /// The running statements by their numbers.
        ///
        /// The value is true if the statement's task was cancelled.
        var statements = [Int: Bool]()
        var statementCount = 0
        /// A stream that ends with the save that was added last.
        ///
        /// Each save waits for the one that was added before it.
        var lastSave: AsyncStream<Never>?
    }

    let repository: StateRepository
    let version: AppVersion
    let lease: Lease
    let mutableState: Guarded<MutableState>

    /// Creates the holder of a lease that was saved with `state` as `revision`.
    ///
    /// `sent` is when that save was sent.
    init(
        of lease: Lease,
        for version: AppVersion,
        in repository: StateRepository,
        savedWith state: MigrationState,
        as revision: FleetRevision,
        sent: Duration
    ) {
        self.repository = repository
        self.version = version
        self.lease = lease
        mutableState = Guarded(MutableState(state: state, revision: revision, renewedAt: sent))
    }

    var clock: FleetClock { repository.deadline.clock }
    var renewedAt: Duration { mutableState.withLock { $0.renewedAt } }
    var loss: LeaseLoss? { mutableState.withLock { $0.loss } }
    var state: MigrationState { mutableState.withLock { $0.state } }
    var revision: FleetRevision { mutableState.withLock { $0.revision } }

    /// True if the closure works on a connection whose transactions this library begins and commits.
    var hasConnection: Bool { mutableState.withLock { $0.db != nil } }

    func isOfThisHolder(_ other: Lease?) -> Bool { other.map { $0.isSameLease(as: lease) } == true }

    /// Records that the lease is lost, unless ``stopRenewing()`` was called before, and stops the renewals.
    func recordLoss(_ loss: LeaseLoss) {
        let renewalTask = mutableState.withLock { mutable in
            if mutable.loss == nil, !mutable.hasStopped { mutable.loss = loss }
            return mutable.renewalTask
        }
        renewalTask?.cancel()
    }

    /// Runs a save after all earlier saves are done, in a task that isn't cancelled when the caller's task
    /// is.
    ///
    /// If cancelling the caller stopped a save, finished work would not be recorded, and a failure would
    /// count as a crash.
    private func afterEarlierSaves<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let (stream, continuation) = AsyncStream<Never>.makeStream()
        let before = mutableState.withLock { mutable in
            defer { mutable.lastSave = stream }
            return mutable.lastSave
        }
        let task = Task {
            if let before { for await _ in before {} }
            defer { continuation.finish() }
            return await Result(of: body)
        }
        return try await task.value.get()
    }

    /// Saves the state with the next beat of the lease: without arguments this renews the lease, and
    /// otherwise it also saves a checkpoint.
    ///
    /// The time of a save is limited, so that a last try still fits before the lease is given up. If the last
    /// try fails, the lease is lost.
    func save(
        isCheckpoint: Bool = false,
        _ change: @escaping @Sendable (MigrationState) -> MigrationState = { $0 }
    ) async throws(MigrationError) {
        try await afterEarlierSaves { [self] () async throws(MigrationError) in
            let end = beginTry(isCheckpoint: isCheckpoint)
            do throws(MigrationError) { try await write(change, until: end) } catch {
                let isGivenUp = mutableState.withLock { $0.lastTryEnd }.map { clock.uptime() >= $0 } == true
                if isGivenUp { recordLoss(.notRenewed(lease.length / 2)) }
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
            let current = mutableState.withLock { $0 }
            if let loss = current.loss { throw repository.location.leaseLost(loss, version: version) }
            if current.hasStopped { throw repository.location.checkpointAfterEnd(of: version) }
            // Each try has its own beat. So if the store has received an earlier try, that try isn't treated
            // as this one. Otherwise `renewedAt` would be later than the moment from which other hosts count.
            let beat = current.beat + 1
            var renewed = lease
            renewed.beat = beat
            var next = change(current.state)
            LeaseRecord(renewed).write(to: &next)
            mutableState.withLock { $0.beat = beat }
            let sent = clock.uptime()
            let limit = max(.zero, end - sent)
            let outcome = try await repository.save(
                next,
                version: version,
                ifRevision: current.revision,
                within: limit,
                else: consequence
            )
            switch outcome {
            case .saved(let revision):
                return mutableState.withLock { mutable in
                    mutable.state = next
                    mutable.revision = revision
                    mutable.savedBeat = beat
                    mutable.renewedAt = sent
                    mutable.lastTryEnd = nil
                }
            case .refused(let found): try adoptOrLose(found)
            }
        }
        throw repository.location.notSaved(because: nil, version: version, consequence: consequence)
    }

    /// Accepts the revision in the store if this holder has written it, in a save that seemed to have failed.
    ///
    /// Otherwise the lease is lost.
    ///
    /// If the document in the store is older than the last one that was saved, a standby server has taken
    /// over without the last commits, or a backup was restored. Then the work that the closure has done in
    /// that database since is gone, too. So the lease is given up, and the next attempt does the work again.
    private func adoptOrLose(_ found: StateRepository.Found) throws(MigrationError) {
        let lastBeat = mutableState.withLock { $0.savedBeat }
        let isStillHeld = isOfThisHolder(found.lease)
        guard let revision = found.revision, let beat = found.lease?.beat, isStillHeld, beat >= lastBeat
        else {
            let loss = isStillHeld ? LeaseLoss.documentIsOlder : .taken(by: found.lease?.owner)
            recordLoss(loss)
            throw repository.location.leaseLost(loss, version: version)
        }
        mutableState.withLock { mutable in
            mutable.revision = revision
            mutable.savedBeat = beat
            mutable.beat = max(mutable.beat, beat)
        }
    }

    /// Waits for the running saves, and then allows no more renewals and checkpoints.
    ///
    /// Returns how the lease was lost, or `nil` if this host still has it.
    func stopRenewing() async -> LeaseLoss? {
        await afterEarlierSaves { [self] in
            mutableState.withLock {
                $0.hasStopped = true
                return $0.loss
            }
        }
    }

    /// The state after this lease has ended.
    func withoutLease(_ state: MigrationState) -> MigrationState {
        state.changed { LeaseRecord(endedWithFence: lease.fence).write(to: &$0) }
    }

    /// Sets the state to the one that a transaction has committed.
    ///
    /// The revision stays, because nothing is saved after that.
    func setCommitted(_ state: MigrationState) { mutableState.withLock { $0.state = state } }

    /// Waits a moment, because a transaction that has locked the document may be about to end, or a store may
    /// be about to come back.
    ///
    /// Returns false if the task was cancelled.
    private func pauseBriefly() async -> Bool {
        do { try await clock.pause(.milliseconds(100)) } catch { return false }
        return true
    }

    /// Ends the lease: saves `next` without it.
    ///
    /// Call ``stopRenewing()`` first. While the lease lasts, this tries again if the row is locked or the
    /// store can't be reached.
    ///
    /// `isRecorded` returns true if the state in the store already contains `next`, even if other hosts have
    /// changed that state since.
    func release(
        _ next: MigrationState,
        else consequence: Message,
        isRecorded: @escaping @Sendable (MigrationState) -> Bool
    ) async throws(MigrationError) {
        let next = withoutLease(next)
        try await afterEarlierSaves { [self] () async throws(MigrationError) in
            var triesLeft = 5
            var limit = repository.deadline.limit
            var timeToExpiry: Duration { renewedAt + lease.length - clock.uptime() }
            while triesLeft > 0 {
                do throws(MigrationError) {
                    let base = revision
                    let outcome = try await repository.save(
                        next,
                        version: version,
                        ifRevision: base,
                        within: limit,
                        else: consequence
                    )
                    switch outcome {
                    case .saved: return mutableState.withLock { $0.state = next }
                    case .refused(let found):
                        if let state = found.state, isRecorded(state) {
                            return mutableState.withLock { $0.state = state }
                        }
                        let isLocked = found.revision == base
                        if isLocked { _ = await pauseBriefly() }
                        // A locked row uses up no try while the lease lasts.
                        if !isLocked || timeToExpiry <= .zero { triesLeft -= 1 }
                        try adoptOrLose(found)
                    }
                } catch {
                    // Only the errors of the store have an `underlyingError`. A lost lease and a state that
                    // is too large have none, and another try would not help.
                    guard error.underlyingError != nil, await pauseBriefly() else { throw error }
                    limit = min(limit, timeToExpiry)
                    if limit <= .zero { throw error }
                }
            }
            throw repository.location.notSaved(because: nil, version: version, consequence: consequence)
        }
    }
}
