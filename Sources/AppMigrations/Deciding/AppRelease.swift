/// The app as a state meets it: its version, and the oldest data that it upgrades; one reference, since so much is handed it.
package final class AppRelease: Sendable {
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
        (self.version, self.location) = (version, location)
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
            The upgradesFrom \(earliest) of \(location) is newer than the app (\(version)). Name the newest version whose \
            migration is no longer declared. Nothing was run or changed.
            """
        throw location.error(.newerThanCurrentVersion, earliest, text)
    }

    /// The version at which a fresh install begins.
    ///
    /// The sub-migrations of the app's own release belong to it, also those that are no longer declared: a fresh install is never
    /// too old.
    package var baseline: AppVersion { max(version, earliest) }

    /// Throws where something below `earliest` may have to run, or to run again: this app no longer has it.
    ///
    /// A mark of zero means that the subsystem builds itself from nothing, so nothing older is missing. That holds only if a
    /// release which knew `upgradesFrom` made the state, and if no older migration was begun. `end` says what had happened by then.
    ///
    /// - Throws: ``MigrationError`` with the code `tooOld`.
    package func requireUpgradable(_ marks: StateMarks, _ end: @autoclosure () -> Message)
        throws(MigrationError)
    {
        if marks.lastRun < earliest, isTooOld(marks) { throw tooOld(marks.lastRun, end()) }
    }

    private func isTooOld(_ marks: StateMarks) -> Bool {
        marks.lastRun != .zero || earliest.exceeds(marks.launched)
            || marks.interruption.map { $0.version < earliest } == true
            || marks.attempted.contains { $0.version < earliest }
    }

    func tooOld(_ found: AppVersion, _ end: Message) -> MigrationError {
        let text: Message = """
            The data of \(location) is at version \(found), and version \(version) of the app upgrades from \(earliest) at the \
            earliest. \(end) Start a release first that upgrades from \(found).
            """
        return location.error(.tooOld, found, text)
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

    /// The refusal of a pending version, since version `newer` of the app has begun to change the data.
    func usedByNewerApp(
        _ declared: AppVersion,
        begun newer: AppVersion,
        in marks: StateMarks
    ) -> MigrationError {
        let isFile = location.path != nil
        let wayOut: Message =
            if marks.minimumAppVersion(above: version) != nil {
                """
                If older data was put in its place, \(isFile ? "call forgetState" : "remove the document"), and answer \
                firstRun: with existingData(at:) and the version of that data.
                """
            } else if marks.lastRun.exceeds(version) {
                "If older data was put in its place, call reset(to:) with the version of that data."
            } else {
                """
                If the data is still as version \(marks.lastRun) left it, call reset(to: \(marks.lastRun.description.quoted)), \
                and everything after it is pending again.
                """
            }
        let fleet: Message = """
             Wait with untilMigrated before this version serves. The guide Several hosts has the SQL of a reset.
            """
        let text: Message = """
            Migration \(declared) of \(location) was not run: version \(newer) of the app has begun to change the data, and this \
            app is version \(version). This call changed nothing. Start version \(newer) or a later one. \(wayOut)\
            \(isFile ? "" : fleet)
            """
        return location.error(.usedByNewerApp, declared, text)
    }

    /// Reads the version to which a mark is to be set.
    ///
    /// - Throws: ``MigrationError`` with the code `invalidVersion`, `newerThanCurrentVersion` or `tooOld`.
    package func mark(_ text: String) throws(MigrationError) -> StateMarks {
        let end: Message = "Nothing was run or changed. Pass the version that the data is at."
        let mark = try read(text, of: "reset(to:)", end)
        let marks = StateMarks(lastRun: mark, baseline: mark, launched: version)
        try requireUpgradable(marks, "The mark was not set.")
        return marks
    }

    func baseline(ofExistingData text: String) throws(MigrationError) -> AppVersion {
        let end: Message = """
            No state was written and nothing was run; each start asks again. Let firstRun: answer with the release that the data \
            is of, or the oldest that it can be of.
            """
        let found = try read(text, of: "firstRun:", end)
        if found < earliest { throw tooOld(found, "No state was written and nothing was run.") }
        return found
    }

    /// Reads the version that the app says its data is at.
    private func read(_ text: String, of source: Message, _ end: Message) throws(MigrationError) -> AppVersion
    {
        let found = try AppVersion(text) { problem in
            location.error(.invalidVersion, nil, "\(problem) It is that of \(source) in \(location). \(end)")
        }
        if !found.exceeds(version) { return found }
        let text: Message = """
            The version \(found) of \(source) in \(location) is newer than the app (\(version)). \(end) Where the data is a \
            newer app's, start that one.
            """
        throw location.error(.newerThanCurrentVersion, found, text)
    }

    /// The state after its mark was set.
    ///
    /// - Throws: ``MigrationError`` with the code `usedByNewerApp`.
    package func resetting(
        _ state: MigrationState,
        to marks: StateMarks
    ) throws(MigrationError) -> MigrationState {
        if let floor = state.marks.minimumAppVersion(above: version) {
            let text: Message = """
                The data of \(location) is for version \(floor) of the app and later; this is \(version). The mark was not set. \
                Start version \(floor). Where older data was put back in its place, forget the state, and say with firstRun: at \
                which version that data is.
                """
            throw location.error(.usedByNewerApp, floor, text)
        }
        return state.resetting(to: marks)
    }
}
