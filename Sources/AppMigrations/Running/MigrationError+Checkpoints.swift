extension MigrationError {
    static func checkpointOfProtected(_ context: MigrationContext) -> MigrationError {
        notSaved(
            context,
            """
            the migration has protecting:, and a restore would undo what the checkpoint says was done. Do without one of them.
            """
        )
    }

    static func checkpointTooLong(_ size: Int, _ context: MigrationContext) -> MigrationError {
        notSaved(
            context,
            """
            it takes \(size) bytes as UTF-8, and \(Checkpoint.sizeLimit) are possible. Save a place in the data instead of the data.
            """
        )
    }

    static func checkpointAfterEnd(_ context: MigrationContext) -> MigrationError {
        notSaved(
            context,
            "the closure has ended. Let the closure wait for the tasks and threads that it starts."
        )
    }

    private static func notSaved(_ context: MigrationContext, _ reason: Message) -> MigrationError {
        MigrationError(
            .checkpointNotSaved,
            manager: context.location.name,
            version: context.version,
            path: context.location.state,
            """
            A checkpoint of migration \(context.version) of manager \(context.location.name.quoted), \
            \(context.location.state), was not saved: \(reason) Nothing was changed.
            """
        )
    }

    /// A checkpoint whose save failed.
    static func checkpoint(_ failure: SaveFailure, _ context: MigrationContext) -> MigrationError {
        if let loss = failure.lockLoss { return checkpoint(loss, context) }
        let consequence: Message =
            failure.isRenamed
            ? "Migration \(context.version) goes on at the new checkpoint, after a power failure at the one before."
            : "Migration \(context.version) goes on at the checkpoint before."
        return notSaved(
            failure,
            context.version,
            context.location,
            code: .checkpointNotSaved,
            consequence: consequence
        )
    }

    static func checkpoint(_ loss: LockLoss, _ context: MigrationContext) -> MigrationError {
        lockLost(
            loss,
            context.version,
            context.location,
            code: .checkpointNotSaved,
            consequence: "The checkpoint of migration \(context.version) was not saved."
        )
    }

    static func checkpointUnreadable(
        _ checkpoint: Checkpoint,
        _ type: String,
        _ context: MigrationContext
    ) -> MigrationError {
        MigrationError(
            .checkpointNotSaved,
            manager: context.location.name,
            version: context.version,
            path: context.location.state,
            """
            No \(type) was saved as the checkpoint of migration \(context.version) of manager \
            \(context.location.name.quoted), \(context.location.state): version \(checkpoint.appVersion) of the app saved \
            \(checkpoint.text.quoted). Nothing was changed. Read what that version saved.
            """
        )
    }

    static func cancelledAtCheckpoint(_ context: MigrationContext) -> MigrationError {
        MigrationError(
            .cancelled,
            manager: context.location.name,
            version: context.version,
            path: context.location.state,
            """
            The task of migration \(context.version) of manager \(context.location.name.quoted) was cancelled. Its checkpoint \
            is saved in \(context.location.state), and the next attempt goes on there.
            """
        )
    }
}
