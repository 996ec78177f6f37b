import AppMigrations

extension SQLError: FileUsingError {
    /// True if SQLite's result is `SQLITE_FULL` (13), or if the underlying error reports a full disk.
    package var isDueToFullDisk: Bool { resultCode == 13 || underlyingError?.isDueToFullDisk ?? false }

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
