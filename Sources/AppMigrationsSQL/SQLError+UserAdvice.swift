package import AppMigrations

extension SQLError: AdvisedError {
    /// The advice for the user of an app; `nil` if only the developer can do something.
    ///
    /// The code `diskFull` is also that of a server's disk, and `readOnly` that of a role without rights, so
    /// SQLite's results say more than the code.
    package var userAdvice: MigrationAdvice? {
        if let advice = facts.userAdvice ?? code.userAdvice { return advice }
        if hasFullDisk { return .makeRoom }
        if lacksPermission { return .afterMissingPermission }
        return underlyingError.flatMap(MigrationAdvice.known)
    }

    /// True if SQLite's result is `SQLITE_FULL` (13) or `SQLITE_IOERR_SHMSIZE` (4874).
    ///
    /// The second one means that SQLite could not enlarge the `-shm` file of a database in WAL mode. It "may
    /// indicate that the underlying filesystem volume is out of space" ("Result and Error Codes").
    private var hasFullDisk: Bool {
        // The lowest eight bits of an extended result code are the result code itself.
        extendedResultCode.map { $0 & 0xFF == 13 || $0 == 4_874 } ?? false
    }

    /// True if SQLite may not write the file or its folder.
    ///
    /// The results are `SQLITE_PERM` (3), `SQLITE_READONLY` (8) and `SQLITE_READONLY_DIRECTORY` (1544). Other
    /// extended codes of `SQLITE_READONLY` have other reasons, for example a log that needs a recovery.
    private var lacksPermission: Bool {
        extendedResultCode.map { [3, 8, 1_544].contains($0) } ?? false
    }
}
