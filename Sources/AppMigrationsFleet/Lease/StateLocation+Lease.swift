internal import AppMigrations
internal import AppMigrationsSQL

extension StateLocation {
    /// The mark of code that runs under a lease, or in a plan.
    func token(of owner: String) -> StateLocation {
        StateLocation(name: name, directory: owner, store: owner)
    }

    func unreadable(_ cause: any Error, _ consequence: Message) -> MigrationError {
        let message: Message = """
            The state of \(self) could not be read: \(MigrationError.sentence(cause)) \
            \(consequence)\(Self.advice(after: cause))
            """
        return error(.stateUnreadable, because: cause, message)
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
    func notSaved(_ cause: (any Error)?, _ version: AppVersion?, _ consequence: Message) -> MigrationError {
        let reason =
            cause.map(MigrationError.sentence)
            ?? "The store refused it each time, as if another host had been faster."
        let message: Message = """
            The state of \(self) could not be saved: \(reason) \
            The old state stands. \(consequence)\(Self.advice(after: cause))
            """
        return error(.stateNotSaved, version, because: cause, message)
    }

    /// `holder` is `nil` where the store was not read once.
    func timedOut(_ timeout: Duration, _ holder: String?, _ version: AppVersion?) -> MigrationError {
        let reason: Message =
            holder.map { "\($0), at work on \(state)" } ?? "an answer of the store with \(state)"
        let advice: Message = holder == nil ? "Look whether the store is up" : "Let it finish"
        let message: Message = """
            Manager \(name.quoted) waited \(timeout.description) for \(reason). Nothing was run and the state is unchanged. \
            \(advice) and start again.
            """
        return error(.lockTimeout, version, isTransient: true, message)
    }

    func cancelled(
        _ moment: Message,
        _ version: AppVersion? = nil,
        _ consequence: Message = "Nothing was run.",
        _ cause: any Error = CancellationError()
    ) -> MigrationError {
        let message: Message = """
            The task was cancelled \(moment). \(consequence) Make a new manager to try again.
            """
        return error(.cancelled, version, because: cause, message)
    }

    func leaseLost(_ loss: LeaseLoss, _ version: AppVersion) -> MigrationError {
        let reason: Message =
            switch loss {
            case .notRenewed(let time): "it could not be renewed in the store for \(time.description)"
            case .taken(.some(let owner)): "\(owner) has taken over"
            case .taken(nil): "another host has written the document since"
            case .setBack: "the store has gone back to an older document than was saved in it"
            }
        let message: Message = """
            This host lost its lease on migration \(version) of \(self): \(reason). \
            Nothing of it was recorded: it runs again, here or elsewhere. What its closure did outside of the store stays. \
            Make a new manager, which reads the state again.
            """
        return error(.leaseLost, version, message)
    }

    /// `second` is why the store couldn't be asked; `nil` where it didn't know for long.
    func commitUnanswered(
        _ cause: any Error,
        _ version: AppVersion,
        _ second: MigrationError? = nil
    ) -> MigrationError {
        let reason: Message =
            second.map { "The store could not be asked: \($0.description)" } ?? "The server is still at it."
        let message: Message = """
            Whether migration \(version) of \(self) was committed is not known: \(MigrationError.sentence(cause)) \(reason) \
            It is in the database and recorded, or neither. Make a new manager, which reads that.
            """
        return error(.stateNotSaved, version, because: cause, message)
    }
}
