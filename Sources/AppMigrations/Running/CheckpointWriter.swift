/// Saves the checkpoints of a closure while it runs.
///
/// A closure may save from several threads and tasks. This class lets one of them save at a time. After the
/// closure has ended, `save` throws. Otherwise code that has kept the context could save a checkpoint after
/// the migration has been recorded.
final class CheckpointWriter: Sendable {
    /// What the state says about this attempt before the closure runs.
    ///
    /// It includes the checkpoint that an earlier attempt saved, if any.
    let initialInterruption: Interruption

    /// The last-run version before the attempt.
    let previousVersion: AppVersion

    /// The locked state while the closure runs; `nil` before and after.
    private let running = Guarded<LockedState?>(nil)

    /// The note of the event `finished`; `nil` if the closure has set none.
    let finalNote = Guarded<String?>(nil)

    init(_ initialInterruption: Interruption, after previousVersion: AppVersion) {
        self.initialInterruption = initialInterruption
        self.previousVersion = previousVersion
    }

    var isRunning: Bool { running.withLock { $0 != nil } }

    /// Allows saving, for a closure that is about to run.
    func begin(_ locked: LockedState) { running.withLock { $0 = locked } }

    /// Stops accepting saves.
    ///
    /// Waits for a save that is in progress.
    func end() { running.withLock { $0 = nil } }

    func save(
        _ text: String,
        progress: Double?,
        of context: MigrationContext
    ) throws(MigrationError) {
        let version = context.version
        let location = context.location
        if initialInterruption.isProtecting {
            throw location.checkpointRefused(
                of: version,
                reason:
                    "the migration uses protecting:, and a restore would undo work that the checkpoint reports as done.",
                advice: "Use either protecting: or checkpoints, not both."
            )
        }
        let size = text.utf8.count
        if size > Checkpoint.sizeLimit { throw location.checkpointTooLong(size, of: version) }
        try running.withLock { locked throws(MigrationError) in
            guard let locked else { throw location.checkpointAfterEnd(of: version) }
            let next = try locked.existing()
                .withCheckpoint(text, progress: progress, comparedWith: initialInterruption.attempt)
            context.reachRehearsalPoint(.beforeCheckpoint)
            if let failure = locked.saveBestEffort(next) {
                throw failure.adding(
                    locked.mayNotSurvivePowerFailure
                        ? """
                        The next attempt of migration \(version) continues from the new checkpoint. After a power failure it may \
                        continue from the previous checkpoint.
                        """
                        : "The next attempt of migration \(version) continues from the last saved checkpoint.",
                    code: .checkpointNotSaved,
                    version: version
                )
            }
            context.reachRehearsalPoint(.afterCheckpoint)
        }
    }
}

extension StateLocation {
    func checkpointRefused(of version: AppVersion, reason: Message, advice: Message) -> MigrationError {
        let text: Message = """
            A checkpoint of migration \(version) of \(self) was not saved: \(reason) The previous checkpoint is unchanged. \(advice)
            """
        return error(.checkpointNotSaved, version: version, text)
    }

    package func checkpointTooLong(_ size: Int, of version: AppVersion) -> MigrationError {
        checkpointRefused(
            of: version,
            reason: "its text has \(size) bytes in UTF-8, and at most \(Checkpoint.sizeLimit) are allowed.",
            advice:
                "Save how far the migration has come, such as the key of the last row, and not the data itself."
        )
    }

    package func checkpointAfterEnd(of version: AppVersion) -> MigrationError {
        checkpointRefused(
            of: version,
            reason: "the closure has ended.",
            advice: "Let the closure wait for the tasks and threads that it starts."
        )
    }

    package func cancelledAtCheckpoint(of version: AppVersion) -> MigrationError {
        let text: Message = """
            The task of migration \(version) of \(self) was cancelled. Its checkpoint is saved, and the next attempt \
            continues from it.
            """
        return error(.cancelled, version: version, text)
    }
}

extension Checkpoint {
    /// The saved text, converted to `type`.
    package func value<Value: LosslessStringConvertible>(
        as type: Value.Type,
        of version: AppVersion,
        in location: StateLocation
    ) throws(MigrationError) -> Value {
        if let value = Value(text) { return value }
        let typeName = "\(type)"
        let message: Message = """
            The checkpoint of migration \(version) of \(location) can't be read as \(typeName): app version \(appVersion) saved \
            \(text.quoted). The checkpoint was kept. Read it as the type that app version \(appVersion) saved.
            """
        throw location.error(.checkpointNotSaved, version: version, message)
    }
}
