import AppMigrations
import AppMigrationsSystem

extension MigrationGate {
    /// Returns the exit code of a command-line tool that ends because of an error of a gate or of a manager.
    ///
    /// - 77: Permissions are missing, which is when the advice is `MigrationAdvice.makeWritable`: a system
    ///   call failed with `EACCES`, `EPERM` or `EROFS`, SQLite or Foundation reports the same, and
    ///   `isTransient` is false. It is also the code after a `stateUnreadable` for such a reason. An error
    ///   type of your own isn't recognized: throw `POSIXError`.
    /// - 75: It may succeed later. The device may be locked, another process is migrating, `isTransient` of
    ///   the `MigrationError` is true, or its code is `stateUnreadable`.
    /// - 78: This release is too old for the data. The errors are `RequiresAppVersion`, `usedByNewerApp`,
    ///   `stateFromNewerFormat`, and those of a database that a newer release has written.
    /// - 130, 143 or 129: The start was cancelled. The errors are `CancellationError`, `cancelled`, and
    ///   `stopped` of a database's migrator. The code is 128 and the number of the signal that came during
    ///   the last `readyInTerminal()` of this process: `SIGINT`, `SIGTERM` or `SIGHUP`. If no signal came, it
    ///   is 130, as after Ctrl-C.
    /// - 70: Any other error. The tool or the data needs a person.
    ///
    /// The codes 70 to 78 are those of `sysexits.h`, where they are called `EX_SOFTWARE`, `EX_TEMPFAIL`,
    /// `EX_NOPERM` and `EX_CONFIG`. The codes above 128 are the ones that most shells report for a process
    /// that a signal has ended. A shell script that runs the tool doesn't stop after them, so end the process
    /// with ``endProcess(after:)``.
    public static func exitCode(after error: any Error) -> Int32 {
        switch MigrationAdvice(after: error) {
        case .continueLater: return exitCodeAfterCancellation
        case .updateApp: return 78
        case .makeWritable: return 77
        case .unlockDevice, .waitForOtherProcess: return 75
        default:
            guard let error = error as? MigrationError else { return 70 }
            return error.isTransient || error.code == .stateUnreadable ? 75 : 70
        }
    }

    private static var exitCodeAfterCancellation: Int32 {
        128 + (TerminationSignals.numberOfLastStart ?? SIGINT)
    }

    /// Ends this process because of an error of a gate or of a manager.
    ///
    /// If the start was cancelled, and `SIGINT` (Ctrl-C), `SIGTERM` or `SIGHUP` came during the last
    /// `readyInTerminal()`, the process ends by the default action of this signal. In all other cases it
    /// exits with ``exitCode(after:)``.
    ///
    /// A shell script that runs a tool stops after Ctrl-C only if the tool has ended by `SIGINT`. If the tool
    /// exits with the code 130 instead, the shell assumes that Ctrl-C was an input for the tool, and runs the
    /// next command. So print the error, and call this instead of `exit`:
    ///
    /// ```swift
    /// do {
    ///     try await gate.readyInTerminal()
    /// } catch {
    ///     print(error)
    ///     MigrationGate.endProcess(after: error)
    /// }
    /// ```
    ///
    /// The buffers of `print` are written before the process ends. After a signal, functions that were passed
    /// to `atexit` aren't called.
    public static func endProcess(after error: any Error) -> Never {
        let code = exitCode(after: error)
        if let number = TerminationSignals.numberOfLastStart, code == 128 + number {
            TerminationSignals.endProcess(with: number)
        }
        exit(code)
    }
}
