internal import AppMigrationsSQL
internal import CAppMigrationsSQLite

extension SQLiteConnection {
    /// The purpose of a connection, by the flags with which SQLite opens it.
    package enum Access: Int32 {
        /// `SQLITE_OPEN_READONLY`.
        case reading = 1
        /// Writing to a file that is there: `SQLITE_OPEN_READWRITE`.
        case writing = 2
        /// Writing to a file that is made where there is none: with `SQLITE_OPEN_CREATE`.
        case making = 6
    }

    static func open(_ path: String, _ access: Access) throws(SQLError) -> OpaquePointer {
        if path.isEmpty || path.utf8.contains(0) {
            throw SQLError(
                .cannotOpen,
                "The path of a database must not be empty or hold a zero byte; a database without a file is :memory:"
            ).with { $0.path = path }
        }
        var handle: OpaquePointer?
        // A library built with SQLITE_USE_URI takes each name that begins so for a URI.
        let name = path.utf8.starts(with: "file:".utf8) ? "./\(path)" : path
        let result = sqlite3_open_v2(name, &handle, access.rawValue | SQLITE_OPEN_FULLMUTEX, nil)
        guard result == SQLITE_OK, let handle else {
            var message = String(cString: handle.map { sqlite3_errmsg($0) } ?? sqlite3_errstr(result))
            // "Whether or not an error occurs when it is opened, resources should be released"
            // (sqlite3_open).
            sqlite3_close_v2(handle)
            if result & 0xFF == SQLITE_CANTOPEN {
                message +=
                    ": its folder has to be there, and a file that isn't there is made only for writing"
            }
            throw SQLError(.cannotOpen, message).with { ($0.extendedResultCode, $0.path) = (result, path) }
        }
        return handle
    }

    var closedError: SQLError { naming(SQLError(.closed, "The connection was closed before")) }

    static func path(of handle: OpaquePointer) -> String {
        guard let name = sqlite3_db_filename(handle, "main") else { return "" }
        return String(cString: name)
    }

    /// Tells an error which database it is about, unless it knows its file.
    package func naming(_ error: SQLError) -> SQLError {
        guard error.path == nil, !path.isEmpty else { return error }
        return error.with { $0.path = path }
    }

    /// The number that an app or another library keeps in the file's header ("PRAGMA user_version").
    public var userVersion: Int64 {
        get throws(SQLError) {
            do throws(SQLError) { return try SQLConversation(self).number("PRAGMA user_version") } catch {
                throw naming(error)
            }
        }
    }
}
