import AppMigrations
import AppMigrationsSystem
import Dispatch

/// Catches the signals that ask a command-line tool to end.
struct TerminationSignals {
    private typealias Handler = @convention(c) (Int32) -> Void

    private struct Caught {
        let number: Int32
        let previousHandler: Handler?
        let source: any DispatchSourceSignal
    }

    /// A flag that the handler of a signal sets on another thread.
    private final class Flag: Sendable {
        private let value = Guarded(false)

        var isSet: Bool { value.withLock { $0 } }

        func set() { value.withLock { $0 = true } }
    }

    private let received = Flag()
    private var caught: [Caught] = []

    /// Catches `SIGINT`, `SIGTERM` and `SIGHUP` until ``stop()``, and calls `handler` for each of them.
    ///
    /// When this returns, the signals are being caught.
    init(_ handler: @escaping @Sendable () -> Void) async {
        for number in [SIGINT, SIGTERM, SIGHUP] {
            // Dispatch only observes a signal. Ignoring it keeps its default action from ending the process.
            let previousHandler: Handler? = signal(number, SIG_IGN)
            // A signal that was ignored before stays ignored, such as SIGHUP under nohup(1).
            if Self.isIgnored(previousHandler) { continue }
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { [received] in
                received.set()
                handler()
            }
            await withCheckedContinuation { continuation in
                source.setRegistrationHandler { continuation.resume() }
                source.activate()
            }
            caught.append(Caught(number: number, previousHandler: previousHandler, source: source))
        }
    }

    /// True if one of the signals came.
    var wereReceived: Bool { received.isSet }

    /// Stops catching the signals, and restores the handlers that they had before.
    func stop() {
        for signalSource in caught {
            signalSource.source.cancel()
            signal(signalSource.number, signalSource.previousHandler)
        }
    }

    private static func isIgnored(_ handler: Handler?) -> Bool {
        unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN as Handler?, to: Int.self)
    }
}
