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

    /// The first signal that came, which its handler sets on another thread.
    private final class FirstSignal: Sendable {
        private let value = Guarded<Int32?>(nil)

        var number: Int32? { value.withLock { $0 } }

        /// Returns true if no signal came before.
        func set(_ number: Int32) -> Bool {
            value.withLock { first in
                defer { first = first ?? number }
                return first == nil
            }
        }
    }

    /// The signal that came during the start that ended last in this process.
    private static let lastReceived = Guarded<Int32?>(nil)

    private let received = FirstSignal()
    private var caught: [Caught] = []

    /// Catches `SIGINT`, `SIGTERM` and `SIGHUP` until ``stop()``, and calls `handler` for each of them.
    ///
    /// The argument of `handler` is true for the first signal.
    ///
    /// When this returns, the signals are being caught.
    init(_ handler: @escaping @Sendable (_ isFirst: Bool) -> Void) async {
        for number in [SIGINT, SIGTERM, SIGHUP] {
            // Dispatch only observes a signal. Ignoring it keeps its default action from ending the process.
            let previousHandler: Handler? = signal(number, SIG_IGN)
            // A signal that was ignored before stays ignored, such as SIGHUP under nohup(1).
            if Self.isIgnored(previousHandler) { continue }
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { [received] in
                handler(received.set(number))
            }
            await withCheckedContinuation { continuation in
                source.setRegistrationHandler { continuation.resume() }
                source.activate()
            }
            caught.append(Caught(number: number, previousHandler: previousHandler, source: source))
        }
    }

    /// True if one of the signals came.
    var wereReceived: Bool { received.number != nil }

    /// The signal that came while the signals were caught the last time, or `nil` if none came.
    static var numberOfLastStart: Int32? { lastReceived.withLock { $0 } }

    /// Stops catching the signals, and restores the handlers that they had before.
    func stop() {
        let number = received.number
        Self.lastReceived.withLock { $0 = number }
        for signalSource in caught {
            signalSource.source.cancel()
            signal(signalSource.number, signalSource.previousHandler)
        }
    }

    /// Restores the default action of the signal and sends it to this process, which ends the process.
    ///
    /// The first process of a Linux container has no default actions, so there the function returns.
    static func endProcess(with number: Int32) {
        // A signal doesn't write what is still in the buffers of stdio, which `exit` does.
        fflush(nil)
        signal(number, SIG_DFL)
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, number)
        // Dispatch blocks the signals in its threads, and this may be one of them.
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        raise(number)
    }

    private static func isIgnored(_ handler: Handler?) -> Bool {
        unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN as Handler?, to: Int.self)
    }
}
