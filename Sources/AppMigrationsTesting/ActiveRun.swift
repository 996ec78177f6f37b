import AppMigrations

/// A run in progress, with the outcome of its starts so far.
struct ActiveRun {
    var scenario: Scenario
    /// The versions of the app that are still to be started.
    var launches: ArraySlice<AppVersion>
    /// The migrations that have run, including those before the first start of this run.
    var ran: [AppVersion]
    var images: [RunImage] = []
    var duration = Duration.zero
    var failure: (any Error)?
    /// The findings about single migrations.
    var findings: [RehearsalFinding] = []

    init(_ scenario: Scenario) {
        self.scenario = scenario
        launches = scenario.launches[...]
        ran = scenario.image?.ran ?? scenario.ranBefore
    }
}

extension RehearsalStage {
    /// The row of a run that has ended, with its findings.
    ///
    /// The data of a jump is compared with the data of the jump from `referencePoint`. The data of every
    /// other run is compared with the data of the jump from its own starting point.
    func row(for run: ActiveRun) throws -> RehearsedRun {
        let scenario = run.scenario
        var findings = run.findings
        if let failure = run.failure {
            findings.append(finding(of: failure, in: scenario))
        } else if scenario.kind.hasExpectedData,
            let expectedPoint = scenario.kind == .jump ? referencePoint : scenario.point
        {
            findings += try differences(of: scenario, fromPoint: expectedPoint)
        }
        let before: [AppVersion] =
            switch scenario.kind {
            case .interruptedInstall(let version): [version]
            case .writtenBefore(let release): [release]
            case .writtenBetween(let release, _): [current, release]
            case .death, .olderRelease, .stateLost, .stateLostWhileMigrating: [current]
            default: []
            }
        return RehearsedRun(
            start: rehearsal.startingPoints[scenario.point].title,
            title: scenario.title,
            appVersions: before + scenario.launches,
            ran: run.ran.map(\.description),
            duration: run.duration,
            findings: findings,
            answer: scenario.kind.asksFirstRun ? scenario.answer : nil,
            isCompared: scenario.kind.hasExpectedData
        )
    }

    private func finding(of failure: any Error, in scenario: Scenario) -> RehearsalFinding {
        let verdict = scenario.verdict
        let error = failure as? MigrationError
        let isAboutClosure =
            switch scenario.kind {
            case .listing, .jump, .steps, .addedLate, .olderRelease, .writtenBefore: false
            case .stateLost, .interruptedInstall: error?.code == .migrationFailed
            case .ownAnswer, .writtenBetween, .death, .failure, .stateLostWhileMigrating: true
            }
        return RehearsalFinding(
            isAboutClosure ? verdict.kind : .failed,
            version: verdict.version ?? error?.version,
            "\(sentence(scenario)): \(folders.sentence(describing: failure))\(isAboutClosure ? verdict.advice : "")"
        )
    }

    /// Compares the run's data with the data at the end of the jump from `expectedPoint`.
    ///
    /// If the run is a fresh install, its data is taken as correct. Then a difference is a finding about the
    /// upgrade.
    private func differences(
        of scenario: Scenario,
        fromPoint expectedPoint: Int
    ) throws -> [RehearsalFinding] {
        let comparison = rehearsal.comparison
        var end = folders.endData(ofPoint: expectedPoint)
        if case .writtenBetween = scenario.kind { end = folders.endDataAfterWriting(atPoint: expectedPoint) }
        guard scenario.kind == .jump, rehearsal.startingPoints[scenario.point].kind == .freshInstall else {
            return try comparison.differences(of: folders.data, from: end).map {
                finding(of: $0, in: scenario, fromPoint: expectedPoint)
            }
        }
        let upgrade = "\(rehearsal.startingPoints[expectedPoint].origin) to \(current), in one jump"
        return try comparison.differences(of: end, from: folders.data).map { difference in
            let fact = "\(upgrade): compared with a fresh install, \(difference.text)."
            let text = "\(fact) Perhaps a migration is missing."
            return RehearsalFinding(.freshInstallDiffers, path: difference.path, text)
        }
    }

    private func finding(
        of difference: FolderComparison.Difference,
        in scenario: Scenario,
        fromPoint expectedPoint: Int
    ) -> RehearsalFinding {
        var other = "one jump"
        if scenario.kind == .jump {
            // The reference point is never a fresh install. So its `origin` always begins with "From".
            let start = rehearsal.startingPoints[expectedPoint].origin
            other += start.replacing("From ", with: " from ", maxReplacements: 1)
        }
        if case .writtenBetween(let release, _) = scenario.kind { other += " after \(release) wrote" }
        let verdict = scenario.verdict
        let text = "\(sentence(scenario)): compared with \(other), \(difference.text).\(verdict.advice)"
        return RehearsalFinding(verdict.kind, version: verdict.version, path: difference.path, text)
    }

    /// The finding about a migration that changed what it replaces.
    func finding(of change: ChangedOriginal, in scenario: Scenario) -> RehearsalFinding {
        let text =
            "\(sentence(scenario)): migration \(change.version) changed `\(change.name)` itself, and not only its copy: "
            + "\(change.difference). In the closure, use the path that it gets."
        return RehearsalFinding(.originalChanged, version: change.version, path: change.name, text)
    }

    private func sentence(_ scenario: Scenario) -> String {
        let point = rehearsal.startingPoints[scenario.point]
        let isFresh = point.kind == .freshInstall
        let start = "\(point.origin) \(isFresh ? "of" : "to") \(current)"
        if isFresh, scenario.kind == .jump { return start }
        let title =
            switch scenario.kind {
            case .steps:
                "step by step (\(scenario.launches.map(\.description).joined(separator: ", ")))"
            case .death, .failure: "\(scenario.title), and started again"
            case .interruptedInstall: scenario.title
            case .olderRelease(let version):
                "then \(version) was started on data that it must no longer change"
            case .listing, .jump, .addedLate, .writtenBefore, .writtenBetween: scenario.title
            case .ownAnswer, .stateLost, .stateLostWhileMigrating:
                [
                    scenario.kind.asksFirstRun ? scenario.title : nil,
                    scenario.answer.map { "with the answer of firstRun:, \(FirstRunAnswer.text(of: $0))" },
                ].compactMap(\.self).joined(separator: ", ")
            }
        return "\(start), \(title)"
    }
}
