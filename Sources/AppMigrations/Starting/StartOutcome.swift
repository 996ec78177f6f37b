/// The result of a start: the part of the state that a start needs (its marks), and how this start compares
/// with earlier ones.
///
/// This is the only source of a manager's marks. The initializers check them, so data that is too old for the
/// app is always refused.
package struct StartOutcome {
    package internal(set) var marks: StateMarks
    package let launch: MigrationManager.Launch

    /// Creates the outcome of a start that found a state.
    ///
    /// - Throws: ``MigrationError`` with the code `tooOld`.
    package init(found marks: StateMarks, by rules: UpgradeRules) throws(MigrationError) {
        try rules.requireUpgradable(marks)
        self.marks = marks
        launch = marks.launch(of: rules.appVersion)
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
        marks = StateMarks(
            lastRun: baseline,
            baseline: baseline,
            launched: rules.appVersion,
            freshInstall: answer == .freshInstall ? rules.appVersion : nil
        )
        launch = .first
    }
}
