internal import AppMigrations
internal import AppMigrationsSQL

extension StateLocation {
    /// The mark of code that runs under a lease, or in a plan.
    func token(of owner: String) -> StateLocation {
        StateLocation(name: name, directory: owner, store: owner)
    }

    func unreadable(_ cause: any Error) -> MigrationError {
        error(
            .stateUnreadable,
            because: cause,
            isTransient: Self.isTransient(cause),
            "The state of \(self) could not be read: \(MigrationError.sentence(cause))",
            advice: Self.advice(after: cause)
        )
    }

    /// True if a call of the store that ended with this error may succeed later without anyone doing
    /// anything.
    ///
    /// A store that isn't PostgreSQL throws errors of its own, and most often because it can't be reached.
    private static func isTransient(_ cause: any Error) -> Bool { (cause as? SQLError)?.isTransient ?? true }

    private static func advice(after cause: any Error) -> Message {
        isTransient(cause)
            ? "Try again when the store can be reached."
            : "Correct the reason for the refusal, and start again."
    }

    /// Without a cause the store refused each time, and nobody else wrote.
    func notSaved(_ cause: (any Error)?, _ version: AppVersion?, _ consequence: Message) -> MigrationError {
        let reason =
            cause.map(MigrationError.sentence)
            ?? "the store refused each try, as if another host had been faster."
        return error(
            .stateNotSaved,
            version: version,
            because: cause,
            isTransient: cause.map(Self.isTransient) ?? true,
            "The state of \(self) could not be saved: \(reason) The store has the old state.",
            advice: cause.map(Self.advice) ?? "Try again."
        ).adding(consequence)
    }

    /// `holder` is `nil` where the store was not read once.
    func timedOut(_ timeout: Duration, _ holder: String?, _ version: AppVersion?) -> MigrationError {
        error(
            .lockTimeout,
            version: version,
            isTransient: true,
            "The \(self) waited \(timeout.description) for \(holder ?? "an answer from its store").",
            advice: holder == nil
                ? "Check that the store is up, and start again." : "Let it finish, and start again."
        )
    }

    func cancelled(
        _ moment: Message,
        _ version: AppVersion? = nil,
        _ cause: any Error = CancellationError()
    ) -> MigrationError {
        error(
            .cancelled,
            version: version,
            because: cause,
            "The task was cancelled \(moment).",
            advice: "Create a new manager to try again."
        )
    }

    func leaseLost(_ loss: LeaseLoss, _ version: AppVersion) -> MigrationError {
        let reason: Message =
            switch loss {
            case .notRenewed(let time): "it could not be renewed in the store for \(time.description)"
            case .taken(.some(let owner)): "\(owner) has taken over"
            case .taken(nil): "another host has replaced the document"
            case .setBack: "the store has an older document than the one that this host saved"
            }
        let message: Message = """
            This host lost its lease on migration \(version) of \(self): \(reason). \
            The migration was not recorded, and runs again here or on another host. What its closure did outside of the store \
            stays. Create a new manager, which reads the state again.
            """
        return error(.leaseLost, version: version, isTransient: true, message)
    }

    /// `second` is why the store couldn't be asked; `nil` if it answered, and the transaction had not ended.
    func commitUnanswered(
        _ cause: any Error,
        _ version: AppVersion,
        _ second: MigrationError? = nil
    ) -> MigrationError {
        let reason: Message =
            second.map { "The store could not be asked: \($0.description)" }
            ?? "The server has not ended the transaction yet."
        let message: Message = """
            It is not known whether migration \(version) of \(self) was committed: \(MigrationError.sentence(cause)) \(reason) \
            Either the database has its work and its record, or neither of them. Create a new manager, which reads the state again.
            """
        return error(.stateNotSaved, version: version, because: cause, isTransient: true, message)
    }
}
