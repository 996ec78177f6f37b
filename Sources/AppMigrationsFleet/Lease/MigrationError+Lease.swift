internal import AppMigrations
internal import AppMigrationsSQL

extension MigrationError {
    static func unreadable(_ cause: any Error, _ location: StateLocation, _ consequence: Message)
        -> MigrationError
    {
        let message: Message = """
            The state of \(location), could not be read: \(sentence(cause)) \
            \(consequence)\(advice(after: cause))
            """
        return location.error(.stateUnreadable, because: cause, message)
    }

    /// Nothing to wait for where the server answers and refuses.
    ///
    /// The classes of SQLSTATE are connection exception, insufficient resources, operator intervention and system error.
    private static func advice(after cause: (any Error)?) -> Message {
        if let error = cause as? SQLError {
            let state = error.sqlState.map { ["08", "53", "57", "58"].contains($0.prefix(2)) }
            if !(state ?? (error.underlyingError != nil)) { return "" }
        }
        return " Try again when the store can be reached."
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
        let message: Message = """
            The state of \(location), could not be saved: \(reason) \
            The old state stands. \(consequence)\(advice(after: cause))
            """
        return location.error(.stateNotSaved, version, because: cause, message)
    }

    static func tooLong(_ version: AppVersion?, _ location: StateLocation, _ consequence: Message)
        -> MigrationError
    {
        let message: Message = """
            The state of \(location), would take more than 1 MiB and was not saved. \
            The old state stands. \(consequence)
            """
        return location.error(.stateNotSaved, version, message)
    }

    /// `holder` is `nil` where the store was not read once.
    static func timedOut(
        _ timeout: Duration,
        _ holder: String?,
        _ location: StateLocation,
        _ version: AppVersion?
    ) -> MigrationError {
        let reason: Message =
            holder.map { "\($0), which has the lease in \(location.state)" }
            ?? "an answer of the store with \(location.state)"
        let advice: Message = holder == nil ? "Look whether the store is up" : "Let that host finish"
        let message: Message = """
            Manager \(location.name.quoted) waited \(timeout.description) for \(reason). Nothing was run and the state is \
            unchanged. \(advice) and start again.
            """
        return location.error(.lockTimeout, version, message)
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
                    "the last attempt at migration \(last.version), number \(last.known.attempts), failed with \($0.quoted)"
                }
                    ?? "the host of the last attempt at migration \(last.version), number \(last.known.attempts), died"
            } else if let version {
                "migration \(version) was not begun"
            } else {
                "there is no state yet"
            }
        let advice: Message =
            if let marks, marks.isDowngrade(to: current) {
                """
                Version \(marks.newest(above: current)) of the app was started on the data: let it finish, or call reset(to:) in \
                this version (\(current)) if it is rolled back; the guide Several hosts has its SQL.
                """
            } else {
                "Let the host that migrates start again, and then this one."
            }
        let message: Message = """
            Manager \(location.name.quoted) waited \(timeout.description) for the migrations that it declares. No host is at work \
            on them in \(location.state): \(reason). Nothing was run by this call. \(advice)
            """
        return location.error(.lockTimeout, version, message)
    }

    /// A newer release was started, and has not run what this one declares.
    static func heldBack(
        _ version: AppVersion,
        _ marks: StateMarks,
        _ current: AppVersion,
        _ location: StateLocation
    ) -> MigrationError {
        let newer = marks.newest(above: current)
        let message: Message = """
            Migration \(version) of \(location), was not run: version \(newer) of the app was \
            started on the data, which is at \(marks.lastRun). Nothing was changed by this call. Wait with untilMigrated before \
            this version (\(current)) serves, or call reset(to:) in it if version \(newer) is rolled back; the guide Several hosts has its SQL.
            """
        return location.error(.overtaken, version, message)
    }

    static func cancelledWaiting(
        _ location: StateLocation,
        _ version: AppVersion?,
        holder: String?
    ) -> MigrationError {
        let wait: Message =
            holder.map { "while manager \(location.name.quoted) waited for \($0)" }
            ?? "before manager \(location.name.quoted) took the lease"
        let message: Message = """
            The task was cancelled \(wait) in \(location.state). Nothing was run. Make a new manager to try again.
            """
        return location.error(.cancelled, version, because: CancellationError(), message)
    }

    static func cancelledReading(_ cause: any Error, _ location: StateLocation) -> MigrationError {
        let message: Message = """
            The task was cancelled while the state of \(location), was read: \
            \(sentence(cause)) Nothing was run or written. Make a new manager to try again.
            """
        return location.error(.cancelled, because: cause, message)
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
            case .setBack: "the store has gone back to an older document than was saved in it"
            }
        let consequence: Message =
            begun
            ? """
            The closure's task was cancelled, and nothing of it was recorded: the migration runs again, here or elsewhere. \
            What it did outside of the store stays.
            """
            : "Its closure was not called, and nothing was recorded: the migration runs later, here or elsewhere."
        let message: Message = """
            This host lost its lease on migration \(version) of \(location): \(reason). \
            \(consequence) Make a new manager, which reads the state again.
            """
        return location.error(.leaseLost, version, message)
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
        let message: Message = """
            Whether migration \(version) of \(location), was committed is not known: \
            \(sentence(cause)) \(reason) It is in the database and recorded, or neither. Make a new manager, which reads that.
            """
        return location.error(.stateNotSaved, version, because: cause, message)
    }
}
