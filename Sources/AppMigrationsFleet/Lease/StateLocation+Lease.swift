internal import AppMigrations
internal import AppMigrationsSQL

extension StateLocation {
    /// Identifies the code that runs under the lease of `owner`, or in a plan, so that nested calls are
    /// noticed.
    ///
    /// It isn't the location of a state.
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

    /// True if the call to the store that ended with this error may succeed later by itself.
    ///
    /// Stores other than PostgreSQL throw errors of unknown types. They count as transient, because most of
    /// them mean that the store can't be reached.
    private static func isTransient(_ cause: any Error) -> Bool { (cause as? SQLError)?.isTransient ?? true }

    private static func advice(after cause: any Error) -> Message {
        isTransient(cause)
            ? "Try again when the store can be reached."
            : "Fix the cause of this error, and start again."
    }

    /// `cause` is `nil` if the store refused every try although nobody else had changed the document.
    func notSaved(
        because cause: (any Error)?,
        version: AppVersion?,
        consequence: Message
    ) -> MigrationError {
        let reason =
            cause.map(MigrationError.sentence)
            ?? "the store refused every try, as if another host had changed the state, but none had."
        return error(
            .stateNotSaved,
            version: version,
            because: cause,
            isTransient: cause.map(Self.isTransient) ?? true,
            "The state of \(self) could not be saved: \(reason) The store has the old state.",
            advice: cause.map(Self.advice) ?? "Try again."
        ).ending(in: .text(consequence))
    }

    /// `holder` is `nil` if no read of the store has succeeded.
    func timedOut(
        after timeout: Duration,
        waitingFor holder: String?,
        version: AppVersion?
    ) -> MigrationError {
        error(
            .lockTimeout,
            version: version,
            isTransient: true,
            "The \(self) waited \(timeout.description) for \(holder ?? "an answer from its store").",
            advice: holder == nil
                ? "Check that the store is up, and start again."
                : "Let it finish, and start again."
        )
    }

    func cancelled(
        _ moment: Message,
        version: AppVersion? = nil,
        because cause: any Error = CancellationError()
    ) -> MigrationError {
        error(
            .cancelled,
            version: version,
            because: cause,
            "The task was cancelled \(moment).",
            advice: "Create a new manager to try again."
        )
    }

    func leaseLost(_ loss: LeaseLoss, version: AppVersion) -> MigrationError {
        let reason: Message =
            switch loss {
            case .notRenewed(let time): "it could not be renewed in the store for \(time.description)"
            case .taken(.some(let owner)): "\(owner) has taken over"
            case .taken(nil): "another host has replaced the document"
            case .documentIsOlder:
                "the store has an older document than the one that this host saved, as after a failover or a restored backup"
            }
        let message: Message = """
            This host lost its lease on migration \(version) of \(self): \(reason). \
            The migration was not recorded, and runs again here or on another host. Whatever its closure changed outside of the \
            store is not undone. Create a new manager, which reads the state again.
            """
        return error(.leaseLost, version: version, isTransient: true, message)
    }

    /// `found` is the last-run version in the store; `nil` if the store has no state any more.
    func stateBehind(_ found: AppVersion?, seen: AppVersion, version: AppVersion?) -> MigrationError {
        let now: Message =
            found.map { "has the last-run version \($0), and this manager has seen \(seen)" }
            ?? "existed when the manager was created, but it no longer exists"
        let fence: Message =
            found == nil
            ? """
             The new state counts its fencing tokens from 1 again. If another system rejects tokens below the highest one that it \
            has seen, reset the token there.
            """ : ""
        return error(
            .stateBehind,
            version: version,
            isTransient: true,
            """
            The state of \(self) \(now). It was reset, or a failover or a restored backup has lost its last changes.
            """,
            advice: "Create a new manager and declare every migration again.\(fence)"
        )
    }

    /// `checkError` is the error of the check after the commit.
    ///
    /// `nil` means that the store could be asked, and that the transaction had not ended.
    func commitUnanswered(
        _ cause: any Error,
        version: AppVersion,
        checkError: MigrationError? = nil
    ) -> MigrationError {
        let reason: Message =
            checkError.map { "The store could not be asked: \($0.description)" }
            ?? "The server has not ended the transaction yet."
        let message: Message = """
            It is not known whether migration \(version) of \(self) was committed: \(MigrationError.sentence(cause)) \(reason) \
            The database has either both the work and the record of the migration, or neither. Create a new manager, which reads \
            the state again.
            """
        return error(.stateNotSaved, version: version, because: cause, isTransient: true, message)
    }
}
