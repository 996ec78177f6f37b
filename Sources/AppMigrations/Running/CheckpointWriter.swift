/// The intent of the attempt that is under way, which a checkpoint replaces.
///
/// A closure may save from any of its threads and tasks, so the intent is behind a lock of its own. When the closure has ended
/// nothing is saved any more: a context that outlived it would write over the record.
final class CheckpointWriter: Sendable {
    /// The attempt as it began, with what an earlier one saved.
    let began: Interruption
    let previousVersion: AppVersion
    private let attempt = Guarded<(intent: MigrationState, locked: LockedState)?>(nil)

    init(_ began: Interruption, after previousVersion: AppVersion) {
        (self.began, self.previousVersion) = (began, previousVersion)
    }

    var isUnderWay: Bool { attempt.withLock { $0 != nil } }

    func begin(_ intent: MigrationState, _ locked: LockedState) { attempt.withLock { $0 = (intent, locked) } }

    /// Ends the saving, and gives the intent as it stands; `nil` where it ended before.
    func end() -> MigrationState? {
        attempt.withLock { attempt in
            defer { attempt = nil }
            return attempt?.intent
        }
    }

    func save(_ text: String, progress: Double?, of context: MigrationContext) throws(MigrationError) {
        let (version, location, size) = (context.version, context.location, text.utf8.count)
        if began.isProtecting {
            throw location.checkpointRefused(
                version,
                "the migration has protecting:, and a restore would undo the work that the checkpoint says is done.",
                "Do without one of them."
            )
        }
        if size > Checkpoint.sizeLimit { throw location.checkpointTooLong(size, version) }
        try attempt.withLock { attempt throws(MigrationError) in
            guard let now = attempt else { throw location.checkpointAfterEnd(version) }
            let next = now.intent.withCheckpoint(text, progress: progress, since: began.attempt)
            context.reach(.beforeCheckpoint)
            let failure = now.locked.note(next)
            if failure == nil || now.locked.isUncertain { attempt?.intent = next }
            if let failure {
                throw failure.adding(
                    now.locked.isUncertain
                        ? """
                        The next attempt of migration \(version) goes on at the new checkpoint. After a power failure it may go on at the \
                        one before.
                        """
                        : "The next attempt of migration \(version) goes on at the last checkpoint that was saved.",
                    code: .checkpointNotSaved,
                    version: version
                )
            }
            context.reach(.afterCheckpoint)
        }
    }
}

extension StateLocation {
    func checkpointRefused(_ version: AppVersion, _ reason: Message, _ advice: Message) -> MigrationError {
        let text: Message = """
            A checkpoint of migration \(version) of \(self) was not saved: \(reason) The last checkpoint stays. \(advice)
            """
        return error(.checkpointNotSaved, version, text)
    }

    package func checkpointTooLong(_ size: Int, _ version: AppVersion) -> MigrationError {
        let limit = Checkpoint.sizeLimit
        return checkpointRefused(
            version,
            "it takes \(size) bytes as UTF-8, and at most \(limit) are allowed.",
            "Save a place in the data instead of the data."
        )
    }

    package func checkpointAfterEnd(_ version: AppVersion) -> MigrationError {
        checkpointRefused(
            version,
            "the closure has ended.",
            "Let the closure wait for the tasks and threads that it starts."
        )
    }

    package func cancelledAtCheckpoint(_ version: AppVersion) -> MigrationError {
        let text: Message = """
            The task of migration \(version) of \(self) was cancelled. Its checkpoint is saved, and the next attempt goes on \
            there.
            """
        return error(.cancelled, version, text)
    }
}

extension Checkpoint {
    /// The value that was saved, in the type in which it was saved.
    package func value<Value: LosslessStringConvertible>(
        as type: Value.Type,
        _ version: AppVersion,
        _ location: StateLocation
    ) throws(MigrationError) -> Value {
        if let value = Value(text) { return value }
        let type = "\(type)"
        let text: Message = """
            The checkpoint of migration \(version) of \(location) can't be read as \(type): version \(appVersion) of the app \
            saved \(text.quoted). The checkpoint stays. Read it as the type that this version saved.
            """
        throw location.error(.checkpointNotSaved, version, text)
    }
}
