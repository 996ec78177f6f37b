/// Runs the migrations of an app once, and lets all parts of the app wait until the data is ready.
///
/// An app has many entry points, such as a scene, an app intent, a notification or a background
/// task. All of them wait for the same gate. The first of them that waits starts the migrations.
///
/// ```swift
/// let gate = MigrationGate { start in
///     let migrations = try MigrationManager(
///         named: "Library",
///         // Linux also needs stateDirectory:.
///         currentVersion: "1.4",
///         options: start.options()
///     )
///     try start.migrate(migrations) {
///         try declareLibrary($0, in: folder)
///     }
///     try database.migrate()
/// }
/// try await gate.ready()
/// ```
///
/// The first call of ``ready()`` begins the start, which doesn't run on the main actor. The first use of
/// ``states`` begins it too.
///
/// If the start throws ``RequiresUnlock``, or `stateUnreadable` because the device is still locked, the gate
/// tries again by itself. After any other error, every call of ``ready()`` throws that error until you call
/// ``retry()``.
public final class MigrationGate: Sendable {
    private let start: @Sendable (Attempt) async throws -> Void
    private let sleep: @Sendable (Duration) async throws -> Void
    let contents = GuardedContents()

    /// Creates a gate.
    ///
    /// Nothing runs before ``ready()`` or ``states`` is used.
    ///
    /// - Parameter start: Creates the managers, declares the migrations and opens the database. It can run
    ///   more than once, so it must create new managers each time.
    public convenience init(_ start: @escaping @Sendable (Attempt) async throws -> Void) {
        self.init(sleep: { try await Task.sleep(for: $0) }, start)
    }

    /// Creates a gate that uses the given function to sleep, for tests.
    package init(
        sleep: @escaping @Sendable (Duration) async throws -> Void,
        _ start: @escaping @Sendable (Attempt) async throws -> Void
    ) {
        self.sleep = sleep
        self.start = start
    }

    deinit { contents.change { $0.finishObservers() } }

    /// The current state of the start.
    public var state: State { contents.read { $0.state } }

    /// Waits until the data is ready.
    ///
    /// The first call begins the start. Don't call it inside the closure of the start: the start would wait
    /// for itself.
    ///
    /// - Throws: The error that ended the start. After ``cancel()``, this is an error with the code
    ///   `cancelled`, a `CancellationError`, or an error that one of them has caused. If the waiting task is
    ///   cancelled, a `CancellationError` is thrown as well. In that case the start continues, and
    ///   ``state-property`` isn't ``State-enum/cancelled``.
    public func ready() async throws {
        open()
        let observer = Observer(of: contents)
        while let state = await observer.next() {
            switch state {
            case .ready: return
            case .requiresAppVersion, .cancelled, .failed:
                // If there is no failure, the start has begun again since this state was read. Wait until it
                // ends again.
                if let failure = contents.read({ $0.failure }) { throw failure }
            default: try Task.checkCancellation()
            }
        }
        throw CancellationError()
    }

    /// A stream of the current state and all later states, for example to update a screen.
    ///
    /// The first use begins the start. The states end with ``State-enum/ready``, or when the gate is
    /// released. They don't end with ``State-enum/failed(_:)``, because ``retry()`` may follow. A slow reader
    /// may miss states, but always gets the latest one.
    public var states: AsyncStream<State> {
        open()
        let observer = Observer(of: contents)
        return AsyncStream { await observer.next() }
    }

    /// Begins the start again after an error.
    ///
    /// Call it when the user asks for it, or when the system says that protected data is available. If the
    /// gate waits for the device to be unlocked, it tries again at once.
    ///
    /// While the start is running, a call matters only if the start then finds the device locked: the gate
    /// tries again without a pause. After the data is ready, a call has no effect.
    public func retry() {
        contents.change { $0.requestRetry() }
        open()
    }

    /// Cancels the start, for example from a "Later" button.
    ///
    /// No further migration begins. A running migration that saves checkpoints stops at its next checkpoint.
    /// Any other closure runs to its end, unless it calls `try Task.checkCancellation()`. If the start stops
    /// because of this call, the state becomes ``State-enum/cancelled``.
    ///
    /// If the start hasn't begun, this call does nothing.
    public func cancel() { contents.change { $0.cancelStart() } }

    private func open() {
        guard contents.change({ $0.beginStart() }) else { return }
        let (taskIsStored, continuation) = AsyncStream<Never>.makeStream()
        let task = Task.detached(priority: .userInitiated) { [self] in
            // Wait until the task is stored. The start may call `cancel()`, which needs the stored task.
            for await _ in taskIsStored {}
            await run()
        }
        contents.change { $0.store(task) }
        continuation.finish()
    }

    private func run() async {
        var pause = Duration.milliseconds(250)
        var lockedDeviceError: (any Error)?
        while true {
            do {
                if let lockedDeviceError { try await waitForUnlock(after: lockedDeviceError, pause: &pause) }
                try await start(Attempt(self))
                return contents.change { $0.endStart(.ready, failure: nil) }
            } catch {
                guard MigrationAdvice(after: error) == .unlockDevice else {
                    let (end, failure) = Self.end(after: error)
                    return contents.change { $0.endStart(end, failure: failure) }
                }
                lockedDeviceError = error
            }
        }
    }

    /// Returns the state that the gate enters after `error` has ended the start, and the error to report.
    private static func end(after error: any Error) -> (State, any Error) {
        if let refusal = error.cause(RequiresAppVersion.self) {
            return (.requiresAppVersion(refusal.version), refusal)
        }
        if MigrationAdvice(after: error) == .continueLater {
            return (.cancelled, error)
        }
        return (.failed(error), error)
    }

    /// Waits until it is time for the next attempt, and doubles the pause for the wait after it.
    ///
    /// ``retry()`` ends the wait early by cancelling the task that sleeps.
    private func waitForUnlock(after error: any Error, pause: inout Duration) async throws {
        let length = pause
        pause = min(pause * 2, .seconds(4))
        guard contents.change({ $0.beginWait(for: error) }) else { return }
        let sleeper = Task { [sleep] in try await sleep(length) }
        contents.change { $0.storeSleeper(sleeper) }
        _ = await withTaskCancellationHandler {
            await sleeper.result
        } onCancel: {
            sleeper.cancel()
        }
        contents.change { $0.endWait() }
        try Task.checkCancellation()
    }
}
