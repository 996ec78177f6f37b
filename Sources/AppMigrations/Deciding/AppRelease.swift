/// The app as a state meets it: its version, and the oldest data that it upgrades.
package struct AppRelease: Sendable {
    package let version: AppVersion
    /// The version that `upgradesFrom` names; zero where every version will do.
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
        earliest = try AppVersion(upgradesFrom) { problem in
            let end: Message = "It is the upgradesFrom of \(location). Nothing was run or changed."
            return location.error(.invalidVersion, nil, "\(problem) \(end)")
        }
        if !earliest.exceeds(version) { return }
        let text: Message = """
            The upgradesFrom \(earliest) of \(location), is newer than the app (\(version)). Name the newest version whose \
            migration is no longer declared. Nothing was run or changed.
            """
        throw location.error(.newerThanCurrentVersion, earliest, text)
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
    package func requireUpgradable(_ marks: StateMarks, _ end: @autoclosure () -> Message)
        throws(MigrationError)
    {
        if isTooOld(marks) { throw tooOld(marks.lastRun, end()) }
    }

    func tooOld(_ found: AppVersion, _ end: Message) -> MigrationError {
        let text: Message = """
            The data of \(location), is at version \(found), and version \(version) of the app upgrades from \(earliest) at the \
            earliest. \(end) Start a release first that upgrades from \(found).
            """
        return location.error(.tooOld, found, text)
    }

    /// True if something below `earliest` may have to run, or to run again.
    ///
    /// A mark of zero means that the subsystem builds itself from nothing, so nothing older is missing. That holds only if a
    /// release which knew `upgradesFrom` made the state, and if no older migration was begun.
    private func isTooOld(_ marks: StateMarks) -> Bool {
        guard marks.lastRun < earliest else { return false }
        if marks.lastRun != .zero || earliest.exceeds(marks.launched) { return true }
        return marks.interruption.map { $0.version < earliest } == true
            || marks.attempted.contains { $0.version < earliest }
    }
}

extension AppRelease {
    func newer(_ declared: AppVersion) -> MigrationError {
        let text: Message = """
            Version \(declared) is newer than the app (\(version)) in \(location). Raise the app's version or remove the \
            migration. It was not run.
            """
        return location.error(.newerThanCurrentVersion, declared, text)
    }

    /// Reads the version to which a mark is to be set.
    ///
    /// - Throws: ``MigrationError`` with the code `invalidVersion`, `newerThanCurrentVersion` or `tooOld`.
    package func mark(_ text: String) throws(MigrationError) -> StateMarks {
        let mark = try AppVersion(text, manager: location.name)
        if mark.exceeds(version) {
            let text: Message = """
                The version \(mark) of reset(to:) is newer than the app (\(version)) in \(location). Pass the version that the \
                data is at. Nothing was run or changed.
                """
            throw location.error(.newerThanCurrentVersion, mark, text)
        }
        let marks = StateMarks(lastRun: mark, baseline: mark, launched: version)
        try requireUpgradable(marks, "The mark was not set.")
        return marks
    }

    func baseline(ofExistingData text: String) throws(MigrationError) -> AppVersion {
        let found = try AppVersion(text) { problem in
            let text: Message = """
                \(problem) firstRun: of manager \(location.name.quoted) gave it. No state was written to \
                \(location.state) and nothing was run; each start asks again. Let firstRun: answer with a version that can \
                be read: the release that the text begins with, or the oldest whose data this can be.
                """
            return location.error(.invalidVersion, nil, text)
        }
        if found.exceeds(version) {
            let text: Message = """
                The version \(found) that firstRun: of manager \(location.name.quoted) gave is newer than the app (\(version)). \
                No state was written to \(location.state) and nothing was run; each start asks again. Where the data is a \
                newer app's, start that one; else let firstRun: answer with the version that the data is at, at most the \
                app's.
                """
            throw location.error(.newerThanCurrentVersion, found, text)
        }
        if found < earliest { throw tooOld(found, "No state was written and nothing was run.") }
        return found
    }

    /// The state after its mark was set, which leaves only the oldest app that may use the data.
    ///
    /// - Throws: ``MigrationError`` with the code `overtaken`.
    package func resetting(
        _ state: MigrationState,
        to marks: StateMarks
    ) throws(MigrationError) -> MigrationState {
        if let floor = state.marks.floor(above: version) {
            let text: Message = """
                The data of \(location), is for version \(floor) of the app and later; this is \(version). The mark was not set. \
                Start version \(floor). Where older data was put back in its place, forget the state, and say with firstRun: at \
                which version that data is.
                """
            throw location.error(.overtaken, floor, text)
        }
        var next = state
        next.marks = marks
        next.marks.raiseFloor(to: state.marks.minimumAppVersion)
        return next
    }
}
