/// The run of one declaration: waits for the lock, decides again, and makes a ``MigrationAttempt``.
///
/// The synchronous and the asynchronous call differ only in how they wait for the lock (they block the
/// thread, or suspend the task) and in how they call the closure. ``MigrationAttempt`` has the order of the
/// writes around the closure.
struct MigrationRun: ~Copyable {
    private let declaration: Declarations.Declaration
    private let paths: [String]
    private let keepsReplacedFiles: Bool
    private let attemptLimit: Int?
    private let reasonNotToRun: PendingMigration.ReasonNotToRun?
    private let reporter: Reporter
    private var wait: LockWait

    /// The attempt whose closure has to be called; `nil` before the lock is taken, and if nothing has to run.
    private(set) var attempt: MigrationAttempt?

    init(
        of declaration: Declarations.Declaration,
        protecting paths: [String],
        keepingReplaced keepsReplacedFiles: Bool,
        lockTimeout: Duration?,
        attemptLimit: Int?,
        unless reasonNotToRun: PendingMigration.ReasonNotToRun?,
        reporter: Reporter,
        caller: LockWait.Caller
    ) {
        self.declaration = declaration
        self.paths = paths
        self.keepsReplacedFiles = keepsReplacedFiles
        self.attemptLimit = attemptLimit
        self.reasonNotToRun = reasonNotToRun
        self.reporter = reporter
        wait = LockWait(reporter, version: declaration.version, timeout: lockTimeout, caller: caller)
    }

    /// Tries to take the lock, and if it has the lock, decides whether to begin an ``attempt``.
    ///
    /// - Returns: How long to wait before the next step; `nil` if the lock was taken, so that no step is
    ///   left.
    mutating func step(in declarations: borrowing Guarded<Declarations>) throws(MigrationError) -> Duration? {
        guard let lock = try wait.step() else { return wait.pause }
        let locked = try LockedState(lock, reporter: reporter)
        if try !isRecordedWithoutRunning(under: locked, in: declarations) {
            try begin(under: locked, in: declarations)
        }
        return nil
    }

    /// Records the migration without an attempt and returns true, if there is a reason not to run it.
    private func isRecordedWithoutRunning(
        under locked: LockedState,
        in declarations: borrowing Guarded<Declarations>
    ) throws(MigrationError) -> Bool {
        guard let reasonNotToRun else { return false }
        // Decide without the limit of attempts: a migration that doesn't have to run is recorded even if the
        // limit is reached. `begin` decides again, with the limit.
        let decision = try decide(in: locked, declarations, attemptLimit: nil)
        guard case .run(let attempted) = decision else { return false }
        let previousVersion = try locked.existing().versions.lastRun
        guard let note = try ask(reasonNotToRun, about: attempted, under: locked) else { return false }
        try recordWithoutRunning(attempted, under: locked)
        Self.update(declarations, from: locked)
        var event = MigrationEvent(.finished, managerName: locked.location.name, version: attempted.version)
        event.previousVersion = previousVersion
        event.note = note
        locked.send(event)
        return true
    }

    /// Decides whether the closure has to run, with the state that was read while the lock is held.
    private func decide(
        in locked: LockedState,
        _ declarations: borrowing Guarded<Declarations>,
        attemptLimit: Int?
    ) throws(MigrationError) -> MigrationDecision {
        let state = try locked.existing()
        return try declarations.withLock { declarations throws(MigrationError) in
            try declarations.decide(
                declaration,
                in: state.versions,
                hasRun: state.hasRun(declaration),
                attemptLimit: attemptLimit
            )
        }
    }

    /// Begins an attempt, if the closure has to run.
    ///
    /// Otherwise saves what the declaration changes in the state.
    private mutating func begin(
        under locked: LockedState,
        in declarations: borrowing Guarded<Declarations>
    ) throws(MigrationError) {
        let version = declaration.version
        let decision = try decide(in: locked, declarations, attemptLimit: attemptLimit)
        defer { Self.update(declarations, from: locked) }
        let state = try locked.existing()
        guard case .run(let attempted) = decision else {
            let next = declarations.withLock {
                $0.stateToSaveIfNotRun(declaration, by: decision, from: state)
            }
            guard let next else { return }
            try locked.save(
                next,
                version: version,
                consequenceOfFailure: decision.consequenceOfNotSaving(version)
            )
            return
        }
        if Task.isCancelled {
            throw locked.location.cancelled(version, while: "was about to run migration \(version)")
        }
        let attempt = try MigrationAttempt(
            of: attempted,
            minimumAppVersion: declaration.minimumAppVersion,
            isProtecting: !paths.isEmpty,
            under: locked
        )
        try attempt.begin(protecting: paths, keepingReplaced: keepsReplacedFiles)
        self.attempt = attempt
    }

    /// Asks for the reason why a pending migration doesn't have to run.
    ///
    /// If its files had been restored, also saves that this was taken into account.
    ///
    /// - Returns: The reason; `nil` if the migration has to run.
    private func ask(
        _ reasonNotToRun: PendingMigration.ReasonNotToRun,
        about attempted: AttemptedMigration,
        under locked: LockedState
    ) throws(MigrationError) -> String? {
        let state = try locked.existing()
        let version = attempted.version
        let isRestored = state.versions.attempts(at: version)?.isRestored ?? false
        let pending = PendingMigration(
            version: version,
            previousVersion: state.versions.lastRun,
            isRestored: isRestored
        )
        let note: String?
        do {
            note = try RunToken.withToken(of: locked.location) { try reasonNotToRun(pending) }
        } catch {
            throw .failed(version, in: locked.location, attempt: attempted.attempts, because: error)
        }
        // What an older release records from now on can be trusted again.
        if isRestored {
            try locked.save(
                state.forgettingRestore(of: version),
                version: version,
                consequenceOfFailure: "Migration \(version) was not run."
            )
        }
        return note
    }

    /// Records a migration whose closure isn't called.
    private func recordWithoutRunning(
        _ attempted: AttemptedMigration,
        under locked: LockedState
    ) throws(MigrationError) {
        let version = declaration.version
        let state = try locked.existing()
        let row = AppliedMigration(attempted, after: state.versions.lastRun, at: Platform.now, in: .zero)
        try locked.save(
            state.raisingMinimumAppVersion(to: declaration.minimumAppVersion).recording(row),
            version: version,
            consequenceOfFailure: """
                Migration \(version) doesn't have to run, and was not recorded. The next start records it.
                """
        )
    }

    /// Records the migration if the closure returned, or restores the protected files if it threw.
    func finish(
        _ attempt: MigrationAttempt,
        closureError: (any Error)?,
        in declarations: borrowing Guarded<Declarations>
    ) throws(MigrationError) {
        let outcome = Result { () throws(MigrationError) in try attempt.finish(closureError: closureError) }
        Self.update(declarations, from: attempt.locked)
        try outcome.get()
        var event = attempt.event(.finished)
        event.note = attempt.context.writer.finalNote.withLock { $0 }
        attempt.locked.send(event)
    }

    /// Closes the manager, and sends the event `failed` if an attempt had begun.
    ///
    /// The lock is released before the event is sent. The event handler may wait for another thread that
    /// creates a manager, and that manager needs the lock to restore protected files. If the lock were still
    /// held, the two threads would deadlock.
    ///
    /// - Returns: The error to throw.
    mutating func fail(
        _ failure: MigrationError,
        in declarations: borrowing Guarded<Declarations>
    ) -> MigrationError {
        // If an attempt had begun, the error already says what happened to the migration.
        let error = attempt == nil ? failure.completed(declaring: declaration.version) : failure
        declarations.withLock { $0.close(error) }
        guard let event = attempt?.event(.failed, error: error) else { return error }
        // This releases the lock, because the attempt has the last reference to it.
        attempt = nil
        reporter.send(event)
        return error
    }

    private static func update(
        _ declarations: borrowing Guarded<Declarations>,
        from locked: LockedState
    ) {
        if let state = locked.state { declarations.withLock { $0.update(from: state) } }
    }
}
