extension MigrationError {
    /// The error for files that could not be copied or put back, with their manager and migration.
    @inline(never)
    static func protection(
        _ failure: ProtectionFailure,
        _ location: StateLocation,
        _ version: AppVersion?
    ) -> MigrationError {
        let migration: Message = version.map { "migration \($0)" } ?? "a migration"
        if failure.cause is CancellationError {
            return MigrationError(
                .cancelled,
                manager: location.name,
                version: version,
                path: location.path,
                underlying: failure.cause,
                """
                The task was cancelled while manager \(location.name.quoted) copied the files that \(migration) protects. \
                Nothing was run and nothing changed in \(location.state). Make a new manager to try again.
                """
            )
        }
        let wayOut: Message =
            "MigrationManager.abandonRestore(named:stateDirectory:lockTimeout:) gives it up: the files stay as they are then"
        let (subject, end): (Message, Message) =
            switch failure.stage {
            case .taking:
                (
                    "The files that \(migration) protects could not be copied",
                    "Nothing was run and nothing changed. Mend that and make a new manager."
                )
            case .restoring:
                (
                    "The files that \(migration) protects could not be put back",
                    """
                    Their copy in \(location.snapshot) is kept, and the next start tries again. \
                    Don't write to those files before it succeeded. \(wayOut), and the copy in a folder beside the \
                    state.
                    """
                )
            case .missing:
                (
                    "The files that \(migration) protects could not be put back",
                    "Nothing was changed. Bring that copy back and start again. \(wayOut)."
                )
            case .abandoning:
                (
                    "To put back the files that \(migration) protects could not be given up",
                    """
                    Their copy is kept, in \(location.snapshot) or beside it, and the files are as they were. Mend that and \
                    call it again.
                    """
                )
            case .keeping:
                (
                    "Copies of files that \(migration) protected, which no state lists, could not be put aside",
                    """
                    They are kept, in \(location.snapshot) or beside it. Nothing was run and nothing changed. Mend that and make a \
                    new manager.
                    """
                )
            case .noting:
                (
                    "The files that \(migration) protects were put back, but that could not be noted",
                    """
                    Their copy in \(location.snapshot) is kept, and the next start puts it back again. \
                    Don't write to those files before it succeeded.
                    """
                )
            case .withdrawing:
                (
                    "The note that \(migration) begins could not be taken back, though it was not run",
                    """
                    A copy of the files it protects is in \(location.snapshot), is kept, and the next start puts it \
                    back. Don't write to those files before it succeeded.
                    """
                )
            case .clearing:
                (
                    "The copy \(location.snapshot), which nothing needs any more, could not be removed",
                    "No data is concerned; the next start that takes the lock tries again."
                )
            }
        return MigrationError(
            .protectionFailed,
            manager: location.name,
            version: version,
            path: failure.path,
            underlying: failure.cause,
            "\(subject) by manager \(location.name.quoted): \(failure.reason). \(end)"
        )
    }

    /// What an event tells of copies whose state was lost.
    static func unlisted(_ kept: String, _ location: StateLocation) -> MigrationError {
        MigrationError(
            .protectionFailed,
            manager: location.name,
            path: kept,
            """
            Copies of files that a migration of manager \(location.name.quoted) protected were in \(location.snapshot) \
            without a state. They are kept in \(kept), and this library puts nothing of them back and removes nothing. Compare \
            them with the data, then remove the folder.
            """
        )
    }

    /// The work of a closure that returned, or what a closure named, is not on the disk.
    static func notSynchronized(
        _ failure: FileFailure,
        _ location: StateLocation,
        _ version: AppVersion
    ) -> MigrationError {
        let reason: Message = "\(failure.path): \(failure.cause)"
        return unsynchronized(failure.path, underlying: failure.cause, reason, location, version)
    }

    static func unsynchronizable(
        _ path: String,
        _ reason: Message,
        _ location: StateLocation,
        _ version: AppVersion
    ) -> MigrationError {
        unsynchronized(path, "\(path.quoted): \(reason)", location, version)
    }

    private static func unsynchronized(
        _ path: String,
        underlying: (any Error)? = nil,
        _ reason: Message,
        _ location: StateLocation,
        _ version: AppVersion
    ) -> MigrationError {
        MigrationError(
            .stateNotSaved,
            manager: location.name,
            version: version,
            path: path,
            underlying: underlying,
            """
            What migration \(version) of manager \(location.name.quoted) wrote could not be brought to the medium: \
            \(reason). It is not recorded in \(location.state), and will run again with the next manager.
            """
        )
    }
}
