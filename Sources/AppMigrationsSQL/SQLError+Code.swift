package import AppMigrations

extension SQLError {
    /// The kinds of ``SQLError``.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The name of the code, as it is written in Swift.
        public let description: String

        /// Advice for errors of this kind: what the call did not change, and how to solve the problem.
        ///
        /// It is `nil` if that differs from error to error. Then the error's message contains it.
        let advice: String?

        /// True if the description of such an error says that no migration, or no further migration, was run.
        ///
        /// That sentence comes before the advice.
        let saysNoMigrationWasRun: Bool

        /// The advice for the user of an app; `nil` if only the developer can do something.
        let userAdvice: MigrationAdvice?

        /// Declares a code.
        ///
        /// A code is declared in the lowest module that throws it, tests for it, or names it in its
        /// documentation.
        package init(
            _ name: String,
            advice: String? = nil,
            saysNoMigrationWasRun: Bool = false,
            userAdvice: MigrationAdvice? = nil
        ) {
            description = name
            self.advice = advice
            self.saysNoMigrationWasRun = saysNoMigrationWasRun
            self.userAdvice = userAdvice
        }

        /// The code for a server's SQLSTATE ("PostgreSQL Error Codes"); `nil` for an SQLSTATE that has no
        /// code of its own.
        init?(sqlState: String) {
            switch sqlState {
            // 55P03 is a lock that wasn't available, 40P01 a deadlock, and 40001 a serialization failure. In
            // each case, the next try may succeed.
            case "55P03", "40P01", "40001": self = .busy
            // The role lacks rights, so trying again doesn't help.
            case "25006", "42501": self = .readOnly
            case "53100": self = .diskFull
            // A closure ignored the error of a statement, or sent no statement for too long.
            case "25P02", "25P03": self = .transactionEnded
            default: return nil
            }
        }

        /// True if an error of this kind is about the database and not about the migration.
        ///
        /// Such an error doesn't name the script.
        package var isOfDatabase: Bool {
            [.busy, .readOnly, .diskFull, .cancelled, .cannotOpen, .closed, .damaged].contains(self)
        }

        /// The database could not compile or run a statement; `extendedResultCode` or `sqlState` has the
        /// reason.
        public static var statementFailed: Code { Code("statementFailed") }

        /// Another connection held the lock for longer than the wait, or a server ended the transaction
        /// because of a deadlock or a conflict with another transaction.
        public static var busy: Code {
            Code(
                "busy",
                advice: "It changed nothing. Try again, or wait longer (lockTimeout:, busyTimeout:).",
                userAdvice: .waitForOtherProcess
            )
        }

        /// The database, its folder or the connection can't be written to, or the server's role doesn't have
        /// the right to write.
        public static var readOnly: Code {
            Code(
                "readOnly",
                advice: "It changed nothing. Open the database for writing, or correct its permissions."
            )
        }

        /// The disk is full, or the database has reached its largest size.
        public static var diskFull: Code {
            Code(
                "diskFull",
                advice: "It changed nothing. Free space and start again."
            )
        }

        /// The task was cancelled, or `interrupt()` was called.
        public static var cancelled: Code {
            Code(
                "cancelled",
                advice: "Migrations that were not applied run at the next start.",
                userAdvice: .continueLater
            )
        }

        /// The database could not be opened.
        public static var cannotOpen: Code { Code("cannotOpen") }

        /// The connection is closed.
        public static var closed: Code {
            Code(
                "closed",
                advice: "Open a new connection."
            )
        }

        /// The text of a script is certainly not what its author meant, for example because it contains a
        /// zero byte or statements that undo it.
        ///
        /// None of it was run.
        public static var invalidScript: Code {
            Code(
                "invalidScript",
                advice: "No statement of the script was run. Correct its text."
            )
        }

        /// A script has a statement that can't run in a transaction, or that would end it.
        public static var refusedStatement: Code { Code("refusedStatement") }

        /// A row does not fit the type that it is read into.
        public static var unreadableRow: Code {
            Code(
                "unreadableRow",
                advice:
                    "Change the statement so that it fits the type, or read the row as a type that fits it."
            )
        }

        /// The transaction had ended before the next statement or the commit, or refused statements after an
        /// error.
        public static var transactionEnded: Code {
            Code(
                "transactionEnded",
                advice: "Nothing after that point was run. Roll back and begin again."
            )
        }

        /// The connection is in a transaction, and `insideTransaction: true` was not given.
        public static var alreadyInTransaction: Code {
            Code(
                "alreadyInTransaction",
                advice: "Commit first, or pass insideTransaction: true.",
                saysNoMigrationWasRun: true
            )
        }

        /// A version is negative, or has more than 18 digits.
        public static var invalidVersion: Code {
            Code(
                "invalidVersion",
                advice: "Use a version from 0 up, with at most 18 digits.",
                saysNoMigrationWasRun: true
            )
        }

        /// Two migrations have the same version; no migration was run.
        public static var duplicateVersion: Code {
            Code(
                "duplicateVersion",
                advice: "Give one of them another version.",
                saysNoMigrationWasRun: true
            )
        }

        /// A `.sql` file's name is not `<version>.sql` or `<version>_<name>.sql`; no migration was run.
        public static var invalidFileName: Code {
            Code(
                "invalidFileName",
                advice:
                    "Name it <version>.sql or <version>_<name>.sql, with letters, digits, spaces, - and _"
                    + " in the name, or move it out of the folder.",
                saysNoMigrationWasRun: true
            )
        }

        /// The target is not the version of any migration; no migration was run.
        public static var unknownTarget: Code {
            Code(
                "unknownTarget",
                advice:
                    "Pass the version of a migration. A database above all of them belongs to a newer"
                    + " release, and needs an update of the app.",
                saysNoMigrationWasRun: true
            )
        }

        /// The SQL of a migration was edited after it was applied, and the migrator refuses that; no further
        /// migration was run.
        public static var editedMigration: Code {
            Code(
                "editedMigration",
                advice:
                    "Restore the original SQL, and write the change as a new migration after the last one.",
                saysNoMigrationWasRun: true
            )
        }

        /// A pending migration is below a version that was already applied, and the migrator refuses that; no
        /// migration was run.
        public static var outOfOrder: Code {
            Code(
                "outOfOrder",
                advice: "Give it a higher version, or let the migrator run it (outOfOrder: .reported).",
                saysNoMigrationWasRun: true
            )
        }

        /// A closure or a connection of another library threw an error, which is `underlyingError`.
        ///
        /// A staged migration also throws this code if its copy can't replace the store.
        public static var migrationFailed: Code { Code("migrationFailed") }

        /// A migration or a change of a table left rows that refer to missing rows; it was rolled back.
        public static var foreignKeyViolation: Code {
            Code(
                "foreignKeyViolation",
                advice:
                    "It was rolled back. Delete or fix these rows in it, or insert the rows that they refer to."
            )
        }

        /// The ledger or the table `app_migrations` doesn't have the columns and values that it needs, or did
        /// not keep a row.
        public static var ledgerUnreadable: Code {
            Code(
                "ledgerUnreadable",
                advice: "This change was not kept. Rename that table, or fix it by hand."
            )
        }

        /// The ledger belongs to another migrator or another tool, or is in a schema outside of the
        /// connection's search path; no further migration was run.
        public static var foreignLedger: Code {
            Code(
                "foreignLedger",
                advice: "Give this migrator a ledger of its own (ledger:).",
                saysNoMigrationWasRun: true
            )
        }

        /// The progress closure stopped the call, and migrations are left.
        public static var stopped: Code {
            Code(
                "stopped",
                advice: "Migrations that were not applied run at the next start.",
                userAdvice: .continueLater
            )
        }

        /// A cursor can't be read as the requested type.
        ///
        /// Or a batch returned a cursor that is too long, or the cursor at which it began.
        public static var invalidCursor: Code {
            Code(
                "invalidCursor",
                advice: "The batch was rolled back, and the batches before it stay. Correct the closure."
            )
        }

        /// A file is damaged or is not a database, or a requested check found damage.
        ///
        /// SQLite reports two other problems with the same results (`SQLITE_CORRUPT` and `SQLITE_NOTADB`): an
        /// encrypted file without its key, and a schema that only a newer SQLite compiles. So a connection
        /// throws this code for these as well. `SQLiteStore` of `AppMigrationsSchema` distinguishes them.
        ///
        /// If `PRAGMA trusted_schema` is off and the schema uses a function of the app that isn't innocuous,
        /// the code is ``statementFailed``.
        public static var damaged: Code {
            Code(
                "damaged",
                advice: "No migration can repair it. SQLiteStore.open(check:) looks for damage, and sets a"
                    + " damaged store aside."
            )
        }

        /// A script or a folder of scripts could not be read, or a store or a file next to it could not be
        /// created, renamed or removed.
        public static var fileFailure: Code { Code("fileFailure") }
    }
}
