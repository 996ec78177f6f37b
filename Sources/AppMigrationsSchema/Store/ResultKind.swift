internal import AppMigrationsSQLite
internal import CAppMigrationsSQLite

/// What a result code of SQLite says about the file, where it says something.
enum ResultKind {
    case busy, corrupt, notADatabase, unreachable, unsupportedFormat, other

    init(_ error: SQLError) {
        guard let code = error.extendedResultCode else {
            self = error.code == .fileFailure ? .unreachable : .other
            return
        }
        switch code & 0xFF {
        case SQLITE_BUSY, SQLITE_LOCKED: self = .busy
        case SQLITE_CORRUPT: self = .corrupt
        case SQLITE_NOTADB: self = .notADatabase
        case SQLITE_PERM, SQLITE_READONLY, SQLITE_FULL, SQLITE_CANTOPEN, SQLITE_IOERR, SQLITE_NOMEM,
            SQLITE_PROTOCOL, SQLITE_NOLFS:
            self = .unreachable
        case SQLITE_ERROR where error.message == "unsupported file format": self = .unsupportedFormat
        default: self = .other
        }
    }
}
