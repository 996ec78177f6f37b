extension MigrationError {
    static func lockUnavailable(_ cause: SystemCallError?, _ location: StateLocation) -> MigrationError {
        let reason = Platform.isOtherThanFile(location.lock) ? nil : cause?.description
        return MigrationError(
            .stateNotSaved,
            manager: location.name,
            path: location.lock,
            underlying: cause,
            """
            The lock of manager \(location.name.quoted), \(location.lock), could not be taken: \
            \(reason ?? "it is not a regular file"). Nothing was run and the state is unchanged. \
            Make the folder writable for this process and start again.
            """
        )
    }

    static func claimUnknown(_ cause: SystemCallError, _ location: StateLocation) -> MigrationError {
        MigrationError(
            .stateNotSaved,
            manager: location.name,
            path: location.snapshot,
            underlying: cause,
            """
            The lock of manager \(location.name.quoted), \(location.lock), could not be taken: whether a closure is \
            running can't be told from \(location.snapshot), \(cause). Nothing was run and the state is unchanged. \
            Make that folder readable for this process and start again.
            """
        )
    }

    static func lockTimeout(
        _ timeout: Duration,
        heldBy holder: String,
        _ cause: SystemCallError?,
        _ location: StateLocation,
        _ version: AppVersion?
    ) -> MigrationError {
        MigrationError(
            .lockTimeout,
            manager: location.name,
            version: version,
            path: location.lock,
            underlying: cause,
            """
            Manager \(location.name.quoted) waited \(timeout.description) for the lock \(location.lock), which \(holder) holds. \
            Nothing was run and the state is unchanged. Let that process finish and start again.
            """
        )
    }

    static func cancelledWaiting(_ location: StateLocation, _ version: AppVersion?) -> MigrationError {
        MigrationError(
            .cancelled,
            manager: location.name,
            version: version,
            path: location.lock,
            underlying: CancellationError(),
            """
            The task was cancelled while manager \(location.name.quoted) waited for the lock \(location.lock). \
            Nothing was run. Make a new manager to try again.
            """
        )
    }

    static func nested(_ location: StateLocation, _ version: AppVersion?) -> MigrationError {
        MigrationError(
            .nested,
            manager: location.name,
            version: version,
            path: location.state,
            """
            A manager of the state \(location.state) was used while a closure, or the plan, of manager \
            \(location.name.quoted) with the same state was under way: it would wait for itself. \
            Nothing was run by this call. In a plan, use the manager that is handed in; elsewhere declare \
            the version beside the other, not inside it, and await it in asynchronous code.
            """
        )
    }
}
