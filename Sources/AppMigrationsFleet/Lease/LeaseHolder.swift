internal import AppMigrations

/// The lease while a closure runs: the state with the intent, renewed in the store.
///
/// A checkpoint is saved by the same steps as a renewal, one after the other. Once the lease is lost nothing is written.
final class LeaseHolder: Sendable {
    private struct Progress {
        var state: MigrationState
        var revision: FleetRevision
        /// When the last save that succeeded was begun: the store has it from then on at the earliest.
        var renewed: Duration
        var hasEnded = false
        var loss: LeaseLoss?
    }

    let stored: StoredState
    let version: AppVersion
    let clock: FleetClock
    let lease: Lease
    private let progress: Guarded<Progress>
    private let turns = Turns()
    private let losses: (stream: AsyncStream<Void>, signal: AsyncStream<Void>.Continuation)

    static var patience: Int { 5 }

    init(
        _ state: MigrationState,
        _ lease: Lease,
        at revision: FleetRevision,
        since renewed: Duration,
        of version: AppVersion,
        in stored: StoredState,
        _ clock: FleetClock
    ) {
        self.stored = stored
        self.version = version
        self.clock = clock
        self.lease = lease
        progress = Guarded(Progress(state: state, revision: revision, renewed: renewed))
        let (stream, signal) = AsyncStream<Void>.makeStream()
        losses = (stream, signal)
    }

    /// When the lease was last renewed, and whether it has ended.
    var renewal: (renewed: Duration, hasEnded: Bool) { progress.withLock { ($0.renewed, $0.hasEnded) } }

    var loss: LeaseLoss? { progress.withLock { $0.loss } }

    /// The state as it is known to stand.
    var state: MigrationState { progress.withLock { $0.state } }

    var revision: FleetRevision { progress.withLock { $0.revision } }

    /// Returns when the lease is lost, or the task cancelled.
    func untilLost() async {
        for await _ in losses.stream { return }
    }

    func lose(_ loss: LeaseLoss) {
        progress.withLock { if $0.loss == nil, !$0.hasEnded { $0.loss = loss } }
        losses.signal.yield()
        turns.open()
    }

    /// Saves a checkpoint.
    func save(_ change: (MigrationState) -> MigrationState) async throws(MigrationError) {
        await turns.enter()
        defer { turns.leave() }
        for _ in 1...Self.patience {
            let now = progress.withLock { $0 }
            if let loss = now.loss { throw .leaseLost(loss, version, stored.location) }
            if now.hasEnded { throw .checkpointAfterEnd(version, stored.location) }
            var next = change(now.state)
            next.marks.interruption?.lease?.beat += 1
            let sent = clock.uptime()
            let outcome = try await write(
                next,
                at: now.revision,
                else: "Migration \(version) goes on at the checkpoint before."
            )
            switch outcome {
            case .saved(let revision):
                return progress.withLock {
                    ($0.state, $0.revision, $0.renewed) = (next, revision, sent)
                }
            case .refused(let found): try adopt(found)
            }
        }
        throw .notSaved(
            nil,
            version,
            stored.location,
            "Migration \(version) goes on at the checkpoint before."
        )
    }

    /// Saves in a task of its own, which isn't cancelled with the caller's.
    ///
    /// Many a store does nothing in a cancelled task. Work that is done would stay without its record, and a failure count as a
    /// death.
    private func write(
        _ next: MigrationState,
        at revision: FleetRevision,
        else consequence: Message
    ) async throws(MigrationError) -> StoredState.Outcome {
        let task = Task { [stored, version] () async -> Result<StoredState.Outcome, MigrationError> in
            do throws(MigrationError) {
                return .success(try await stored.save(next, version, at: revision, else: consequence))
            } catch {
                return .failure(error)
            }
        }
        return try await task.value.get()
    }

    /// Takes over the revision of a save of this holder that was thought to have failed.
    private func adopt(_ found: StoredState.Found) throws(MigrationError) {
        guard let revision = found.revision, let beat = found.lease?.beat, isHeld(found) else {
            let loss = LeaseLoss.taken(by: found.lease?.owner)
            lose(loss)
            throw .leaseLost(loss, version, stored.location)
        }
        progress.withLock {
            $0.revision = revision
            let known = $0.state.marks.interruption?.lease?.beat ?? 0
            $0.state.marks.interruption?.lease?.beat = max(known, beat)
        }
    }

    private func isHeld(_ found: StoredState.Found) -> Bool {
        isOfThisHolder(found.lease) && found.state?.marks.interruption?.failure == nil
    }

    /// Returns once no save is under way, or the lease is lost by ``watch()``.
    func untilSaved() async {
        await turns.enter()
        turns.leave()
    }

    /// Ends the renewals and checkpoints, once those under way are done; gives how the lease was lost before.
    func end() async -> LeaseLoss? {
        await turns.enter()
        defer { turns.leave() }
        return progress.withLock {
            $0.hasEnded = true
            return $0.loss
        }
    }

    /// Takes over what was written in a transaction, which may be rolled back yet.
    func move(to state: MigrationState, at revision: FleetRevision) {
        progress.withLock { ($0.state, $0.revision) = (state, revision) }
    }

    /// A transaction that has locked the document is about to end.
    func pauseBriefly() async {
        do {
            try await clock.pause(.milliseconds(100))
        } catch {
            // A cancelled task doesn't pause, and what is saved here is saved for it too.
            return
        }
    }

    func isOfThisHolder(_ other: Lease?) -> Bool { other.map { $0.isOfHolder(lease) } == true }

    var length: Duration { lease.length }

    /// Saves the state without the lease, after ``end()``.
    ///
    /// `isRecorded` says whether a state that stands is the one that was to be saved, with what came after it.
    func release(
        _ next: MigrationState,
        else consequence: Message,
        _ isRecorded: (MigrationState) -> Bool
    ) async throws(MigrationError) {
        for _ in 1...Self.patience {
            switch try await write(next, at: revision, else: consequence) {
            case .saved: return progress.withLock { $0.state = next }
            case .refused(let found):
                if let state = found.state, isRecorded(state) {
                    return progress.withLock { $0.state = state }
                }
                if found.revision == revision { await pauseBriefly() }
                try adopt(found)
            }
        }
        throw .notSaved(nil, version, stored.location, consequence)
    }
}
