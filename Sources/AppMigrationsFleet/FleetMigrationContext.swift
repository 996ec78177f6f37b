public import AppMigrations

/// What a closure knows about its attempt, and how it reports progress and saves checkpoints.
public struct FleetMigrationContext: Sendable {
    /// The version of this migration.
    public var version: AppVersion { holder.version }

    /// The last-run version: the version of the data before this migration.
    public let previousVersion: AppVersion

    /// How many times this closure was called on any host, including this time.
    ///
    /// It is 1 unless an earlier attempt threw, or its host crashed.
    public var attempt: Int { initialAttempt.attemptCount }

    /// A fencing token: a number that rises with each attempt at any migration of this manager.
    ///
    /// Use it to refuse the writes of an earlier host that is still running.
    ///
    /// A host that stalls for longer than its lease may go on for a moment while its successor is already
    /// running. If it must not write any more, store the highest number with the data and refuse lower ones:
    /// `UPDATE … SET fence = $1 WHERE fence <= $1`.
    public var fence: Int { holder.lease.fence }

    /// True if an earlier attempt may have done a part of the work already.
    public var isRetry: Bool { attempt > 1 }

    /// This attempt, with the checkpoint that an earlier attempt has saved.
    let initialAttempt: AttemptedMigration
    let holder: LeaseHolder
    let onEvent: (@Sendable (MigrationEvent) -> Void)?

    private var location: StateLocation { holder.repository.location }

    /// Sends an event of the kind `progressed`.
    ///
    /// - Parameters:
    ///   - fraction: How much is done, from 0 to 1. A value outside this range counts as the nearer end, and
    ///     a value that is not a number counts as 0.
    ///   - note: A description of the current work, for a display.
    public func reportProgress(_ fraction: Double, note: String? = nil) {
        var event = event(.progressed)
        event.fraction = MigrationContext.fraction(fraction)
        event.note = note
        onEvent?(event)
    }

    /// The text that an earlier attempt saved with ``saveCheckpoint(_:progress:)`` on any host; `nil` if no
    /// attempt did.
    ///
    /// It doesn't change during this attempt.
    public var checkpoint: String? { initialAttempt.checkpoint?.text }

    /// The version of the app that saved ``checkpoint``.
    ///
    /// Compare it if an older version of your app may have counted differently.
    public var checkpointAppVersion: AppVersion? { initialAttempt.checkpoint?.appVersion }

    /// The checkpoint as a value of the given type; `nil` if no attempt saved one.
    ///
    /// - Throws: `MigrationError` with the code `checkpointNotSaved` if the saved text can't be read as that
    ///   type. Another version of the app (``checkpointAppVersion``) may have saved another type.
    public func checkpoint<Value: LosslessStringConvertible>(
        as type: Value.Type
    ) throws(MigrationError) -> Value? {
        try initialAttempt.checkpoint?.value(as: type, of: version, in: location)
    }

    /// Saves in the store how far the closure has come, so that the next attempt continues there, on any
    /// host.
    ///
    /// Call it after the work up to that place is durable, and let its error end the closure. In a cancelled
    /// task it saves the checkpoint and then throws the code `cancelled`. After the lease was lost it saves
    /// nothing. A checkpoint that differs from the last one is progress: `attemptLimit` counts crashes only
    /// since then. Each call costs one write to the store, which also renews the lease. It may be called from
    /// several tasks of the closure.
    ///
    /// - Parameters:
    ///   - value: A place in the data. Its text has at most 4,096 bytes in UTF-8.
    ///   - progress: How much is done, from 0 to 1. It is reported, as by ``reportProgress(_:note:)``, and
    ///     saved with the checkpoint. `nil` keeps the last value.
    /// - Throws: `MigrationError` with the code `cancelled`, `leaseLost`, `stateNotSaved`, `stateUnreadable`,
    ///   `stateCorrupted`, `stateFromNewerFormat`, or `checkpointNotSaved`: the text is too long, or the
    ///   closure has ended.
    public func saveCheckpoint(
        _ value: some LosslessStringConvertible,
        progress: Double? = nil
    ) async throws(MigrationError) {
        let text = value.description
        let size = text.utf8.count
        if size > Checkpoint.sizeLimit { throw location.checkpointTooLong(size, of: version) }
        try await holder.save(isCheckpoint: true) { state in
            state.changed {
                $0.saveCheckpoint(
                    text,
                    progress: progress.map(MigrationContext.fraction),
                    comparedWith: initialAttempt
                )
            }
        }
        if let progress { reportProgress(progress) }
        if Task.isCancelled { throw location.cancelledAtCheckpoint(of: version) }
    }

    func event(_ kind: MigrationEvent.Kind) -> MigrationEvent {
        var event = MigrationEvent(kind, managerName: location.name, version: version)
        event.previousVersion = previousVersion
        event.attempt = attempt
        return event
    }
}
