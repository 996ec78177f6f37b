import AppMigrations

/// A run that has begun: what its starts came to so far, and at its end whether the data is what it should be.
struct RunUnderWay {
    var scenario: Scenario
    var launches: ArraySlice<AppVersion>
    var ran: [AppVersion]
    var images: [RunImage] = []
    var duration = Duration.zero
    var failure: (any Error)?
    private let rehearsal: Rehearsal
    private let current: AppVersion
    private let folders: RehearsalFolders

    init(
        _ scenario: Scenario,
        of rehearsal: Rehearsal,
        _ current: AppVersion,
        _ folders: RehearsalFolders
    ) {
        self.scenario = scenario
        launches = scenario.launches[...]
        ran = scenario.image?.ran ?? scenario.ranBefore
        self.rehearsal = rehearsal
        self.current = current
        self.folders = folders
    }

    /// The row of the run, its data compared with the end of its own starting point's jump, or for a jump with the end of
    /// the point `reference`.
    func judged(comparedWith reference: Int?) throws -> RehearsedRun {
        var findings: [RehearsalFinding] = []
        if let failure {
            findings = [finding(of: failure)]
        } else if let expected = scenario.kind == .jump ? reference : scenario.point {
            findings = try differences(comparedWith: expected)
        }
        let before: [AppVersion] =
            switch scenario.kind {
            case .death, .older, .lost: [current]
            default: []
            }
        return RehearsedRun(
            start: rehearsal.startingPoints[scenario.point].title,
            title: scenario.title,
            appVersions: before + scenario.launches,
            ran: ran.map(\.description),
            duration: duration,
            findings: findings,
            answer: scenario.kind == .lost ? scenario.answer : nil
        )
    }

    private func finding(of failure: any Error) -> RehearsalFinding {
        let error = failure as? MigrationError
        let isOfClosure =
            switch scenario.kind {
            case .listing, .jump, .steps, .older: false
            case .lost: error?.code == .migrationFailed
            case .answered, .death, .failure: true
            }
        return RehearsalFinding(
            isOfClosure ? verdict.kind : .failed,
            version: scenario.begunAgain?.version ?? error?.version,
            "\(sentence): \(folders.words(of: failure))\(isOfClosure ? verdict.advice : "")"
        )
    }

    /// The finding where a run ends otherwise than it should, and what to do.
    private var verdict: (kind: RehearsalFinding.Kind, advice: String) {
        switch scenario.kind {
        case .listing, .jump: (.startsDiffer, "")
        case .steps: (.stepsDiffer, "")
        case .older:
            (
                .olderReleaseWrites,
                " Ask for requiredAppVersion at each start, before anything is read or written, and stop there."
            )
        case .answered, .lost:
            (
                .firstRunRepeats,
                " Answer the version that the data is at, or let its migrations find out what is done already."
            )
        case .death, .failure:
            scenario.begunAgain.map { ($0.kind, " Migration \($0.version) \($0.advice)") }
                ?? (.notCompleted, "")
        }
    }

    /// A fresh install says how it should be: there it is the upgrade that is looked at.
    private func differences(comparedWith expected: Int) throws -> [RehearsalFinding] {
        let comparison = rehearsal.comparison
        let end = folders.end(expected)
        guard scenario.kind == .jump, rehearsal.startingPoints[scenario.point].kind == .freshInstall else {
            return try comparison.differences(of: folders.data, from: end).map {
                finding(of: $0, comparedWith: expected)
            }
        }
        let upgrade = "\(rehearsal.startingPoints[expected].origin) to \(current), in one jump"
        return try comparison.differences(of: end, from: folders.data).map { difference in
            RehearsalFinding(
                .freshInstallDiffers,
                path: difference.path,
                "\(upgrade): compared with a fresh install, \(difference.text). A migration may be forgotten."
            )
        }
    }

    private func finding(
        of difference: FolderComparison.Difference,
        comparedWith expected: Int
    ) -> RehearsalFinding {
        var other = "one jump"
        if scenario.kind == .jump {
            let start = rehearsal.startingPoints[expected].origin
            other += start.replacing("From ", with: " from ", maxReplacements: 1)
        }
        return RehearsalFinding(
            verdict.kind,
            version: scenario.begunAgain?.version,
            path: difference.path,
            "\(sentence): compared with \(other), \(difference.text).\(verdict.advice)"
        )
    }

    private var sentence: String {
        let point = rehearsal.startingPoints[scenario.point]
        let isFresh = point.kind == .freshInstall
        let start = "\(point.origin) \(isFresh ? "of" : "to") \(current)"
        if isFresh, scenario.kind == .jump { return start }
        let title =
            switch scenario.kind {
            case .steps:
                "step by step (\(scenario.launches.map(\.description).joined(separator: ", ")))"
            case .death, .failure: "\(scenario.title), and started again"
            case .older(let version): "then \(version) started on data that is not for it any more"
            case .listing, .jump: scenario.title
            case .answered, .lost:
                [
                    scenario.kind == .lost ? scenario.title : nil,
                    scenario.answer.map { "as firstRun: answers, \(FirstRunAnswer.text(of: $0))" },
                ].compactMap(\.self).joined(separator: ", ")
            }
        return "\(start), \(title)"
    }
}
