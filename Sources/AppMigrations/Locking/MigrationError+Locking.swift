extension MigrationError {
    /// The error for a lock that could not be had, with its manager and migration.
    @inline(never)
    static func lock(
        _ failure: LockFailure,
        _ location: StateLocation,
        _ version: AppVersion? = nil
    ) -> MigrationError {
        switch failure {
        case .nested: return nested(location, version)
        case .unreadable(let cause): return unreadable(cause, location)
        case .cancelled:
            return lock(
                .cancelled,
                location.lock,
                CancellationError(),
                location,
                version,
                """
                The task was cancelled while manager \(location.name.quoted) waited for the lock \(location.lock). \
                Nothing was run. Make a new manager to try again.
                """
            )
        case .timedOut(let timeout, let holder, let cause):
            let holder = holder.map { "process \($0)" } ?? "a process that can't be named"
            return lock(
                .lockTimeout,
                location.lock,
                cause,
                location,
                version,
                """
                Manager \(location.name.quoted) waited \(timeout.description) for the lock \(location.lock), which \(holder) holds. \
                Nothing was run and the state is unchanged. Let that process finish and start again.
                """
            )
        case .unavailable(let cause):
            let reason = Platform.isOtherThanFile(location.lock) ? nil : cause?.description
            return lock(
                .stateNotSaved,
                location.lock,
                cause,
                location,
                nil,
                """
                The lock of manager \(location.name.quoted), \(location.lock), could not be taken: \
                \(reason ?? "it is not a regular file"). Nothing was run and the state is unchanged. \
                Make the folder writable for this process and start again.
                """
            )
        case .holderUnknown(let cause):
            return lock(
                .stateUnreadable,
                location.lock,
                cause,
                location,
                nil,
                """
                Whether a process is migrating can't be told from the lock of manager \(location.name.quoted), \
                \(location.lock): \(cause). Nothing was run or written. Let this process read that file, or plan without \
                attemptLimit.
                """
            )
        case .claimUnknown(let cause):
            return lock(
                .stateNotSaved,
                location.snapshot,
                cause,
                location,
                nil,
                """
                The lock of manager \(location.name.quoted), \(location.lock), could not be taken: whether a closure is \
                running can't be told from \(location.snapshot), \(cause). Nothing was run and the state is unchanged. \
                Make that folder readable for this process and start again.
                """
            )
        }
    }

    @inline(never)
    private static func lock(
        _ code: Code,
        _ path: String,
        _ cause: (any Error)?,
        _ location: StateLocation,
        _ version: AppVersion?,
        _ message: Message
    ) -> MigrationError {
        MigrationError(
            code,
            manager: location.name,
            version: version,
            path: path,
            underlying: cause,
            message
        )
    }

    package static func nested(_ location: StateLocation, _ version: AppVersion?) -> MigrationError {
        lock(
            .nested,
            location.state,
            nil,
            location,
            version,
            """
            A manager of the state \(location.state) was used while a closure, or the plan, of manager \
            \(location.name.quoted) with the same state was under way: it would wait for itself. \
            Nothing was run by this call. In a plan, use the manager that is handed in; elsewhere declare \
            the version beside the other, not inside it, and await it in asynchronous code.
            """
        )
    }
}
