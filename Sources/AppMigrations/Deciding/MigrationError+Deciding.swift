extension MigrationError {
    /// The error that a decision stands for, if it stands for one.
    @inline(never)
    package static func refusal(
        of decision: MigrationDecision,
        _ version: AppVersion,
        current: AppVersion,
        _ location: StateLocation
    ) -> MigrationError? {
        switch decision {
        case .outOfOrder(let previous): .outOfOrder(version, after: previous, location)
        case .newerThanCurrent: .newer(version, current: current, location)
        case .overtaken(let newer): .overtaken(version, by: newer, current: current, location)
        case .setBack: .setBack(version, location)
        case .attemptLimitReached(let deaths): .attemptLimitReached(version, deaths: deaths, location)
        case .run, .alreadyRun, .joinsBaseline, .heldByDowngrade: nil
        }
    }

    static func outOfOrder(_ version: AppVersion, after: AppVersion, _ location: StateLocation)
        -> MigrationError
    {
        let reason: Message =
            after == .zero
            ? "Version 0 is the mark of a state in which nothing ran, and can't be a migration's"
            : "Migration \(version) is declared after \(after) and doesn't lie after it"
        return MigrationError(
            .outOfOrder,
            manager: location.name,
            version: version,
            path: location.path,
            """
            \(reason), in manager \(location.name.quoted), \(location.state). \
            Declare each version once, in rising order. It was not run.
            """
        )
    }

    static func newer(_ version: AppVersion, current: AppVersion, _ location: StateLocation) -> MigrationError
    {
        MigrationError(
            .newerThanCurrentVersion,
            manager: location.name,
            version: version,
            path: location.path,
            """
            Version \(version) is newer than the app (\(current)) in manager \(location.name.quoted), \
            \(location.state). Raise the app's version or remove the migration. It was not run.
            """
        )
    }

    static func invalidFloor(
        _ text: String,
        _ problem: VersionReader.Problem,
        of version: AppVersion,
        _ location: StateLocation
    ) -> MigrationError {
        MigrationError(
            .invalidVersion,
            manager: location.name,
            version: version,
            path: location.path,
            """
            \(problem.description(of: text)) It is the minimumAppVersion: of migration \(version) in manager \
            \(location.name.quoted), \(location.state). The migration was not run.
            """
        )
    }

    static func floorAbove(_ floor: AppVersion, of version: AppVersion, _ location: StateLocation)
        -> MigrationError
    {
        MigrationError(
            .outOfOrder,
            manager: location.name,
            version: version,
            path: location.path,
            """
            The minimumAppVersion: \(floor) of migration \(version) in manager \(location.name.quoted), \(location.state), lies \
            above the migration: an app of that very version could not use the data. Name at most \(version). It was not run.
            """
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
            path: location.path,
            """
            Migration \(version) was not run: version \(newer) of the app was started on the data of manager \
            \(location.name.quoted), \(location.state), after this manager of version \(current) was made. Nothing was \
            changed by this call. Write nothing to the data before a new manager says whether this version may use it: where its \
            requiredAppVersion is nil, it may; else start version \(newer) or a later one.
            """
        )
    }

    package static func setBack(_ version: AppVersion, _ location: StateLocation) -> MigrationError {
        MigrationError(
            .blocked,
            manager: location.name,
            version: version,
            path: location.path,
            """
            Migration \(version) was not run: the state of manager \(location.name.quoted), \(location.state), was set back \
            after this manager was made, and what is pending again was declared before. Make a new manager.
            """
        )
    }

    static func secondDeclaration(_ text: String, _ location: StateLocation) -> MigrationError {
        MigrationError(
            .nested,
            manager: location.name,
            version: AppVersion(text),
            path: location.path,
            """
            Version \(text.quoted) was not run: another declaration of this manager \(location.name.quoted), \(location.state), is \
            under way. Declare one version after the other, or let concurrent callers make a manager each. Nothing was changed \
            by this call, and the manager goes on.
            """
        )
    }

    static func attemptLimitReached(_ version: AppVersion, deaths: Int, _ location: StateLocation)
        -> MigrationError
    {
        MigrationError(
            .attemptLimitReached,
            manager: location.name,
            version: version,
            path: location.path,
            """
            Migration \(version) of manager \(location.name.quoted) was not run: \(deaths) processes of this app \
            version died in it, as many as attemptLimit allows. The state \(location.state) is unchanged. \
            Offer a way to recover; resetAttempts() lets the next manager try again, and so does a new app version, \
            reset(to:) or a higher limit.
            """
        )
    }

    package static func blocked(_ version: AppVersion?, by first: MigrationError, _ location: StateLocation)
        -> MigrationError
    {
        let subject: Message = version.map { "Migration \($0) was not run" } ?? "Nothing was run"
        let reason: Message =
            first.code == .blocked
            ? ". \(first.description)"
            : """
            : manager \(location.name.quoted) has been closed since an earlier failure. \
            Mend that and make a new manager. The first failure: \(first.description)
            """
        return MigrationError(
            .blocked,
            manager: location.name,
            version: version,
            path: location.path,
            underlying: first,
            "\(subject)\(reason)"
        )
    }
}
