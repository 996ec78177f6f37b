/// What lies where protected files are, or their state, and stands in the way of copying them or of putting them back.
extension MigrationError {
    static func special(
        _ path: String,
        _ location: StateLocation,
        _ version: AppVersion?,
        _ stage: SnapshotStage
    ) -> MigrationError {
        protection(path, "\(path) is neither a file, a folder nor a link", location, version, stage)
    }

    static func mountPoint(
        _ path: String,
        _ location: StateLocation,
        _ version: AppVersion?,
        _ stage: SnapshotStage
    ) -> MigrationError {
        let advice: Message =
            stage == .taking
            ? "name what is on it, and what is beside it, by paths of their own"
            : "it was not there when the copy was made: unmount it"
        let reason: Message = "a file system is mounted at \(path), inside of what is protected; \(advice)"
        return protection(path, reason, location, version, stage)
    }

    static func unmounted(
        _ path: String,
        _ location: StateLocation,
        _ version: AppVersion?,
        _ stage: SnapshotStage
    ) -> MigrationError {
        protection(path, "the file system that \(path) was on is not mounted", location, version, stage)
    }

    static func mounted(
        _ path: String,
        _ location: StateLocation,
        _ version: AppVersion?,
        _ stage: SnapshotStage
    ) -> MigrationError {
        let reason: Message = "a file system is mounted where \(path) was on another one; unmount it"
        return protection(path, reason, location, version, stage)
    }

    static func foreignLink(
        _ path: String,
        _ location: StateLocation,
        _ version: AppVersion?,
        _ stage: SnapshotStage
    ) -> MigrationError {
        let reason: Message = "\(path) is a link that another user has put there since; remove it"
        return protection(path, reason, location, version, stage)
    }

    static func foreign(
        _ path: String,
        _ reason: Message,
        _ location: StateLocation,
        _ version: AppVersion?,
        _ stage: SnapshotStage
    ) -> MigrationError {
        let text: Message =
            """
            \(path) \(reason), and a list of files that somebody else wrote could overwrite any file; let it belong to \
            this user and be written to by nobody else (chown, chmod go-w)
            """
        return protection(path, text, location, version, stage)
    }

    static func moved(
        _ old: String,
        _ path: String,
        from directory: String,
        _ location: StateLocation,
        _ version: AppVersion
    ) -> MigrationError {
        let reason: Message =
            """
            the state was moved from \(directory) to \(location.directory) without them, \(old) would be put back to \
            \(path); move the state back, or the files after it
            """
        return protection(path, reason, location, version, .restoring)
    }
}
