extension MigrationError {
    package static func failed(
        _ version: AppVersion,
        attempt: Int,
        _ cause: any Error,
        _ location: StateLocation,
        consequence: Message
    ) -> MigrationError {
        let isCancelled = cause is CancellationError || (cause as? MigrationError)?.code == .cancelled
        let end: Message =
            isCancelled
            ? cancellation(of: version, attempt: attempt, cause, location)
            : "failed in attempt \(attempt): \(sentence(cause))"
        return MigrationError(
            isCancelled ? .cancelled : .migrationFailed,
            manager: location.name,
            version: version,
            path: location.path,
            underlying: cause,
            """
            Migration \(version) of manager \(location.name.quoted) \(end) \
            It is not recorded in \(location.state) and runs again with the next manager.\(consequence)
            """
        )
    }

    static func cancelledBefore(_ version: AppVersion, _ location: StateLocation) -> MigrationError {
        MigrationError(
            .cancelled,
            manager: location.name,
            version: version,
            path: location.path,
            underlying: CancellationError(),
            """
            The task was cancelled before migration \(version) of manager \(location.name.quoted) began. Nothing of it was \
            run. Make a new manager to try again.
            """
        )
    }

    /// How a migration ended whose task was cancelled.
    private static func cancellation(
        of version: AppVersion,
        attempt: Int,
        _ cause: any Error,
        _ location: StateLocation
    ) -> Message {
        guard let error = cause as? MigrationError else { return "was cancelled in attempt \(attempt)." }
        // One of another migration says itself what was cancelled.
        guard error.version == version, error.managerName == location.name, error.underlyingError == nil
        else {
            return "ended in attempt \(attempt): \(sentence(error))"
        }
        return
            "was cancelled in attempt \(attempt). Its checkpoint is saved, and the next attempt goes on there."
    }

    /// Somebody else's text for an error, with one mark at its end.
    package static func sentence(_ cause: any Error) -> String {
        let text = String(describing: cause)
        return text.hasSuffix(".") || text.hasSuffix("!") || text.hasSuffix("?") ? text : text + "."
    }

    /// The consequence of a failed save depends on what was to be saved, so the caller gives it.
    static func notSaved(
        _ failure: SaveFailure,
        _ version: AppVersion?,
        _ location: StateLocation,
        code: Code = .stateNotSaved,
        consequence: Message
    ) -> MigrationError {
        if let loss = failure.lockLoss {
            return lockLost(loss, version, location, consequence: consequence)
        }
        let leftover: Message =
            failure.leftover.map { " \(location.temporary) could not be removed either: \($0)." } ?? ""
        let subject: Message = "The state of manager \(location.name.quoted), \(location.state),"
        let remedy: Message = failure.isRenamed ? "" : " Make room, or the folder writable, and start again."
        let description: Message =
            failure.isRenamed
            ? "\(subject) was saved, but may not survive a power failure: \(failure.cause). The new state stands. "
            : "\(subject) could not be saved: \(failure.cause). The old state stands.\(leftover) "
        return MigrationError(
            code,
            manager: location.name,
            version: version,
            path: location.path,
            underlying: failure.cause,
            "\(description)\(consequence)\(remedy)"
        )
    }

    static func notRemoved(_ cause: SystemCallError, _ location: StateLocation) -> MigrationError {
        MigrationError(
            .stateNotSaved,
            manager: location.name,
            path: location.path,
            underlying: cause,
            """
            The state of manager \(location.name.quoted), \(location.state), could not be removed for good: \
            \(cause). Make the folder writable for this process and try again.
            """
        )
    }

    static func lockLost(
        _ loss: LockLoss,
        _ version: AppVersion?,
        _ location: StateLocation,
        code: Code = .stateNotSaved,
        consequence: Message
    ) -> MigrationError {
        MigrationError(
            code,
            manager: location.name,
            version: version,
            path: location.lock,
            underlying: loss.cause,
            """
            Manager \(location.name.quoted) doesn't have the lock \(location.lock) any more: \(loss). Nothing was \
            written to \(location.state) without it. \(consequence) Make a new manager, which reads the state \
            again; never remove the lock's file, and close in a closure only what it opened.
            """
        )
    }

    /// The same error, with a sentence more, which begins with a space, or with none.
    package func appending(_ sentence: Message, version: AppVersion? = nil) -> MigrationError {
        MigrationError(
            code,
            manager: managerName,
            version: version ?? self.version,
            path: path,
            underlying: underlyingError,
            "\(description)\(sentence)"
        )
    }

    /// The same error, naming what made the restore necessary.
    func following(_ cause: any Error) -> MigrationError {
        appending(" The migration itself had failed: \(Self.sentence(cause))")
    }

    /// The same error, of a start that waited for protected files to be put back.
    func beforeRestore(of version: AppVersion?) -> MigrationError {
        let migration: Message = version.map { "migration \($0)" } ?? "a migration"
        return appending(
            " Don't write to the files that \(migration) protects before: they are being put back.",
            version: version
        )
    }
}
