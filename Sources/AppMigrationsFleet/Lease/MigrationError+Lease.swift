internal import AppMigrations

extension MigrationError {
    static func unreadable(_ cause: any Error, _ location: StateLocation, _ consequence: Message)
        -> MigrationError
    {
        MigrationError(
            .stateUnreadable,
            manager: location.name,
            underlying: cause,
            """
            The state of manager \(location.name.quoted), \(location.state), could not be read: \(sentence(cause)) \
            \(consequence) Try again when the store can be reached.
            """
        )
    }

    /// Without a cause the store refused each time, and nobody else wrote.
    static func notSaved(
        _ cause: (any Error)?,
        _ version: AppVersion?,
        _ location: StateLocation,
        _ consequence: Message
    ) -> MigrationError {
        let reason =
            cause.map(sentence) ?? "The store refused it each time, as if another host had been faster."
        return MigrationError(
            .stateNotSaved,
            manager: location.name,
            version: version,
            underlying: cause,
            """
            The state of manager \(location.name.quoted), \(location.state), could not be saved: \(reason) \
            The old state stands. \(consequence) Try again when the store can be reached.
            """
        )
    }

    static func tooLong(_ version: AppVersion?, _ location: StateLocation, _ consequence: Message)
        -> MigrationError
    {
        MigrationError(
            .stateNotSaved,
            manager: location.name,
            version: version,
            """
            The state of manager \(location.name.quoted), \(location.state), would take more than 1 MiB and was not saved. \
            The old state stands. \(consequence)
            """
        )
    }

    static func timedOut(
        _ timeout: Duration,
        _ holder: String,
        _ location: StateLocation,
        _ version: AppVersion?
    ) -> MigrationError {
        MigrationError(
            .lockTimeout,
            manager: location.name,
            version: version,
            """
            Manager \(location.name.quoted) waited \(timeout.description) for \(holder), which has the lease in \
            \(location.state). Nothing was run and the state is unchanged. Let that host finish and start again.
            """
        )
    }

    /// The end of a wait for migrations at which no host is at work; `version` is the first of them, where there is a state.
    static func notMigrated(
        _ timeout: Duration,
        _ version: AppVersion?,
        _ found: StoredState.Found,
        current: AppVersion,
        _ location: StateLocation
    ) -> MigrationError {
        let marks = found.state?.marks
        let reason: Message =
            if let last = marks?.interruption {
                last.failure.map {
                    "the last attempt at migration \(last.version), number \(last.attempts), failed with \($0.quoted)"
                }
                    ?? "the host of the last attempt at migration \(last.version), number \(last.attempts), died"
            } else if let version {
                "migration \(version) was not begun"
            } else {
                "there is no state yet"
            }
        let advice: Message =
            if let marks, marks.isDowngrade(to: current) {
                """
                Version \(marks.newest(above: current)) of the app was started on the data: let it finish, or call reset(to:) in \
                this version (\(current)) if it is rolled back.
                """
            } else {
                "Let the host that migrates start again, and then this one."
            }
        return MigrationError(
            .lockTimeout,
            manager: location.name,
            version: version,
            """
            Manager \(location.name.quoted) waited \(timeout.description) for the migrations that it declares. No host is at work \
            on them in \(location.state): \(reason). Nothing was run by this call. \(advice)
            """
        )
    }

    static func cancelledWaiting(
        _ location: StateLocation,
        _ version: AppVersion?,
        holder: String?
    ) -> MigrationError {
        let wait: Message =
            holder.map { "while manager \(location.name.quoted) waited for \($0)" }
            ?? "before manager \(location.name.quoted) took the lease"
        return MigrationError(
            .cancelled,
            manager: location.name,
            version: version,
            underlying: CancellationError(),
            """
            The task was cancelled \(wait) in \(location.state). Nothing was run. Make a new manager to try again.
            """
        )
    }

    static func cancelledReading(_ cause: any Error, _ location: StateLocation) -> MigrationError {
        MigrationError(
            .cancelled,
            manager: location.name,
            underlying: cause,
            """
            The task was cancelled while the state of manager \(location.name.quoted), \(location.state), was read: \
            \(sentence(cause)) Nothing was run or written. Make a new manager to try again.
            """
        )
    }

    static func leaseLost(
        _ loss: LeaseLoss,
        _ version: AppVersion,
        _ location: StateLocation,
        begun: Bool = true
    ) -> MigrationError {
        let reason: Message =
            switch loss {
            case .notRenewed(let time): "it could not be renewed in the store for \(time.description)"
            case .taken(.some(let owner)): "\(owner) has taken over"
            case .taken(nil): "another host has written the document since"
            }
        let consequence: Message =
            begun
            ? """
            The closure's task was cancelled, and nothing of it was recorded: the migration runs again, here or elsewhere. \
            What it did outside of the store stays.
            """
            : "Its closure was not called, and nothing was recorded: the migration runs later, here or elsewhere."
        return MigrationError(
            .leaseLost,
            manager: location.name,
            version: version,
            """
            This host lost its lease on migration \(version) of manager \(location.name.quoted), \(location.state): \(reason). \
            \(consequence) Make a new manager, which reads the state again.
            """
        )
    }

    /// `second` is why the store couldn't be asked; `nil` where it didn't know for long.
    static func commitUnanswered(
        _ cause: any Error,
        _ version: AppVersion,
        _ location: StateLocation,
        _ second: MigrationError?
    ) -> MigrationError {
        let reason: Message =
            second.map { "The store could not be asked: \($0.description)" } ?? "The server is still at it."
        return MigrationError(
            .stateNotSaved,
            manager: location.name,
            version: version,
            underlying: cause,
            """
            Whether migration \(version) of manager \(location.name.quoted), \(location.state), was committed is not known: \
            \(sentence(cause)) \(reason) It is in the database and recorded, or neither. Make a new manager, which reads that.
            """
        )
    }
}
