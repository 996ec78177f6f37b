extension SQLError {
    /// The kinds of ``SQLError``.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The name of the code, as it is written in Swift.
        public let description: String

        private init(_ name: String) { description = name }

        /// The code for a server's SQLSTATE ("PostgreSQL Error Codes"); `nil` if the caller's code is more
        /// specific.
        init?(sqlState: String) {
            switch sqlState {
            // After a deadlock or a serialization failure, the next try may succeed, as after a wait for a
            // lock.
            case "55P03", "40P01", "40001": self = .busy
            // The role lacks rights, which it doesn't get by another try.
            case "25006", "42501": self = .readOnly
            case "53100": self = .diskFull
            // A closure ignored the error of a statement, or sent no statement for too long.
            case "25P02", "25P03": self = .transactionEnded
            default: return nil
            }
        }

        /// True if an error of this kind is about the database and not about the migration, so that no script
        /// is named.
        package var isOfDatabase: Bool {
            [.busy, .readOnly, .diskFull, .cancelled, .cannotOpen, .closed, .damaged].contains(self)
        }

        /// The database could not compile or run a statement; `extendedResultCode` or `sqlState` has the
        /// reason.
        public static var statementFailed: Code { Code("statementFailed") }

        /// Another connection held the lock for longer than the wait, or a server ended a transaction because
        /// of another one.
        public static var busy: Code { Code("busy") }

        /// The database, its folder or the connection cannot be written to, or the server's role may not.
        public static var readOnly: Code { Code("readOnly") }

        /// The disk is full, or the database has reached its largest size.
        public static var diskFull: Code { Code("diskFull") }

        /// The task was cancelled, or `interrupt()` was called.
        public static var cancelled: Code { Code("cancelled") }

        /// The database could not be opened.
        public static var cannotOpen: Code { Code("cannotOpen") }

        /// The connection was closed before.
        public static var closed: Code { Code("closed") }

        /// The text of a script surely isn't what its author meant; none of it was run.
        public static var invalidScript: Code { Code("invalidScript") }

        /// A script has a statement that can't run in a transaction, or that would end it.
        public static var refusedStatement: Code { Code("refusedStatement") }

        /// A table can't be rebuilt as requested, or a schema plan can't be created or applied; nothing was
        /// changed.
        public static var refusedSchemaChange: Code { Code("refusedSchemaChange") }

        /// A view or a trigger would no longer compile after a change of a table; the change was rolled back.
        public static var brokenObject: Code { Code("brokenObject") }

        /// A schema plan has questions that no hint answers; nothing was changed.
        public static var openQuestions: Code { Code("openQuestions") }

        /// A copy by hand has left two tables or two stores, and either can have the right rows; nothing was
        /// changed.
        public static var undecidedCopy: Code { Code("undecidedCopy") }

        /// A copy by hand has left a log or a journal that can belong to either of two stores; nothing was
        /// changed.
        public static var undecidedLog: Code { Code("undecidedLog") }

        /// A query has no statement or several, or the numbers of its parameters and arguments differ.
        public static var invalidQuery: Code { Code("invalidQuery") }

        /// A text in the database is not UTF-8.
        public static var invalidText: Code { Code("invalidText") }

        /// A row does not fit the type that it is read into.
        public static var unreadableRow: Code { Code("unreadableRow") }

        /// A value does not fit the columns of a row; no row was inserted.
        public static var unwritableRow: Code { Code("unwritableRow") }

        /// The transaction had ended before the next statement or the commit, or refused statements after an
        /// error.
        public static var transactionEnded: Code { Code("transactionEnded") }

        /// The connection is in a transaction, and `insideTransaction: true` was not given.
        public static var alreadyInTransaction: Code { Code("alreadyInTransaction") }

        /// `insideTransaction: true` was given, and the connection is not in a transaction.
        public static var notInTransaction: Code { Code("notInTransaction") }

        /// A version is negative, or has more than 18 digits.
        public static var invalidVersion: Code { Code("invalidVersion") }

        /// Two migrations have the same version; no migration was run.
        public static var duplicateVersion: Code { Code("duplicateVersion") }

        /// A `.sql` file's name is not `<version>.sql` or `<version>_<name>.sql`; no migration was run.
        public static var invalidFileName: Code { Code("invalidFileName") }

        /// The target is not the version of any migration; no migration was run.
        public static var unknownTarget: Code { Code("unknownTarget") }

        /// The SQL of a migration was edited after it was applied, and the migrator refuses that; no further
        /// migration was run.
        public static var changedMigration: Code { Code("changedMigration") }

        /// A pending migration is below a version that was already applied, and the migrator refuses that; no
        /// migration was run.
        public static var outOfOrder: Code { Code("outOfOrder") }

        /// A closure or a connection that isn't SQLite's threw an error, which is `underlyingError`; or a
        /// staged migration left a copy that can't replace the store.
        public static var migrationFailed: Code { Code("migrationFailed") }

        /// A migration or a change of a table left rows that refer to missing rows; it was rolled back.
        public static var foreignKeyViolation: Code { Code("foreignKeyViolation") }

        /// The ledger or the table `app_migrations` doesn't have the columns and values that it needs, or did
        /// not keep a row.
        public static var ledgerUnreadable: Code { Code("ledgerUnreadable") }

        /// The ledger belongs to another migrator or another tool, or is in a schema outside of the
        /// connection's search path; no further migration was run.
        public static var foreignLedger: Code { Code("foreignLedger") }

        /// The progress closure stopped the call, and migrations are left.
        public static var stopped: Code { Code("stopped") }

        /// A cursor can't be read as the requested type, or a batch returned the cursor at which it began or
        /// one that is too long.
        public static var invalidCursor: Code { Code("invalidCursor") }

        /// A file is damaged or is not a database, or a requested check found damage.
        ///
        /// A connection also throws it for an encrypted file without its key, and for a schema that only a
        /// newer SQLite compiles, because SQLite reports both as corrupt or as no database. `SQLiteStore` of
        /// `AppMigrationsSchema` distinguishes these.
        public static var damaged: Code { Code("damaged") }

        /// A store is not damaged, and was not set aside.
        public static var notDamaged: Code { Code("notDamaged") }

        /// A store was written by a newer SQLite, in a way that this one does not read.
        public static var newerSchema: Code { Code("newerSchema") }

        /// A store could not be read, or may be encrypted.
        public static var unreachable: Code { Code("unreachable") }

        /// A staged migration left rows that break a constraint; the store is as it was.
        public static var constraintViolation: Code { Code("constraintViolation") }

        /// The work in the message was done, and only the cleanup after it failed.
        public static var cleanupFailed: Code { Code("cleanupFailed") }

        /// A script or a folder of scripts could not be read, or a store or a file next to it could not be
        /// created, renamed or removed.
        public static var fileFailure: Code { Code("fileFailure") }
    }
}

extension SQLError.Code {
    /// What the call did not change, and the way out, if they are the same for every error of the kind.
    ///
    /// `unrun` says that no migration was run, or no further one.
    func advice(_ unrun: String) -> String? {
        switch self {
        case .busy:
            "It changed nothing. Try again, or wait longer (lockTimeout:, busyTimeout:)."
        case .readOnly:
            "It changed nothing. Open the database for writing, or correct its permissions."
        case .diskFull: "It changed nothing. Free space and start again."
        case .cancelled: "Migrations that were not applied run at the next start."
        case .closed: "Open a new connection."
        case .invalidScript: "No statement of the script was run. Correct its text."
        case .unreadableRow:
            "Change the statement so that it fits the type, or read the row as a type that fits it."
        case .unwritableRow: "No row was inserted."
        case .transactionEnded: "Nothing after that point was run. Roll back and begin again."
        case .alreadyInTransaction:
            "\(unrun) Commit first, or pass insideTransaction: true."
        case .notInTransaction:
            "\(unrun) Begin a transaction first, or leave insideTransaction: out."
        case .invalidVersion: "\(unrun) Use a version from 0 up, with at most 18 digits."
        case .duplicateVersion: "\(unrun) Give one of them another version."
        case .invalidFileName:
            "\(unrun) Name it <version>.sql or <version>_<name>.sql, with letters, digits, spaces, - and _"
                + " in the name, or move it out of the folder."
        case .unknownTarget:
            "\(unrun) Pass the version of a migration. A database above all of them belongs to a newer release, and needs an"
                + " update of the app."
        case .changedMigration:
            "\(unrun) Put the former text back, and write the change as a migration after the last one."
        case .outOfOrder:
            "\(unrun) Give it a higher version, or let the migrator run it (outOfOrder: .reported)."
        case .foreignKeyViolation:
            "It was rolled back. Delete or fix these rows in it."
        case .ledgerUnreadable: "This change was not kept. Rename that table, or fix it by hand."
        case .foreignLedger: "\(unrun) Give this migrator a ledger of its own (ledger:)."
        case .openQuestions: "Nothing was changed. Answer the questions in the plan's hints."
        case .undecidedCopy: "Nothing was changed. Choose one of them (choosing:). The other one is kept."
        case .undecidedLog: "Nothing was changed. Say which store it belongs to (log:)."
        case .invalidCursor: "The batch was rolled back, and the batches before it stay. Correct the closure."
        case .stopped: "Migrations that were not applied run at the next start."
        case .constraintViolation: "Fix these rows in the migration itself."
        case .cleanupFailed: "The next call tries that again."
        case .damaged:
            "No migration can repair it. SQLiteStore.open(check:) looks for damage, and sets a damaged store aside."
        case .notDamaged: "Nothing was renamed."
        case .newerSchema: "Nothing was changed. Update the app, or use a newer SQLite."
        case .unreachable: "Nothing was changed. This says nothing about the content of the store."
        default: nil
        }
    }
}
