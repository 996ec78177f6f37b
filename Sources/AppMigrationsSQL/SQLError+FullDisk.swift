import AppMigrations

extension SQLError: DiskUsingError {
    /// True if SQLite's result is `SQLITE_FULL` (13), or if the error that caused this one is of a full disk.
    ///
    /// An extended result code has the result code in its lowest eight bits.
    package var isDueToFullDisk: Bool {
        if let code = extendedResultCode, code & 0xFF == 13 { return true }
        return underlyingError?.isDueToFullDisk ?? false
    }
}
