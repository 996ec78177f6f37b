internal import AppMigrations
internal import AppMigrationsSQL
internal import CAppMigrationsSQLite

extension SQLiteConnection {
    /// What a connection may do, as the flags of `sqlite3_open_v2`.
    package struct Access {
        fileprivate let flags: Int32

        /// `SQLITE_OPEN_READONLY`.
        package static var reading: Access { Access(flags: 1) }

        /// Write to an existing file: `SQLITE_OPEN_READWRITE`.
        package static var writing: Access { Access(flags: 2) }

        /// Write, and create the file if it is missing: `SQLITE_OPEN_READWRITE` and `SQLITE_OPEN_CREATE`.
        package static var creating: Access { Access(flags: 6) }
    }

    static func open(_ path: String, for access: Access) throws(SQLError) -> OpaquePointer {
        if path.isEmpty || path.utf8.contains(0) {
            throw SQLError(
                .cannotOpen,
                "The path of a database must not be empty or contain a zero byte. For a database without a file, use :memory:"
            ).with { $0.path = path }
        }
        var handle: OpaquePointer?
        // If SQLite was built with SQLITE_USE_URI, it reads a name that begins with "file:" as a URI. A `./`
        // before a relative path prevents that.
        let isRelative = path.utf8.first != UInt8(ascii: "/") && path != ":memory:"
        let name = isRelative ? "./\(path)" : path
        let result = sqlite3_open_v2(name, &handle, access.flags | SQLITE_OPEN_FULLMUTEX, nil)
        guard result == SQLITE_OK, let handle else {
            var message = String(cString: handle.map { sqlite3_errmsg($0) } ?? sqlite3_errstr(result))
            let cause = handle.flatMap { systemError(of: $0, after: result, at: path) }
            // "Whether or not an error occurs when it is opened, resources should be released"
            // (sqlite3_open).
            sqlite3_close_v2(handle)
            if result & 0xFF == SQLITE_CANTOPEN {
                message +=
                    ". Its folder must exist. A missing file is created only if it is opened for writing"
            }
            throw SQLError(.cannotOpen, message).with {
                $0.extendedResultCode = result
                $0.path = path
                $0.underlyingError = cause
            }
        }
        return handle
    }

    /// The system call that failed, if SQLite's result says which one it was.
    ///
    /// SQLite reports missing permissions and a used-up quota only in this way: the results are
    /// `SQLITE_CANTOPEN` and `SQLITE_IOERR_WRITE` (778).
    static func systemError(
        of handle: OpaquePointer,
        after extendedResult: Int32,
        at path: String?
    ) -> SystemCallError? {
        let number = sqlite3_system_errno(handle)
        if number == 0 { return nil }
        switch extendedResult {
        case _ where extendedResult & 0xFF == SQLITE_CANTOPEN:
            return SystemCallError(call: "open", errorNumber: number, path: path)
        case 778: return SystemCallError(call: "write", errorNumber: number, path: path)
        default: return nil
        }
    }

    static func path(of handle: OpaquePointer) -> String {
        guard let name = sqlite3_db_filename(handle, "main") else { return "" }
        return String(cString: name)
    }
}
