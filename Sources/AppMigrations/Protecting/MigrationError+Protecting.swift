extension MigrationError {
    @inline(never)
    static func protection(
        _ cause: any Error,
        _ path: String,
        _ location: StateLocation,
        _ version: AppVersion?,
        _ stage: SnapshotStage
    ) -> MigrationError {
        let isUnnameable = (cause as? SystemCallError)?.errorNumber == Platform.notText
        let reason: Message =
            isUnnameable
            ? "\(path) leads through a folder whose name is no UTF-8, so no path can name it"
            : "\(path): \(cause)"
        return protection(path, underlying: cause, reason, location, version, stage)
    }

    static func incomplete(
        _ folder: String,
        _ paths: [String],
        _ location: StateLocation,
        _ version: AppVersion?
    ) -> MigrationError {
        let reason: Message =
            """
            the state lists a copy of \(paths.joined(separator: ", ")), and files were removed from \(folder) or \
            added to it since
            """
        return protection(folder, reason, location, version, .missing)
    }

    @inline(never)
    static func unprotectable(
        _ path: String,
        _ reason: Message,
        _ location: StateLocation,
        _ version: AppVersion?,
        _ stage: SnapshotStage = .taking
    ) -> MigrationError {
        protection(path, "\(path.quoted) can't be protected, since \(reason)", location, version, stage)
    }

    static func noRoom(needed: UInt64, free: UInt64, _ location: StateLocation, _ version: AppVersion)
        -> MigrationError
    {
        let reason: Message =
            "they take \(needed) bytes, and \(free) are free in \(location.directory): \(needed - free) are missing"
        return protection(location.directory, reason, location, version, .taking)
    }

    static func tooManyPaths(
        _ count: Int,
        size: Int,
        limit: Int,
        _ location: StateLocation,
        _ version: AppVersion
    ) -> MigrationError {
        let reason: Message =
            """
            their \(count) paths take \(size) bytes in \(location.state), which has room for \(limit); name the folder \
            that holds them
            """
        return protection(location.state, reason, location, version, .taking)
    }

    static func snapshotMissing(
        _ path: String,
        _ paths: [String],
        _ location: StateLocation,
        _ version: AppVersion?
    ) -> MigrationError {
        let reason: Message =
            "the state lists a copy of \(paths.joined(separator: ", ")), and \(path) is not there"
        return protection(path, reason, location, version, .missing)
    }

    /// The work of a closure that returned, or what a closure named, is not on the medium.
    static func notSynchronized(
        _ path: String,
        _ cause: any Error,
        _ location: StateLocation,
        _ version: AppVersion
    ) -> MigrationError {
        unsynchronized(path, underlying: cause, "\(path): \(cause)", location, version)
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

    @inline(never)
    static func protection(
        _ path: String,
        underlying: (any Error)? = nil,
        _ reason: Message,
        _ location: StateLocation,
        _ version: AppVersion?,
        _ stage: SnapshotStage
    ) -> MigrationError {
        let migration: Message = version.map { "migration \($0)" } ?? "a migration"
        let wayOut: Message =
            "MigrationManager.abandonRestore(named:stateDirectory:) gives it up: the files stay as they are then"
        let (subject, end): (Message, Message) =
            switch stage {
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
            path: path,
            underlying: underlying,
            "\(subject) by manager \(location.name.quoted): \(reason). \(end)"
        )
    }
}
