public import AppMigrations

/// The facts of a closure that one host of a fleet runs, and ways to say how far it is and to go on there.
public struct FleetMigrationContext: Sendable {
    /// The version of this migration.
    public var version: AppVersion { holder.version }

    /// The last-run version, which the data is at now.
    public let previousVersion: AppVersion

    /// How many times this closure was begun on any host, this time included: 1, unless a host died in it or it threw.
    public var attempt: Int { began.attempts }

    /// A number that rises with each attempt at any migration of this manager, for writes that must refuse a predecessor.
    ///
    /// A host that stalls for longer than its lease may go on for a moment while its successor is at work. Where that must not
    /// write any more, keep the highest number that was seen beside the data, and refuse lower ones:
    /// `UPDATE … SET fence = $1 WHERE fence <= $1`.
    public var fence: Int { holder.lease.fence }

    /// True if an earlier attempt may have done a part already.
    public var isRetry: Bool { attempt > 1 }

    /// The attempt as it began, with what an earlier one saved.
    let began: AttemptedMigration
    let holder: LeaseHolder
    let onEvent: (@Sendable (MigrationEvent) -> Void)?

    private var location: StateLocation { holder.stored.location }

    /// Sends an event of the kind `progressed`.
    ///
    /// - Parameters:
    ///   - fraction: How much is done, from 0 to 1. A value outside is taken for the nearer end, one that is not a
    ///     number for 0.
    ///   - note: The work that is being done, for a display.
    public func reportProgress(_ fraction: Double, note: String? = nil) {
        var event = event(.progressed)
        (event.fraction, event.note) = (MigrationContext.fraction(fraction), note)
        onEvent?(event)
    }

    /// The text that an earlier attempt saved with ``saveCheckpoint(_:progress:)``, on any host; `nil` where none did.
    ///
    /// It stays what it was when this attempt began.
    public var checkpoint: String? { began.checkpoint?.text }

    /// The version of the app that saved ``checkpoint``: an older one may have counted differently.
    public var checkpointAppVersion: AppVersion? { began.checkpoint?.appVersion }

    /// The value that an earlier attempt saved, in the type in which it was saved; `nil` where none did.
    ///
    /// - Throws: `MigrationError` with the code `checkpointNotSaved` where no value of that type was saved: another version
    ///   of the app, ``checkpointAppVersion``, may have saved another one.
    public func checkpoint<Value: LosslessStringConvertible>(
        as type: Value.Type
    ) throws(MigrationError) -> Value? {
        try began.checkpoint?.value(as: type, of: version, in: location)
    }

    /// Saves in the store how far the closure came: the next attempt goes on there, on whichever host.
    ///
    /// Save after the work up to that place is durable itself, and let the error end the closure. In a cancelled task the
    /// checkpoint is saved, and then the code `cancelled` thrown; once the lease is lost nothing is saved. A host that
    /// dies after a checkpoint which says something else than the last one left off with has come further, so
    /// `attemptLimit` counts deaths from there. Each call costs one write to the store, which also renews the lease. It
    /// may be called from several tasks of the closure.
    ///
    /// - Parameters:
    ///   - value: A place in the data, of at most 4,096 bytes as UTF-8.
    ///   - progress: How much is done, from 0 to 1, as in ``reportProgress(_:note:)``, which it also does; kept with the
    ///     checkpoint. `nil` keeps the last one.
    /// - Throws: `MigrationError` with the code `cancelled`, `leaseLost`, `stateNotSaved`, `stateUnreadable`,
    ///   `stateCorrupted`, `stateFromNewerFormat`, or `checkpointNotSaved`: the text is too long, or the closure has ended.
    public func saveCheckpoint(
        _ value: some LosslessStringConvertible,
        progress: Double? = nil
    ) async throws(MigrationError) {
        let text = value.description
        let size = text.utf8.count
        if size > Checkpoint.sizeLimit { throw location.checkpointTooLong(size, of: version) }
        try await holder.save(isCheckpoint: true) {
            $0.withCheckpoint(text, progress: progress.map(MigrationContext.fraction), comparedWith: began)
        }
        if let progress { reportProgress(progress) }
        if Task.isCancelled { throw location.cancelledAtCheckpoint(of: version) }
    }

    func event(_ kind: MigrationEvent.Kind) -> MigrationEvent {
        var event = MigrationEvent(kind, managerName: location.name, version: version)
        (event.previousVersion, event.attempt) = (previousVersion, attempt)
        return event
    }
}
