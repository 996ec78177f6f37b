import AppMigrations

extension SQLError: DiskUsingError {
    /// True if SQLite's result is `SQLITE_FULL` (13), or if the underlying error reports a full disk.
    ///
    /// The lowest eight bits of an extended result code are the result code itself.
    package var isDueToFullDisk: Bool {
        if let code = extendedResultCode, code & 0xFF == 13 { return true }
        return underlyingError?.isDueToFullDisk ?? false
    }
}
