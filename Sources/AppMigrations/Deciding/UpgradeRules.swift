/// The version of the app, the oldest data that it upgrades, and the refusals that follow from the two.
///
/// It is a class because many functions have it as a parameter. A struct would be copied in each of them.
package final class UpgradeRules: Sendable {
    package let appVersion: AppVersion

    /// The version that the option `upgradesFrom` names; zero if the app upgrades from every version.
    package let upgradesFrom: AppVersion

    /// Where the state is, for the texts of errors.
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
                advice: "Pass the newest version whose migration is no longer declared."
            )
        }
        self.upgradesFrom = oldest
    }

    /// The version that a fresh install starts with: all migrations up to it count as applied.
    ///
    /// It is the app's version, unless `upgradesFrom` is a later sub-migration of the same release. In that
    /// case it is `upgradesFrom`. Otherwise the fresh install would be refused as too old.
    package var freshInstallBaseline: AppVersion { max(appVersion, upgradesFrom) }

    /// Throws if a migration below `upgradesFrom` may still have to run, because this app no longer declares
    /// such migrations.
    ///
    /// If nothing has run yet, the state is accepted only if the app's migrations can build all data from the
    /// start. That is so if the release that created the state already had this `upgradesFrom`, and no
    /// migration below it was begun.
    ///
    /// - Throws: ``MigrationError`` with the code `tooOld`.
    package func requireUpgradable(_ versions: StateVersions) throws(MigrationError) {
        if versions.lastRun < upgradesFrom, isTooOld(versions) { throw tooOldError(dataAt: versions.lastRun) }
    }

    private func isTooOld(_ versions: StateVersions) -> Bool {
        versions.lastRun != .zero || upgradesFrom.exceeds(versions.launched)
            || versions.interruption.map { $0.version < upgradesFrom } == true
            || versions.attempted.contains { $0.version < upgradesFrom }
    }

    private func tooOldError(dataAt found: AppVersion) -> MigrationError {
        location.error(
            .tooOld,
            version: found,
            """
            The data of \(location) is at version \(found), and version \(appVersion) of the app upgrades from \(upgradesFrom) at \
            the earliest.
            """,
            advice: "Start a release first that upgrades from \(found)."
        )
    }
}

// The errors of a declaration.
extension UpgradeRules {
    /// The error for a declared version above the app's.
    func newerThanAppError(_ declared: AppVersion) -> MigrationError {
        location.error(
            .newerThanCurrentVersion,
            version: declared,
            "Migration \(declared) of \(location) is newer than the app (\(appVersion)).",
            advice: "Raise the app's version or remove the migration."
        )
    }

    /// The error for a pending version when version `newer` of the app has begun to change the data.
    func usedByNewerAppError(
        _ declared: AppVersion,
        begun newer: AppVersion,
        in versions: StateVersions
    ) -> MigrationError {
        let wayOut: Message =
            if versions.minimumAppVersion(above: appVersion) != nil {
                forgetStateAdvice
            } else if versions.lastRun.exceeds(appVersion) {
                "If older data was put in its place, call reset(to:) with the version of that data."
            } else if declared <= versions.lastRun {
                // A reset to the last-run version is no way out: the declared version is below it, and would
                // count as run.
                """
                Don't call reset(to: \(versions.lastRun.description.quoted)), after which migration \(declared) counts as run.
                """
            } else {
                """
                If the data is still as version \(versions.lastRun) left it, call reset(to: \(versions.lastRun.description.quoted)), \
                and everything after it is pending again.
                """
            }
        let fleetAdvice: Message = """
             Wait with untilMigrated before this version serves. The guide Running a fleet has the SQL of a reset.
            """
        let isFile = location.path != nil
        let text: Message = """
            Migration \(declared) of \(location) was not run: version \(newer) of the app has begun to change the data, and this \
            app is version \(appVersion). Start version \(newer) or a later one. \(wayOut)\
            \(isFile ? "" : fleetAdvice)
            """
        return location.error(.usedByNewerApp, version: declared, text)
    }

    /// The advice to an app below the minimum app version, which a reset doesn't lower.
    private var forgetStateAdvice: Message {
        """
        If older data was put in its place, \(location.path == nil ? "remove the document" : "call forgetState"), and answer \
        firstRun: with existingData(at:) and the version of that data.
        """
    }
}

// The version of the data, as the app states it.
extension UpgradeRules {
    /// The versions of a reset to the version that `text` names.
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

    /// The baseline of a first run that `firstRun:` answered with `existingData(at:)`.
    ///
    /// - Throws: ``MigrationError`` with the code `invalidVersion`, `newerThanCurrentVersion` or `tooOld`.
    func baseline(ofExistingData text: String) throws(MigrationError) -> AppVersion {
        let advice: Message = """
            Each start asks again. Let firstRun: answer with the release that the data is of, or with the oldest that it can be of.
            """
        do throws(MigrationError) {
            let found = try dataVersion(text, source: "the answer of firstRun:", advice: advice)
            if found < upgradesFrom { throw tooOldError(dataAt: found) }
            return found
        } catch {
            throw error.completed(by: "No state was written. Nothing was run.")
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
            advice: "\(advice) If a newer app changed the data, start that one."
        )
    }

    /// Returns the state after a reset to `versions`.
    ///
    /// - Throws: ``MigrationError`` with the code `usedByNewerApp`, for an app below the minimum app version.
    package func resetting(
        _ state: MigrationState,
        to versions: StateVersions
    ) throws(MigrationError) -> MigrationState {
        if let minimum = state.versions.minimumAppVersion(above: appVersion) {
            throw location.error(
                .usedByNewerApp,
                version: minimum,
                """
                Only version \(minimum) of the app or a later one may use the data of \(location), and this app is \(appVersion).
                """,
                advice: "Start version \(minimum) or a later one. \(forgetStateAdvice)"
            )
        }
        return state.resetting(to: versions)
    }
}
