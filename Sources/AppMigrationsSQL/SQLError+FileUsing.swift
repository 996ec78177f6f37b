import AppMigrations

extension SQLError: FileUsingError {
    /// True if SQLite's result is `SQLITE_FULL` (13) or `SQLITE_IOERR_SHMSIZE` (4874), or if the underlying
    /// error reports a full disk.
    ///
    /// The second one means that SQLite could not enlarge the `-shm` file of a database in WAL mode. It "may
    /// indicate that the underlying filesystem volume is out of space" ("Result and Error Codes").
    package var isDueToFullDisk: Bool {
        if resultCode == 13 || extendedResultCode == 4874 { return true }
        return underlyingError?.isDueToFullDisk ?? false
    }

    /// True if SQLite may not write the file or its folder, or if the underlying error reports missing
    /// permissions.
    ///
    /// The results are `SQLITE_PERM` (3), `SQLITE_READONLY` (8) and `SQLITE_READONLY_DIRECTORY` (1544). Other
    /// extended codes of `SQLITE_READONLY` have other reasons, for example a log that needs a recovery.
    package var isDueToMissingPermission: Bool {
        if let extendedResultCode, [3, 8, 1544].contains(extendedResultCode) { return true }
        return underlyingError?.isDueToMissingPermission ?? false
    }

    /// The lowest eight bits of an extended result code are the result code itself.
    private var resultCode: Int32? { extendedResultCode.map { $0 & 0xFF } }
}
