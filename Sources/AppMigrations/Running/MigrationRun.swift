/// The run of one declaration, step by step.
///
/// The synchronous and the asynchronous call differ only in how they wait for the lock (they block the
/// thread, or suspend the task) and in how they call the closure. ``MigrationAttempt`` has the order of the
/// writes: copies, intent, closure, sync, record.
struct MigrationRun: ~Copyable {
    private let declaration: Declarations.Declaration
    private let paths: [String]
    private let attemptLimit: Int?
    private let reporter: Reporter
    private var wait: LockWait

    /// The attempt whose closure is to be called; `nil` if there is nothing to run any more.
    private(set) var attempt: MigrationAttempt?

    init(
        of declaration: Declarations.Declaration,
        protecting paths: [String],
        lockTimeout: Duration?,
        attemptLimit: Int?,
        reporter: Reporter,
        caller: LockWait.Caller
    ) {
        self.declaration = declaration
        self.paths = paths
        self.attemptLimit = attemptLimit
        self.reporter = reporter
        wait = LockWait(reporter, version: declaration.version, timeout: lockTimeout, caller: caller)
    }

    /// Tries to take the lock, and then decides whether there is an ``attempt``.
    ///
    /// - Returns: How long to wait before the next step; `nil` after the last one.
    mutating func step(in declarations: borrowing Guarded<Declarations>) throws(MigrationError) -> Duration? {
        guard let lock = try wait.step() else { return wait.pause }
        try begin(under: LockedState(lock, reporter: reporter), in: declarations)
        return nil
    }

    /// With the lock held, reads the state and decides again.
    ///
    /// Begins an attempt if the version is pending.
    private mutating func begin(
        under locked: LockedState,
        in declarations: borrowing Guarded<Declarations>
    ) throws(MigrationError) {
        let version = declaration.version
        let state = try locked.existing()
        let decision = try declarations.withLock { declarations throws(MigrationError) in
            try declarations.decide(
                declaration,
                in: state.versions,
                hasRun: state.hasRun(declaration),
                attemptLimit: attemptLimit
            )
        }
        defer { Self.update(declarations, from: locked) }
        guard case .run(let attempted) = decision else {
            let next = declarations.withLock {
                $0.stateWithoutRun(of: declaration, by: decision, from: state)
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
        try attempt.begin(protecting: paths)
        self.attempt = attempt
    }

    /// Records a closure that returned, or restores the protected files of one that threw.
    func finish(
        _ attempt: MigrationAttempt,
        closureError: (any Error)?,
        in declarations: borrowing Guarded<Declarations>
    ) throws(MigrationError) {
        let outcome = Result { () throws(MigrationError) in try attempt.finish(closureError: closureError) }
        Self.update(declarations, from: attempt.locked)
        try outcome.get()
        attempt.locked.send(attempt.event(.finished))
    }

    /// Closes the manager, and sends an event if the closure was called.
    ///
    /// Releases the lock before sending the event. The event handler may wait for another thread that creates
    /// a manager, and that manager needs the lock to restore protected files. With the lock still held, they
    /// would deadlock.
    ///
    /// - Returns: The error to throw.
    mutating func fail(
        _ failure: MigrationError,
        in declarations: borrowing Guarded<Declarations>
    ) -> MigrationError {
        // If the closure was called, the error already says what happened to the migration.
        let error = attempt == nil ? failure.completed(declaring: declaration.version) : failure
        declarations.withLock { $0.close(error) }
        guard let event = attempt?.event(.failed, error: error) else { return error }
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
