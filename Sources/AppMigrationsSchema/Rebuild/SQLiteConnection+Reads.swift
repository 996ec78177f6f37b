internal import AppMigrationsSQLite
internal import CAppMigrationsSQLite

extension SQLiteConnection {
    /// What SQLite reads while `body` compiles and runs statements on a connection of this library's own.
    ///
    /// SQLite tells its authorizer each column, "also if a column of a table is not referenced, with an empty column name",
    /// whichever subquery or view it stands in ("Authorizer Action Codes", SQLITE_READ).
    func reads(_ body: () throws(SQLError) -> Void) throws(SQLError) -> [(table: SQLName, column: SQLName)] {
        let recorder = ReadRecorder()
        sqlite3_set_authorizer(
            handle,
            { recorder, action, table, column, _, _ in
                guard action == SQLITE_READ, let recorder, let table, let column else { return SQLITE_OK }
                let read = (SQLName(String(cString: table)), SQLName(String(cString: column)))
                Unmanaged<ReadRecorder>.fromOpaque(recorder).takeUnretainedValue().reads.append(read)
                return SQLITE_OK
            },
            Unmanaged.passUnretained(recorder).toOpaque()
        )
        defer {
            sqlite3_set_authorizer(handle, nil, nil)
            withExtendedLifetime(recorder) {}
        }
        try body()
        return recorder.reads
    }
}

private final class ReadRecorder {
    var reads = [(table: SQLName, column: SQLName)]()
}
