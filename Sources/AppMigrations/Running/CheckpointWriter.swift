/// The intent of the attempt that is under way, which a checkpoint replaces.
///
/// A closure may save from any of its threads and tasks, so the intent is behind a lock of its own. When the closure has ended
/// nothing is saved any more: a context that outlived it would write over the record.
final class CheckpointWriter: Sendable {
    private struct Attempt {
        var intent: MigrationState
        let locked: LockedState
    }

    /// What an earlier attempt saved.
    let saved: Checkpoint?

    private let deaths: Int
    private let current: AppVersion
    private let isProtecting: Bool
    private let process = Platform.process
    private let attempt = Guarded<Attempt?>(nil)

    /// `deaths` are those at the checkpoint `saved`.
    init(_ saved: Checkpoint?, deaths: Int, current: AppVersion, isProtecting: Bool) {
        self.saved = saved
        self.deaths = deaths
        self.current = current
        self.isProtecting = isProtecting
    }

    deinit { attempt.destroy() }

    func begin(_ intent: MigrationState, _ locked: LockedState) {
        attempt.withLock { $0 = Attempt(intent: intent, locked: locked) }
    }

    /// Ends the saving, and gives the intent as it stands; `nil` where it ended before.
    func end() -> MigrationState? {
        // In a child made by fork as another thread saved, nobody would ever give the writer's lock back.
        if Platform.process != process { return nil }
        return attempt.withLock { attempt in
            defer { attempt = nil }
            return attempt?.intent
        }
    }

    func save(_ text: String, progress: Double?, of context: MigrationContext) throws(MigrationError) {
        if isProtecting { throw .checkpointOfProtected(context.version, context.location) }
        let size = text.utf8.count
        if size > Checkpoint.sizeLimit { throw .checkpointTooLong(size, context.version, context.location) }
        // A child made by fork may have been given the lock as another thread held it: nobody would ever unlock it.
        if Platform.process != process {
            throw .checkpoint(.inChild(of: process), context.version, context.location)
        }
        try attempt.withLock { attempt throws(MigrationError) in
            guard let now = attempt else { throw .checkpointAfterEnd(context.version, context.location) }
            let next = now.intent.reaching(
                text,
                progress: progress,
                in: current,
                after: saved,
                deaths: deaths
            )
            now.locked.reporter.reach(.beforeCheckpoint, context.version, isProtecting: false)
            do throws(SaveFailure) {
                try now.locked.save(next)
            } catch {
                if error.isRenamed { attempt?.intent = next }
                throw .checkpoint(error, context.version, context.location)
            }
            attempt?.intent = next
            now.locked.reporter.reach(.afterCheckpoint, context.version, isProtecting: false)
        }
    }
}
