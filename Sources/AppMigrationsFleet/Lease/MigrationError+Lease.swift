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

    /// True where the store refused each time, and nobody else wrote.
    var isRefusal: Bool { code == .stateNotSaved && underlyingError == nil }

    /// `holder` is `nil` where the store was not read once.
    static func timedOut(
        _ timeout: Duration,
        _ holder: String?,
        _ location: StateLocation,
        _ version: AppVersion?
    ) -> MigrationError {
        let reason: Message =
            holder.map { "\($0), at work on \(location.state)" }
            ?? "an answer of the store with \(location.state)"
        let advice: Message = holder == nil ? "Look whether the store is up" : "Let it finish"
        let message: Message = """
            Manager \(location.name.quoted) waited \(timeout.description) for \(reason). Nothing was run and the state is \
            unchanged. \(advice) and start again.
            """
        return location.error(.lockTimeout, version, message)
    }

    static func cancelled(
        _ moment: Message,
        _ location: StateLocation,
        _ version: AppVersion?,
        _ consequence: Message = "Nothing was run.",
        _ cause: any Error = CancellationError()
    ) -> MigrationError {
        let message: Message = """
            The task was cancelled \(moment). \(consequence) Make a new manager to try again.
            """
        return location.error(.cancelled, version, because: cause, message)
    }

    static func leaseLost(
        _ loss: LeaseLoss,
        _ version: AppVersion,
        _ location: StateLocation,
        begun: Bool = true
    ) -> MigrationError {
        let reason: Message =
            switch loss {
            case .notRenewed(let time, let blocker):
                """
                it could not be renewed in the store for \(time.description)\(blocker.map { ", where \($0) has its row" } ?? "")
                """
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
