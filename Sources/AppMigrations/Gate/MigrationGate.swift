/// One gate for all the doors of an app: the first that comes starts the migrations, and all wait until the data is ready.
///
/// An app has many doors: a scene, an intent, an extension's request, a background task. Each of them asks the same gate.
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
/// The first question begins the start, which runs off the main actor. Where it throws `stateUnreadable` because the device
/// is still locked, or ``RequiresUnlock``, the gate tries again by itself. After any other error each question throws it, until
/// ``retry()``.
public final class MigrationGate: Sendable {
    private let start: @Sendable (Start) async throws -> Void
    private let sleep: @Sendable (Duration) async throws -> Void
    let contents = GuardedContents()

    /// Makes a gate that nobody has asked yet; nothing runs before ``ready()`` or ``states``.
    ///
    /// - Parameter start: Makes the managers, declares the migrations, opens the database. It can run several times, so that it
    ///   makes its managers anew each time.
    public convenience init(_ start: @escaping @Sendable (Start) async throws -> Void) {
        self.init(sleep: { try await Task.sleep(for: $0) }, start)
    }

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

    /// Waits until the data is ready; the first call begins the start.
    ///
    /// The start itself must not ask its gate, since it would wait for itself.
    ///
    /// - Throws: The error of the start, after ``cancel()`` the code `cancelled` or `CancellationError`; the latter also where the task
    ///   that waits is cancelled, while the start goes on and ``state-property`` isn't ``State-enum/cancelled``.
    public func ready() async throws {
        open()
        let observer = Observer(of: contents)
        while let state = await observer.next() {
            switch state {
            case .ready: return
            case .requiresAppVersion, .cancelled, .failed:
                // There is no failure if the start was begun again since: then its new end counts.
                if let failure = contents.read({ $0.failure }) { throw failure }
            default: continue
            }
        }
        throw CancellationError()
    }

    /// The state now and each later one, up to `ready` or the gate's own end, for a screen; the first look begins the start.
    ///
    /// They don't end with ``State-enum/failed(_:)``, after which ``retry()`` may come. A slow reader gets the newest state only.
    public var states: AsyncStream<State> {
        open()
        let observer = Observer(of: contents)
        return AsyncStream { await observer.next() }
    }

    /// Begins the start again after an error, and tries at once where the gate waits for the device to be unlocked.
    ///
    /// Call it when the user asks for it, or while the gate waits for the unlock and the system says that protected data is
    /// available. Where the start runs and ends with `stateUnreadable` or ``RequiresUnlock``, it is begun again without a pause. Else
    /// a call does nothing while the start runs, and once the data is ready.
    public func retry() {
        contents.change { $0.forgetFailure() }
        open()
    }

    /// Cancels the task of the start, for a button "Later"; a start that heeds it ends in ``State-enum/cancelled``.
    ///
    /// A migration that saves checkpoints stops at its next one, and no migration begins. Another closure runs to its end unless it
    /// calls `try Task.checkCancellation()`: what it protects is put back then. Before the start a call does nothing.
    public func cancel() { contents.change { $0.cancelStart() } }

    private func open() {
        guard contents.change({ $0.beginStart() }) else { return }
        let (isKept, keeping) = AsyncStream<Never>.makeStream()
        let task = Task.detached(priority: .userInitiated) { [self] in
            // A start may cancel itself, through the task that is kept.
            for await _ in isKept {}
            await run()
        }
        contents.change { $0.keep(task) }
        keeping.finish()
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
                let (end, reason) = Self.end(of: error)
                if let end { return contents.change { $0.endStart(end, failure: reason) } }
                locked = reason
            }
        }
    }

    /// The state in which an error ends the start, and the error to tell; no state where an unlock may help.
    private static func end(of error: any Error) -> (State?, any Error) {
        var reason = error
        // The app's `firstRun:` looks at the data before any manager is there: its own error is the reason.
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

    /// Lets time pass until the next try, or until ``retry()``, which cancels the task that sleeps.
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
    /// True if the system denied the state, as it does on a locked device; no unlock helps against any other cause.
    fileprivate var isDenied: Bool {
        guard code == .stateUnreadable, let cause = underlyingError as? SystemCallError else { return false }
        return cause.isOfLockedDevice
    }
}
