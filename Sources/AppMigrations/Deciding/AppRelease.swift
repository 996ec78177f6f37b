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
            location.error(
                .invalidVersion,
                nil,
                "\(problem) It is the upgradesFrom of \(location).",
                advice: VersionReader.grammar
            )
        }
        if !earliest.exceeds(version) { return }
        throw location.error(
            .newerThanCurrentVersion,
            earliest,
            "The upgradesFrom \(earliest) of \(location) is newer than the app (\(version)).",
            advice: "Pass the newest version whose migration is no longer declared."
        )
    }

    /// The version at which a fresh install begins.
    ///
    /// The sub-migrations of the app's own release belong to it, also those that are no longer declared: a fresh install is never
    /// too old.
    package var baseline: AppVersion { max(version, earliest) }

    /// Throws where something below `earliest` may have to run, or to run again: this app no longer has it.
    ///
    /// A mark of zero means that the subsystem builds itself from nothing, so nothing older is missing. That holds only if a
    /// release which knew `upgradesFrom` made the state, and if no older migration was begun.
    ///
    /// - Throws: ``MigrationError`` with the code `tooOld`.
    package func requireUpgradable(_ marks: StateMarks) throws(MigrationError) {
        if marks.lastRun < earliest, isTooOld(marks) { throw tooOld(marks.lastRun) }
    }

    private func isTooOld(_ marks: StateMarks) -> Bool {
        marks.lastRun != .zero || earliest.exceeds(marks.launched)
            || marks.interruption.map { $0.version < earliest } == true
            || marks.attempted.contains { $0.version < earliest }
    }

    func tooOld(_ found: AppVersion) -> MigrationError {
        location.error(
            .tooOld,
            found,
            """
            The data of \(location) is at version \(found), and version \(version) of the app upgrades from \(earliest) at the \
            earliest.
            """,
            advice: "Start a release first that upgrades from \(found)."
        )
    }
}

extension AppRelease {
    func newer(_ declared: AppVersion) -> MigrationError {
        location.error(
            .newerThanCurrentVersion,
            declared,
            "Migration \(declared) of \(location) is newer than the app (\(version)).",
            advice: "Raise the app's version or remove the migration."
        )
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
                wayOutBelowFloor
            } else if marks.lastRun.exceeds(version) {
                "If older data was put in its place, call reset(to:) with the version of that data."
            } else if declared <= marks.lastRun {
                // After a reset to the last-run version, a version below it counts as run.
                """
                Don't call reset(to: \(marks.lastRun.description.quoted)), after which migration \(declared) counts as run.
                """
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
            app is version \(version). Start version \(newer) or a later one. \(wayOut)\
            \(isFile ? "" : fleet)
            """
        return location.error(.usedByNewerApp, declared, text)
    }

    private var wayOutBelowFloor: Message {
        """
        If older data was put in its place, \(location.path == nil ? "remove the document" : "call forgetState"), and answer \
        firstRun: with existingData(at:) and the version of that data.
        """
    }

    /// Reads the version to which a mark is to be set.
    ///
    /// - Throws: ``MigrationError`` with the code `invalidVersion`, `newerThanCurrentVersion` or `tooOld`.
    package func mark(_ text: String) throws(MigrationError) -> StateMarks {
        let mark = try read(text, of: "the version of reset(to:)", "Pass the version that the data is at.")
        let marks = StateMarks(lastRun: mark, baseline: mark, launched: version)
        try requireUpgradable(marks)
        return marks
    }

    func baseline(ofExistingData text: String) throws(MigrationError) -> AppVersion {
        let advice: Message = """
            Each start asks again. Let firstRun: answer with the release that the data is of, or with the oldest that it can be of.
            """
        do throws(MigrationError) {
            let found = try read(text, of: "the answer of firstRun:", advice)
            if found < earliest { throw tooOld(found) }
            return found
        } catch {
            throw error.completed(by: "No state was written. Nothing was run.")
        }
    }

    /// Reads the version that the app says its data is at.
    private func read(
        _ text: String,
        of source: Message,
        _ advice: Message
    ) throws(MigrationError) -> AppVersion {
        let found = try AppVersion(text) { problem in
            location.error(
                .invalidVersion,
                nil,
                "\(problem) It is \(source) in \(location).",
                advice: "\(VersionReader.grammar) \(advice)"
            )
        }
        if !found.exceeds(version) { return found }
        throw location.error(
            .newerThanCurrentVersion,
            found,
            "Version \(found), \(source) in \(location), is newer than the app (\(version)).",
            advice: "\(advice) If a newer app changed the data, start that one."
        )
    }

    /// The state after its mark was set.
    ///
    /// - Throws: ``MigrationError`` with the code `usedByNewerApp`.
    package func resetting(
        _ state: MigrationState,
        to marks: StateMarks
    ) throws(MigrationError) -> MigrationState {
        if let floor = state.marks.minimumAppVersion(above: version) {
            throw location.error(
                .usedByNewerApp,
                floor,
                """
                Only version \(floor) of the app or a later one may use the data of \(location), and this app is \(version).
                """,
                advice: "Start version \(floor) or a later one. \(wayOutBelowFloor)"
            )
        }
        return state.resetting(to: marks)
    }
}
