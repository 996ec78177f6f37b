/// One attempt at one migration under the lock: the intent, the closure, then the record or the undoing.
///
/// The intent is saved before the closure runs, so that a death in the closure is known to the next start. The record is saved
/// after the closure returned and its work is synced to disk, so that nothing is recorded that a power cut could take.
final class MigrationAttempt {
    let context: MigrationContext
    let locked: LockedState
    private let token: RunToken

    /// The files that are put back unless the record is saved; `nil` where the closure protects none.
    let files: Snapshot?

    /// The state without the intent, and with it.
    let before: MigrationState
    private(set) var intent: MigrationState

    /// How long the closure took, once it has ended.
    private(set) var duration: Duration?

    var version: AppVersion { context.version }
    var location: StateLocation { locked.location }

    /// Lists what is protected; ``begin()`` comes next.
    init(
        _ known: AttemptedMigration,
        minimumAppVersion: AppVersion,
        protecting paths: [String],
        _ locked: LockedState
    ) throws(MigrationError) {
        self.locked = locked
        before = try locked.existing()
        do {
            files = try Snapshot(of: paths, known.version, locked.location, locked.lock)
        } catch {
            throw locked.location.protection(.taking, known.version, error)
        }
        let began = Interruption(known, isProtecting: files != nil, startedAt: Platform.now)
        intent = before.beginning(began, minimumAppVersion: minimumAppVersion)
        context = MigrationContext(
            version: known.version,
            previousVersion: before.marks.lastRun,
            attempt: known.attempts,
            lock: locked.lock,
            reporter: locked.reporter,
            writer: CheckpointWriter(began)
        )
        token = RunToken(locked.location)
    }

    /// Another manager that protects the same files and may be waited for; `nil` where nobody does, and ``begin()`` comes next.
    ///
    /// To wait for it, list and lock are given back: its closure may use a manager of this very state.
    @inline(never)
    func rival(isAsynchronous: Bool) throws(MigrationError) -> ProtectedPaths.Rival? {
        guard let files else { return nil }
        var isFree = false
        defer { if !isFree { takeBack(files) } }
        let rival = try files.protected.rival(isAsynchronous: isAsynchronous)
        isFree = rival == nil
        return rival
    }

    private func takeBack(_ files: Snapshot) {
        files.takeBack()
        locked.lock.unlock()
    }

    /// Copies what is protected, and saves the intent.
    func begin() throws(MigrationError) {
        do {
            try files?.fill { done, note in
                locked.send(MigrationEvent(.progressed, context, fraction: done, note: note, isOfFiles: true))
            }
        } catch {
            throw location.protection(.taking, version, error)
        }
        context.reach(files == nil ? .beforeIntent : .afterCopying)
        if let failure = locked.note(intent) { throw withdraw(failure) }
        context.reach(.beforeClosure)
        locked.send(event(.started))
    }

    /// Calls the closure.
    ///
    /// Its error is given, not thrown: first it has to be undone what the closure did.
    func call(_ body: (MigrationContext) throws -> Void) -> (any Error)? {
        let began = begun()
        defer { ended(since: began) }
        do {
            try RunToken.$current.withValue(token) { try body(context) }
            return nil
        } catch {
            return error
        }
    }

    /// Runs an asynchronous closure.
    nonisolated(nonsending) func call(
        _ body: nonisolated(nonsending) (MigrationContext) async throws -> Void
    ) async -> (any Error)? {
        let began = begun()
        defer { ended(since: began) }
        do {
            try await RunToken.$current.withValue(token) { try await body(context) }
            return nil
        } catch {
            return error
        }
    }

    private func begun() -> Duration {
        context.writer.begin(intent, locked)
        return Platform.uptime
    }

    private func ended(since began: Duration) {
        token.end()
        intent = context.writer.end() ?? intent
        // The clock goes back where a machine was moved to another host.
        duration = max(.zero, Platform.uptime - began)
    }

    func event(_ kind: MigrationEvent.Kind) -> MigrationEvent {
        MigrationEvent(kind, context, duration: duration)
    }
}
