/// What `upgradesFrom` asks of the data: a migration that is no longer declared is never skipped without a word.
extension MigrationManager.Options {
    /// The oldest version that the data may be at; zero where every one will do.
    @inline(never)
    package func earliestUpgrade(
        to current: AppVersion,
        _ location: StateLocation
    ) throws(MigrationError) -> AppVersion {
        guard let upgradesFrom else { return .zero }
        switch AppVersion.read(upgradesFrom) {
        case .version(let version):
            if version.exceeds(current) { throw .tooNewEarliest(version, current: current, location) }
            return version
        case .problem(let problem): throw .invalidEarliest(upgradesFrom, problem, location)
        }
    }
}

extension MigrationManager.Options {
    /// Throws where the state, as it was read without the lock, is too old.
    ///
    /// Files that wait to be put back come first, since the error doesn't forbid to write to them: `catchUp` throws then.
    @inline(never)
    func requireUpgradable(
        asRead marks: borrowing StateMarks,
        to current: AppVersion,
        _ location: StateLocation
    ) throws(MigrationError) {
        guard upgradesFrom != nil else { return }
        let earliest = try earliestUpgrade(to: current, location)
        if marks.hasLeftover, !isReadOnly { return }
        try marks.requireUpgradable(from: earliest, to: current, location)
    }

    /// The same for marks that were read under the lock, or that are all that can be known while another process has it.
    @inline(never)
    package func requireUpgradable(
        _ marks: StateMarks,
        to current: AppVersion,
        _ location: StateLocation
    ) throws(MigrationError) {
        guard upgradesFrom != nil else { return }
        let earliest = try earliestUpgrade(to: current, location)
        // Under the lock files may have been put back.
        try marks.requireUpgradable(from: earliest, to: current, location, "Nothing was run.")
    }
}

extension StateMarks {
    /// Throws where an app that upgrades from `upgradesFrom` at the earliest lacks migrations that the data needs.
    @inline(never)
    func requireUpgradable(
        from earliest: AppVersion,
        to current: AppVersion,
        _ location: StateLocation,
        _ end: Message = "Nothing was run or changed."
    ) throws(MigrationError) {
        if isOlder(than: earliest) { throw .tooOld(lastRun, earliest, current: current, location, end) }
    }

    /// Whether something below `earliest` may have to run, or to run again.
    ///
    /// The mark zero is that of a subsystem that builds itself from nothing, which needs nothing older. It has to be made by a
    /// release that could say so, and nothing older may have been begun in it.
    func isOlder(than earliest: AppVersion) -> Bool {
        guard lastRun < earliest else { return false }
        if lastRun != .zero || launched < earliest { return true }
        return interruption.map { $0.version < earliest } == true
            || attempted.contains { $0.version < earliest }
    }
}

extension MigrationError {
    static func tooOld(
        _ found: AppVersion,
        _ earliest: AppVersion,
        current: AppVersion,
        _ location: StateLocation,
        _ end: Message
    ) -> MigrationError {
        MigrationError(
            .tooOld,
            manager: location.name,
            version: found,
            path: location.path,
            """
            The data of manager \(location.name.quoted), \(location.state), is at version \(found), and version \(current) of \
            the app upgrades from \(earliest) at the earliest. \(end) Start a release first that upgrades from \(found).
            """
        )
    }

    static func invalidEarliest(
        _ text: String,
        _ problem: AppVersion.TextProblem,
        _ location: StateLocation
    ) -> MigrationError {
        MigrationError(
            .invalidVersion,
            manager: location.name,
            path: location.path,
            """
            \(problem.description(of: text)) It is the upgradesFrom of manager \(location.name.quoted), \(location.state). \
            Nothing was run or changed.
            """
        )
    }

    static func tooNewEarliest(_ version: AppVersion, current: AppVersion, _ location: StateLocation)
        -> MigrationError
    {
        MigrationError(
            .newerThanCurrentVersion,
            manager: location.name,
            version: version,
            path: location.path,
            """
            The upgradesFrom \(version) of manager \(location.name.quoted), \(location.state), is newer than the app \
            (\(current)). Name the newest version whose migration is no longer declared. Nothing was run or changed.
            """
        )
    }
}
