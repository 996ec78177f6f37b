/// The app as a state meets it: its version, and the oldest data that it upgrades.
package struct AppRelease: Sendable {
    package let version: AppVersion
    /// What `upgradesFrom` names; zero where every version will do.
    package let earliest: AppVersion
    package let location: StateLocation

    /// - Throws: ``MigrationError`` with the code `invalidVersion` or `newerThanCurrentVersion`, for `upgradesFrom`.
    package init(
        _ version: AppVersion,
        upgradesFrom: String?,
        _ location: StateLocation
    ) throws(MigrationError) {
        self.version = version
        self.location = location
        guard let upgradesFrom else {
            earliest = .zero
            return
        }
        do throws(VersionReader.Problem) {
            earliest = try VersionReader.read(upgradesFrom)
        } catch {
            throw .invalidEarliest(upgradesFrom, error, location)
        }
        if earliest.exceeds(version) { throw .tooNewEarliest(earliest, current: version, location) }
    }

    /// The version at which a fresh install begins.
    ///
    /// The sub-migrations of the app's own release belong to it, also those that are no longer declared: a fresh install is never
    /// too old.
    package var baseline: AppVersion { max(version, earliest) }

    /// Throws where the data needs migrations that this app no longer has: they are never skipped without a word.
    ///
    /// `end` says what had happened by then.
    ///
    /// - Throws: ``MigrationError`` with the code `tooOld`.
    package func requireUpgradable(_ marks: StateMarks, _ end: Message) throws(MigrationError) {
        if isTooOld(marks) { throw .tooOld(marks.lastRun, earliest, current: version, location, end) }
    }

    /// Whether something below `earliest` may have to run, or to run again.
    ///
    /// The mark zero is that of a subsystem that builds itself from nothing, which needs nothing older. It has to be made by a
    /// release that could say so, and nothing older may have been begun in it.
    private func isTooOld(_ marks: StateMarks) -> Bool {
        guard marks.lastRun < earliest else { return false }
        if marks.lastRun != .zero || earliest.exceeds(marks.launched) { return true }
        return marks.interruption.map { $0.version < earliest } == true
            || marks.attempted.contains { $0.version < earliest }
    }
}

extension AppRelease {
    /// Reads the version to which a mark is to be set.
    ///
    /// - Throws: ``MigrationError`` with the code `invalidVersion`, `newerThanCurrentVersion` or `tooOld`.
    package func mark(_ text: String) throws(MigrationError) -> StateMarks {
        let mark = try AppVersion(text, manager: location.name)
        if mark.exceeds(version) { throw .tooNewReset(mark, current: version, location) }
        let marks = StateMarks(lastRun: mark, baseline: mark, launched: version)
        try requireUpgradable(marks, "The mark was not set.")
        return marks
    }

    /// The state after its mark was set, which leaves only the oldest app that may use the data.
    ///
    /// - Throws: ``MigrationError`` with the code `overtaken`.
    package func resetting(
        _ state: MigrationState,
        to marks: StateMarks
    ) throws(MigrationError) -> MigrationState {
        let floor = state.marks.minimumAppVersion
        if floor.exceeds(version) { throw .resetBelowFloor(floor, current: version, location) }
        var state = state
        state.marks = marks
        state.marks.minimumAppVersion = floor
        return state
    }
}

extension MigrationError {
    package static func tooOld(
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
        _ problem: VersionReader.Problem,
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
