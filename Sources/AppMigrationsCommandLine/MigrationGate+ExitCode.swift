import AppMigrations

extension MigrationGate {
    /// Returns the exit code of a command-line tool that ends because of an error of a gate or of a manager.
    ///
    /// - 75: It may succeed later. The errors are `lockTimeout`, `stateUnreadable`, `RequiresUnlock`, and
    ///   each `MigrationError` whose `isTransient` is true.
    /// - 77: Permissions are missing. The error was caused by a system call that failed with `EACCES`,
    ///   `EPERM` or `EROFS`, or by an error of Foundation that means the same, such as
    ///   `CocoaError.fileWriteNoPermission`. And `isTransient` is false. This also applies to
    ///   `stateUnreadable`. But that error is transient, and the code is 75, if the device may be locked:
    ///   after `EPERM`, and on Apple's systems also after `EACCES`.
    /// - 78: This release is too old for the data. The errors are `RequiresAppVersion`, `usedByNewerApp` and
    ///   `stateFromNewerFormat`.
    /// - 130: The user has cancelled. The errors are `CancellationError` and `cancelled`.
    /// - 70: Any other error. The tool or the data needs a person.
    ///
    /// The codes 70 to 78 are those of `sysexits.h`, where they are called `EX_SOFTWARE`, `EX_TEMPFAIL`,
    /// `EX_NOPERM` and `EX_CONFIG`. The code 130 is the one that a shell reports for a process that Ctrl-C
    /// has ended: 128 and the number of the signal ("Exit Status" in the POSIX description of the shell).
    public static func exitCode(after error: any Error) -> Int32 {
        switch error {
        case is CancellationError: return 130
        case is RequiresAppVersion: return 78
        case is RequiresUnlock: return 75
        case let error as MigrationError: return exitCode(after: error)
        default: return error.isDueToMissingPermission ? 77 : 70
        }
    }

    private static func exitCode(after error: MigrationError) -> Int32 {
        switch error.underlyingError {
        // `firstRun:` or the closure of a migration threw it.
        case let cause as RequiresAppVersion: return exitCode(after: cause)
        case let cause as RequiresUnlock: return exitCode(after: cause)
        default: break
        }
        if error.isDueToMissingPermission { return 77 }
        switch error.code {
        case .cancelled: return 130
        case .usedByNewerApp, .stateFromNewerFormat: return 78
        case .lockTimeout, .stateUnreadable: return 75
        default: return error.isTransient ? 75 : 70
        }
    }
}
