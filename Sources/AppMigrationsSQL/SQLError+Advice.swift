extension SQLError.Code {
    /// The way out, where it is the same for every error of the kind.
    var advice: String? {
        switch self {
        case .busy:
            "Nothing of it was changed. Try again, or wait longer (lockTimeout:, busyTimeout:)."
        case .readOnly:
            "Nothing of it was changed. Open the database for writing, or correct its permissions."
        case .diskFull: "Nothing of it was changed. Free space and start again."
        case .cancelled: "What was not applied runs at the next start."
        case .closed: "Open a new connection."
        case .invalidScript: "Nothing of the script was run. Correct its text."
        case .unreadableRow:
            "Have the statement give what the type needs, or read it as a type that the database has."
        case .unwritableRow: "Nothing of it was written."
        case .transactionEnded: "Nothing after that point was run. Roll back and begin again."
        case .alreadyInTransaction:
            "Nothing was run. Commit first, or pass insideTransaction: true."
        case .notInTransaction:
            "Nothing was run. Begin a transaction first, or leave insideTransaction: out."
        case .invalidVersion: "Nothing was run. Use a version from 0 on with at most 18 digits."
        case .duplicateVersion: "Nothing was run. Give one of them another version."
        case .invalidFileName:
            "Nothing was run. Name it <version>.sql or <version>_<name>.sql, with letters, digits, spaces, - and _"
                + " in the name, or move it out of the folder."
        case .unknownTarget:
            "Nothing was run. Pass the version of a migration; a database above all of them is a newer release's, and needs"
                + " an update of the app."
        case .changedMigration:
            "Nothing was run. Put the former text back, and the change into a migration behind the last one."
        case .foreignKeyViolation:
            "It was rolled back. Delete or mend these rows in it."
        case .ledgerUnreadable: "Nothing of this was kept. Rename that table, or mend it by hand."
        case .foreignLedger: "Nothing was run. Give this migrator a ledger of its own (ledger:)."
        case .openQuestions: "Nothing was changed. Answer in the plan's hints."
        case .invalidCursor: "The batch was rolled back, and those before it stay. Correct the closure."
        case .stopped: "What was not applied runs at the next start."
        case .constraintViolation: "Mend these rows in the migration itself."
        case .cleanupFailed: "The next call tries that again."
        case .damaged:
            "No migration mends it: SQLiteStore.open(check:) looks for damage and sets the store aside."
        case .notDamaged: "Nothing was renamed."
        case .newerSchema: "Nothing was changed. Update the app, or use a newer SQLite."
        case .unreachable: "Nothing was changed. It says nothing about what is in the store."
        default: nil
        }
    }
}
