extension MigrationError {
    static func checkpointOfProtected(_ version: AppVersion, _ location: StateLocation) -> MigrationError {
        notSaved(
            version,
            location,
            """
            the migration has protecting:, and a restore would undo what the checkpoint says was done. Do without one of them.
            """
        )
    }

    package static func checkpointTooLong(_ size: Int, _ version: AppVersion, _ location: StateLocation)
        -> MigrationError
    {
        notSaved(
            version,
            location,
            """
            it takes \(size) bytes as UTF-8, and \(Checkpoint.sizeLimit) are possible. Save a place in the data instead of the data.
            """
        )
    }

    package static func checkpointAfterEnd(_ version: AppVersion, _ location: StateLocation) -> MigrationError
    {
        notSaved(
            version,
            location,
            "the closure has ended. Let the closure wait for the tasks and threads that it starts."
        )
    }

    private static func notSaved(_ version: AppVersion, _ location: StateLocation, _ reason: Message)
        -> MigrationError
    {
        MigrationError(
            .checkpointNotSaved,
            manager: location.name,
            version: version,
            path: location.path,
            """
            A checkpoint of migration \(version) of manager \(location.name.quoted), \
            \(location.state), was not saved: \(reason) Nothing was changed.
            """
        )
    }

    /// A checkpoint whose save failed.
    static func checkpoint(_ failure: SaveFailure, _ version: AppVersion, _ location: StateLocation)
        -> MigrationError
    {
        if let loss = failure.lockLoss { return checkpoint(loss, version, location) }
        let consequence: Message =
            failure.isRenamed
            ? "Migration \(version) goes on at the new checkpoint, after a power failure at the one before."
            : "Migration \(version) goes on at the checkpoint before."
        return notSaved(
            failure,
            version,
            location,
            code: .checkpointNotSaved,
            consequence: consequence
        )
    }

    static func checkpoint(_ loss: LockLoss, _ version: AppVersion, _ location: StateLocation)
        -> MigrationError
    {
        lockLost(
            loss,
            version,
            location,
            code: .checkpointNotSaved,
            consequence: "The checkpoint of migration \(version) was not saved."
        )
    }

    package static func checkpointUnreadable(
        _ checkpoint: Checkpoint,
        _ type: String,
        _ version: AppVersion,
        _ location: StateLocation
    ) -> MigrationError {
        MigrationError(
            .checkpointNotSaved,
            manager: location.name,
            version: version,
            path: location.path,
            """
            No \(type) was saved as the checkpoint of migration \(version) of manager \
            \(location.name.quoted), \(location.state): version \(checkpoint.appVersion) of the app saved \
            \(checkpoint.text.quoted). Nothing was changed. Read what that version saved.
            """
        )
    }

    package static func cancelledAtCheckpoint(_ version: AppVersion, _ location: StateLocation)
        -> MigrationError
    {
        MigrationError(
            .cancelled,
            manager: location.name,
            version: version,
            path: location.path,
            """
            The task of migration \(version) of manager \(location.name.quoted) was cancelled. Its checkpoint \
            is saved in \(location.state), and the next attempt goes on there.
            """
        )
    }
}
