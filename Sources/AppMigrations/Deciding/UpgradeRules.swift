/// The version of the app and the oldest data that it upgrades, and the errors for data that it can't use.
///
/// It is a class because it is a parameter of many functions, each of which would copy a struct.
package final class UpgradeRules: Sendable {
    package let appVersion: AppVersion

    /// The option `upgradesFrom`: the oldest version of the data that the app upgrades; zero if there is
    /// none.
    package let upgradesFrom: AppVersion

    /// The name and the folder of the state, for the texts of errors.
    package let location: StateLocation

    /// - Throws: ``MigrationError`` with the code `invalidVersion` or `newerThanCurrentVersion`, for
    ///   `upgradesFrom`.
    package init(
        appVersion: AppVersion,
        upgradesFrom: String?,
        in location: StateLocation
    ) throws(MigrationError) {
        self.appVersion = appVersion
        self.location = location
        guard let upgradesFrom else {
            self.upgradesFrom = .zero
            return
        }
        let oldest = try AppVersion(upgradesFrom) { problem in
            location.error(
                .invalidVersion,
                "\(problem) It is the upgradesFrom of \(location).",
                advice: VersionReader.grammar
            )
        }
        if oldest.exceeds(appVersion) {
            throw location.error(
                .newerThanCurrentVersion,
                version: oldest,
                "The upgradesFrom \(oldest) of \(location) is newer than the app (\(appVersion)).",
                advice: "Set upgradesFrom to the version of the newest migration that you removed."
            )
        }
        self.upgradesFrom = oldest
    }

    /// The version that a fresh install starts with: all migrations up to it count as applied.
    ///
    /// It is the app's version, unless `upgradesFrom` is a sub-migration of the same release and so above the
    /// app's version. In that case it is `upgradesFrom`: otherwise the fresh install would be too old for
    /// this app.
    package var freshInstallBaseline: AppVersion { max(appVersion, upgradesFrom) }

    /// Throws if a migration below `upgradesFrom` may still have to run, because this app no longer declares
    /// such migrations.
    ///
    /// If no migration has run yet (after a first run with `everything`), this app's migrations have to
    /// create all of the data. So the state is accepted only if an app at `upgradesFrom` or above was started
    /// on it, and no migration below `upgradesFrom` was begun.
    ///
    /// - Throws: ``MigrationError`` with the code `tooOld`.
    package func requireUpgradable(_ versions: StateVersions) throws(MigrationError) {
        if versions.lastRun < upgradesFrom, isTooOld(versions) { throw tooOldError(dataAt: versions.lastRun) }
    }

    private func isTooOld(_ versions: StateVersions) -> Bool {
        versions.lastRun != .zero || upgradesFrom.exceeds(versions.launched)
            || versions.latestAttempt.map { $0.version < upgradesFrom } == true
            || versions.otherAttempts.contains { $0.version < upgradesFrom }
    }

    private func tooOldError(dataAt found: AppVersion) -> MigrationError {
        location.error(
            .tooOld,
            version: found,
            """
            The data of \(location) is at version \(found), and version \(appVersion) of the app only upgrades data from version \
            \(upgradesFrom) on.
            """,
            advice: "First start an older release of the app that upgrades data from version \(found)."
        )
    }
}

// The errors of a declaration.
extension UpgradeRules {
    /// Makes the error for a declared version above the app's version.
    func newerThanAppError(_ declared: AppVersion, addedIn: AppVersion? = nil) -> MigrationError {
        let subject: Message = addedIn.map { "The addedIn: \($0) of migration" } ?? "Migration"
        return location.error(
            .newerThanCurrentVersion,
            version: declared,
            "\(subject) \(declared) of \(location) is newer than the app (\(appVersion)).",
            advice: "Raise the app's version or remove the migration."
        )
    }

    /// Makes the error for a pending version if version `newer` of the app has begun to change the data.
    func usedByNewerAppError(
        _ declared: DeclaredMigration,
        begun newer: AppVersion,
        in versions: StateVersions
    ) -> MigrationError {
        let version = declared.version
        let mark = versions.lastRun
        let wayOut: Message =
            if versions.minimumAppVersion(above: appVersion) != nil {
                minimumAppVersionAdvice
            } else if mark.exceeds(appVersion) {
                "If the data was replaced with older data, call reset(to:) with the version of that data."
            } else if version <= mark, declared.isInBaseline(mark) {
                "Don't call reset(to: \(mark.description.quoted)): after that, migration \(version) would be skipped."
            } else {
                """
                If the data is still as version \(mark) left it, call reset(to: \(mark.description.quoted)). \
                Every later version is then pending again.
                """
            }
        let fleetAdvice: Message = """
             Before this version serves requests, wait with untilMigrated. The guide Operating a fleet has the SQL of a reset.
            """
        let isFile = location.path != nil
        let text: Message = """
            Migration \(version) of \(location) was not run: version \(newer) of the app has begun to change the data, and this \
            app is version \(appVersion). Start version \(newer) or a later one. \(wayOut)\
            \(isFile ? "" : fleetAdvice)
            """
        return location.error(.usedByNewerApp, version: version, text)
    }

    /// The advice for an app below the minimum app version, because a reset doesn't lower that version.
    private var minimumAppVersionAdvice: Message {
        if location.path == nil {
            return """
                If this app can read the data, or the data was replaced with older data, run the statement of the guide Operating \
                a fleet with the line that removes minimumAppVersion.
                """
        }
        return """
            If the data was replaced with older data, call forgetState, and answer firstRun: with existingData(at:) and the version \
            of that data.
            """
    }
}

// The version of the data, as the app passes it to `reset(to:)` or answers it to `firstRun:`.
extension UpgradeRules {
    /// The versions of the state after a reset to version `text`.
    ///
    /// - Throws: ``MigrationError`` with the code `invalidVersion`, `newerThanCurrentVersion` or `tooOld`.
    package func versions(resetTo text: String) throws(MigrationError) -> StateVersions {
        let version = try dataVersion(
            text,
            source: "the version of reset(to:)",
            advice: "Pass the version that the data is at."
        )
        let versions = StateVersions(lastRun: version, baseline: version, launched: appVersion)
        try requireUpgradable(versions)
        return versions
    }

    /// The baseline of a first run for which `firstRun:` answered `existingData(at: text)`.
    ///
    /// - Throws: ``MigrationError`` with the code `invalidVersion`, `newerThanCurrentVersion` or `tooOld`.
    func baseline(ofExistingData text: String) throws(MigrationError) -> AppVersion {
        let advice: Message = """
            The answer of firstRun: must be the version of the app that wrote the data. If it isn't known, answer with the oldest \
            version that can have written it. The next start evaluates firstRun: again.
            """
        do throws(MigrationError) {
            let found = try dataVersion(text, source: "the answer of firstRun:", advice: advice)
            if found < upgradesFrom { throw tooOldError(dataAt: found) }
            return found
        } catch {
            throw error.leaving(.text("No state was written. Nothing was run."))
        }
    }

    private func dataVersion(
        _ text: String,
        source: Message,
        advice: Message
    ) throws(MigrationError) -> AppVersion {
        let found = try AppVersion(text) { problem in
            location.error(
                .invalidVersion,
                "\(problem) It is \(source) in \(location).",
                advice: "\(VersionReader.grammar) \(advice)"
            )
        }
        if !found.exceeds(appVersion) { return found }
        throw location.error(
            .newerThanCurrentVersion,
            version: found,
            "Version \(found), \(source) in \(location), is newer than the app (\(appVersion)).",
            advice: "\(advice) If a newer app changed the data, start that app."
        )
    }

    /// Returns the state after a reset to `versions`.
    ///
    /// - Throws: ``MigrationError`` with the code `usedByNewerApp`, for an app below the minimum app version,
    ///   or `stateCorrupted`, if the rows of the history are damaged.
    package func resetting(
        _ state: MigrationState,
        to versions: StateVersions
    ) throws(MigrationError) -> MigrationState {
        try requireUsable(state.versions)
        do throws(JSONError) {
            return try state.changed { state throws(JSONError) in try state.reset(to: versions) }
        } catch {
            throw .corrupted(location, because: error)
        }
    }

    /// Throws `usedByNewerApp` if this app is below the minimum app version, and so must not use the data.
    func requireUsable(_ versions: StateVersions) throws(MigrationError) {
        guard let minimum = versions.minimumAppVersion(above: appVersion) else { return }
        throw location.error(
            .usedByNewerApp,
            version: minimum,
            """
            Only version \(minimum) of the app or a later one may use the data of \(location), and this app is \(appVersion).
            """,
            advice: "Start version \(minimum) or a later one. \(minimumAppVersionAdvice)"
        )
    }
}
