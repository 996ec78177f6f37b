extension MigrationError {
    static func unknownCurrentVersion(_ manager: String) -> MigrationError {
        MigrationError(
            .unknownCurrentVersion,
            manager: manager,
            "Manager \(quoted(manager)) was given no currentVersion:, and the main bundle has no "
                + "CFBundleShortVersionString. Nothing was run. Pass currentVersion:."
        )
    }

    static func invalidName(_ name: String, length: Int) -> MigrationError {
        let reason =
            name.isEmpty
            ? "A manager's name can't be empty."
            : "The manager's name \(quoted(name)) takes \(length) bytes in a file name; "
                + "\(StateLocation.nameLimit) are possible."
        return MigrationError(.invalidName, manager: name, "\(reason) Nothing was run. Pass another name.")
    }

    static func outOfOrder(_ version: AppVersion, after: AppVersion, _ location: StateLocation)
        -> MigrationError
    {
        let reason =
            after == .zero
            ? "Version 0 is the mark of a state in which nothing ran, and can't be a migration's"
            : "Migration \(version) is declared after \(after) and doesn't lie after it"
        return MigrationError(
            .outOfOrder,
            manager: location.name,
            version: version,
            path: location.state,
            "\(reason), in manager \(quoted(location.name)), \(location.state). "
                + "Declare each version once, in rising order. It was not run."
        )
    }

    static func setBack(_ version: AppVersion, _ location: StateLocation) -> MigrationError {
        MigrationError(
            .blocked,
            manager: location.name,
            version: version,
            path: location.state,
            "Migration \(version) was not run: the state of manager \(quoted(location.name)), \(location.state), was set back "
                + "after this manager was made, and what is pending again was declared before. Make a new manager."
        )
    }

    static func overtaken(
        _ version: AppVersion,
        by newer: AppVersion,
        current: AppVersion,
        _ location: StateLocation
    ) -> MigrationError {
        MigrationError(
            .overtaken,
            manager: location.name,
            version: version,
            path: location.state,
            "Migration \(version) was not run: version \(newer) of the app was started on the data of manager "
                + "\(quoted(location.name)), \(location.state), after this manager of version \(current) was made. Nothing was "
                + "changed by this call. Write nothing to the data, and start version \(newer) or a later one."
        )
    }

    static func blocked(_ version: AppVersion?, by first: MigrationError, _ location: StateLocation)
        -> MigrationError
    {
        let subject = version.map { "Migration \($0) was not run" } ?? "Nothing was run"
        let reason =
            first.code == .blocked
            ? ". \(first.description)"
            : ": manager \(quoted(location.name)) has been closed since an earlier failure. "
                + "Mend that and make a new manager. The first failure: \(first.description)"
        return MigrationError(
            .blocked,
            manager: location.name,
            version: version,
            path: location.state,
            underlying: first,
            subject + reason
        )
    }

    static func forgotten(_ location: StateLocation) -> MigrationError {
        MigrationError(
            .blocked,
            manager: location.name,
            path: location.state,
            "The state of manager \(quoted(location.name)), \(location.state), was forgotten through this manager. "
                + "The next manager is a first run."
        )
    }

    static func planEnded(_ location: StateLocation) -> MigrationError {
        MigrationError(
            .blocked,
            manager: location.name,
            path: location.state,
            "This manager was handed out for a plan of the state \(location.state), and the plan is over. "
                + "Declare with the manager that was asked for the plan."
        )
    }

    static func nested(_ location: StateLocation, _ version: AppVersion?) -> MigrationError {
        MigrationError(
            .nested,
            manager: location.name,
            version: version,
            path: location.state,
            "A manager of the state \(location.state) was used while a closure, or the plan, of manager "
                + "\(quoted(location.name)) with the same state was under way: it would wait for itself. "
                + "Nothing was run by this call. In a plan, use the manager that is handed in; elsewhere declare "
                + "the version beside the other, not inside it, and await it in asynchronous code."
        )
    }

    static func failed(
        _ version: AppVersion,
        attempt: Int,
        _ cause: any Error,
        _ location: StateLocation,
        consequence: String
    ) -> MigrationError {
        let isCancelled = cause is CancellationError
        let verb = isCancelled ? "was cancelled" : "failed"
        return MigrationError(
            isCancelled ? .cancelled : .migrationFailed,
            manager: location.name,
            version: version,
            path: location.state,
            underlying: cause,
            "Migration \(version) of manager \(quoted(location.name)) \(verb) in attempt \(attempt): "
                + "\(sentence(cause)) It is not recorded in \(location.state) and runs again with the next manager.\(consequence)"
        )
    }

    static func cancelledWaiting(_ location: StateLocation, _ version: AppVersion?) -> MigrationError {
        MigrationError(
            .cancelled,
            manager: location.name,
            version: version,
            path: location.lock,
            underlying: CancellationError(),
            "The task was cancelled while manager \(quoted(location.name)) waited for the lock \(location.lock). "
                + "Nothing was run. Make a new manager to try again."
        )
    }

    static func attemptLimitReached(_ version: AppVersion, deaths: Int, _ location: StateLocation)
        -> MigrationError
    {
        MigrationError(
            .attemptLimitReached,
            manager: location.name,
            version: version,
            path: location.state,
            "Migration \(version) of manager \(quoted(location.name)) was not run: \(deaths) processes of this app "
                + "version died in it, as many as attemptLimit allows. The state \(location.state) is unchanged. "
                + "Offer a way to recover; a new app version, reset(to:) or a higher limit lets it run again."
        )
    }

    static func firstRunFailed(_ cause: any Error, _ location: StateLocation) -> MigrationError {
        MigrationError(
            .firstRunFailed,
            manager: location.name,
            path: location.state,
            underlying: cause,
            "The firstRun: expression of manager \(quoted(location.name)) failed: \(sentence(cause)) "
                + "No state was written to \(location.state) and nothing was run; the next manager asks again."
        )
    }

    static func quoted(_ text: String) -> String { MigrationState.quoted(text) }

    /// Somebody else's text for an error, with one mark at its end.
    static func sentence(_ cause: any Error) -> String {
        let text = String(describing: cause)
        return text.hasSuffix(".") || text.hasSuffix("!") || text.hasSuffix("?") ? text : text + "."
    }
}
