/// Runs the migrations of an app once, and lets all parts of the app wait until the data is ready.
///
/// An app can be entered at many places: by a scene, an intent, a request of an extension, a background task.
/// Each of them waits for the same gate. The first one starts the migrations.
///
/// ```swift
/// let gate = MigrationGate { start in
///     let migrations = try MigrationManager(
///         named: "Library",
///         // Off Apple's systems also stateDirectory:
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
/// The first call of ``ready()`` begins the start, which runs off the main actor. If the start throws
/// ``RequiresUnlock``, or `stateUnreadable` because the device is still locked, the gate tries again by
/// itself. After any other error each call throws that error, until ``retry()`` is called.
public final class MigrationGate: Sendable {
    private let start: @Sendable (Start) async throws -> Void
    private let sleep: @Sendable (Duration) async throws -> Void
    let contents = GuardedContents()

    /// Makes a gate.
    ///
    /// Nothing runs before ``ready()`` or ``states`` is used.
    ///
    /// - Parameter start: Makes the managers, declares the migrations, opens the database. It can run several
    ///   times, so it must make new managers each time.
    public convenience init(_ start: @escaping @Sendable (Start) async throws -> Void) {
        self.init(sleep: { try await Task.sleep(for: $0) }, start)
    }

    /// Makes a gate that sleeps with another function, for tests.
    package init(
        sleep: @escaping @Sendable (Duration) async throws -> Void,
        _ start: @escaping @Sendable (Start) async throws -> Void
    ) {
        self.sleep = sleep
        self.start = start
    }

    deinit { contents.change { $0.close() } }

    /// How far the start is.
    public var state: State { contents.read { $0.state } }

    /// Waits until the data is ready.
    ///
    /// The first call begins the start. Don't call it in the start itself, which would wait for itself.
    ///
    /// - Throws: The error of the start. After ``cancel()`` that is an error with the code `cancelled`, or
    ///   `CancellationError`. If the waiting task is cancelled, `CancellationError`: then the start
    ///   continues, and ``state-property`` isn't ``State-enum/cancelled``.
    public func ready() async throws {
        open()
        let observer = Observer(of: contents)
        while let state = await observer.next() {
            switch state {
            case .ready: return
            case .requiresAppVersion, .cancelled, .failed:
                // If there is no failure, the start has begun again since this state was read. Wait for its
                // new end.
                if let failure = contents.read({ $0.failure }) { throw failure }
            default: continue
            }
        }
        throw CancellationError()
    }

    /// The current state and each later one, for a screen.
    ///
    /// The first use begins the start. The states end with ``State-enum/ready``, or when the gate is
    /// released. They don't end with ``State-enum/failed(_:)``, because ``retry()`` may follow. A slow reader
    /// gets the newest state only.
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
    /// If the start is running, a call has an effect only if the start finds the device locked: then it tries
    /// again without a pause. Once the data is ready, a call does nothing.
    public func retry() {
        contents.change { $0.requestRetry() }
        open()
    }

    /// Cancels the task of the start, for a button "Later".
    ///
    /// A start that stops for it ends in ``State-enum/cancelled``. No further migration begins. A migration
    /// that saves checkpoints stops at its next one. Another closure runs to its end, unless it calls `try
    /// Task.checkCancellation()`. If that throws, the protected files of the migration are restored. Before
    /// the start, a call does nothing.
    public func cancel() { contents.change { $0.cancelStart() } }

    private func open() {
        guard contents.change({ $0.beginStart() }) else { return }
        let (untilKept, continuation) = AsyncStream<Never>.makeStream()
        let task = Task.detached(priority: .userInitiated) { [self] in
            // Wait until the task is kept: the start may call `cancel()`, which needs it.
            for await _ in untilKept {}
            await run()
        }
        contents.change { $0.keep(task) }
        continuation.finish()
    }

    private func run() async {
        var pause = Duration.milliseconds(250)
        var locked: (any Error)?
        while true {
            do {
                if let locked { try await wait(&pause, for: locked) }
                try await start(Start(self))
                return contents.change { $0.endStart(.ready, failure: nil) }
            } catch {
                let (end, reason) = Self.end(after: error)
                if let end { return contents.change { $0.endStart(end, failure: reason) } }
                locked = reason
            }
        }
    }

    /// The state in which an error ends the start, and the error to report.
    ///
    /// The state is `nil` if unlocking the device may help.
    private static func end(after error: any Error) -> (State?, any Error) {
        var reason = error
        // The app's `firstRun:` may have thrown one of the errors below. The manager wraps its error.
        if let error = error as? MigrationError, error.code == .firstRunFailed {
            reason = error.underlyingError ?? error
        }
        switch reason {
        case is RequiresUnlock: return (nil, reason)
        case let error as MigrationError where error.isDenied: return (nil, reason)
        case let error as RequiresAppVersion: return (.requiresAppVersion(error.version), reason)
        case is CancellationError: return (.cancelled, reason)
        case let error as MigrationError where error.code == .cancelled: return (.cancelled, reason)
        default: return (.failed(error), error)
        }
    }

    /// Waits until the next try.
    ///
    /// ``retry()`` ends the wait early by cancelling the task that sleeps.
    private func wait(_ pause: inout Duration, for error: any Error) async throws {
        let length = pause
        pause = min(pause * 2, .seconds(4))
        guard contents.change({ $0.beginWait(for: error) }) else { return }
        let sleeper = Task { [sleep] in try await sleep(length) }
        contents.change { $0.keepSleeper(sleeper) }
        _ = await withTaskCancellationHandler {
            await sleeper.result
        } onCancel: {
            sleeper.cancel()
        }
        contents.change { $0.endWait() }
        try Task.checkCancellation()
    }
}

extension MigrationError {
    /// True if the system denied access to the state as on a locked device.
    ///
    /// After other errors, unlocking doesn't help.
    fileprivate var isDenied: Bool {
        guard code == .stateUnreadable, let cause = underlyingError as? SystemCallError else { return false }
        return cause.isOfLockedDevice
    }
}
