extension StateLocation {
    func checkpointRefused(_ version: AppVersion, _ reason: Message) -> MigrationError {
        error(
            .checkpointNotSaved,
            version,
            "A checkpoint of migration \(version) of \(self), was not saved: \(reason) Nothing was changed."
        )
    }
}

extension MigrationError {
    package static func checkpointTooLong(_ size: Int, _ version: AppVersion, _ location: StateLocation)
        -> MigrationError
    {
        location.checkpointRefused(
            version,
            """
            it takes \(size) bytes as UTF-8, and \(Checkpoint.sizeLimit) are possible. Save a place in the data instead of the data.
            """
        )
    }

    package static func checkpointAfterEnd(_ version: AppVersion, _ location: StateLocation) -> MigrationError
    {
        location.checkpointRefused(
            version,
            "the closure has ended. Let the closure wait for the tasks and threads that it starts."
        )
    }

    package static func cancelledAtCheckpoint(_ version: AppVersion, _ location: StateLocation)
        -> MigrationError
    {
        location.error(
            .cancelled,
            version,
            """
            The task of migration \(version) of manager \(location.name.quoted) was cancelled. Its checkpoint \
            is saved in \(location.state), and the next attempt goes on there.
            """
        )
    }
}

extension Checkpoint {
    /// What was saved, as the type in which it was saved.
    package func value<Value: LosslessStringConvertible>(
        as type: Value.Type,
        _ version: AppVersion,
        _ location: StateLocation
    ) throws(MigrationError) -> Value {
        if let value = Value(text) { return value }
        throw unreadable("\(type)", version, location)
    }

    private func unreadable(_ type: String, _ version: AppVersion, _ location: StateLocation)
        -> MigrationError
    {
        location.error(
            .checkpointNotSaved,
            version,
            """
            No \(type) was saved as the checkpoint of migration \(version) of \(location): version \(appVersion) of the app \
            saved \(text.quoted). Nothing was changed. Read what that version saved.
            """
        )
    }
}
