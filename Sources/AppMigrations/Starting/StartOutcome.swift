/// The result of a start: the versions of the state, and whether the start is an upgrade or a downgrade.
///
/// A manager gets its versions only from here. The initializers check them, so data that is too old for the
/// app is always refused.
package struct StartOutcome {
    package internal(set) var versions: StateVersions
    package let launch: MigrationManager.Launch

    /// Creates the outcome of a start that found a state.
    ///
    /// - Throws: ``MigrationError`` with the code `tooOld`.
    package init(found versions: StateVersions, by rules: UpgradeRules) throws(MigrationError) {
        try rules.requireUpgradable(versions)
        self.versions = versions
        launch = versions.launch(of: rules.appVersion)
    }

    /// Creates the outcome of a first run.
    ///
    /// - Throws: ``MigrationError`` with the code `invalidVersion`, `newerThanCurrentVersion` or `tooOld`.
    package init(first answer: MigrationManager.FirstRun, by rules: UpgradeRules) throws(MigrationError) {
        let baseline: AppVersion
        switch answer {
        case .freshInstall: baseline = rules.freshInstallBaseline
        case .everything: baseline = .zero
        case .existingData(let text): baseline = try rules.baseline(ofExistingData: text)
        }
        versions = StateVersions(
            lastRun: baseline,
            baseline: baseline,
            launched: rules.appVersion,
            freshInstall: answer == .freshInstall ? rules.appVersion : nil
        )
        launch = .first
    }
}
