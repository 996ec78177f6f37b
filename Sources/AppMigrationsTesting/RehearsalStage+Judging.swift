import AppMigrations

extension RehearsalStage {
    /// Compares the end of a run with what it should be, adds its row, and follows a jump up with the other runs.
    func finish(_ run: RunUnderWay) throws {
        let scenario = run.scenario
        let isJump = scenario.kind == .jump
        var findings: [RehearsalFinding] = []
        if let failure = run.failure {
            findings = [finding(of: failure, scenario)]
        } else if let expected = isJump ? reference : scenario.point {
            findings = try differences(scenario, comparedWith: expected)
        }
        let died: [AppVersion] = scenario.image == nil ? [] : [current]
        rows[scenario.point, default: []].append(
            RehearsedRun(
                start: rehearsal.startingPoints[scenario.point].title,
                title: scenario.title,
                appVersions: died + scenario.launches,
                ran: run.ran,
                duration: run.duration,
                findings: findings
            )
        )
        guard isJump else { return }
        if run.failure == nil {
            try Files.move(folders.data, to: folders.end(scenario.point))
            if rehearsal.startingPoints[scenario.point].kind != .freshInstall {
                reference = reference ?? scenario.point
            }
            waiting = followUps(of: run) + waiting
        } else {
            for image in run.images { try Files.remove(image.path) }
        }
    }

    /// What is to be compared with a jump: the way release by release, deaths, throws.
    private func followUps(of jump: RunUnderWay) -> [Scenario] {
        let point = jump.scenario.point
        var scenarios: [Scenario] = []
        let steps = steps(from: startVersions[point])
        if steps.count > 1 { scenarios.append(Scenario(kind: .steps, point: point, launches: steps)) }
        for version in jump.ran {
            scenarios += jump.images.filter { $0.moment.version == version }.map {
                Scenario(kind: .death($0.moment), point: point, launches: [current], image: $0)
            }
            scenarios.append(
                Scenario(kind: .failure(version), point: point, launches: [current, current])
            )
        }
        return scenarios
    }

    /// The releases after `start`: each declared version, each starting point's, and the current one.
    private func steps(from start: AppVersion?) -> [AppVersion] {
        var releases: [AppVersion] = []
        for version in (report.declaredVersions + startVersions.compactMap(\.self)).sorted()
        where releases.last != version && version < current {
            if start.map({ $0 < version }) ?? true { releases.append(version) }
        }
        return releases + [current]
    }

    private func finding(of failure: any Error, _ scenario: Scenario) -> RehearsalFinding {
        let error = failure as? MigrationError
        let kind: RehearsalFinding.Kind =
            switch scenario.kind {
            case .listing, .jump, .steps: .failed
            case .death, .failure: scenario.repeated == nil ? .notCompleted : .notRepeatable
            }
        return RehearsalFinding(
            kind,
            version: scenario.repeated ?? error?.version,
            "\(sentence(of: scenario)): \(words(of: failure))\(advice(kind, scenario))"
        )
    }

    /// A fresh install says how it should be: there it is the upgrade that is looked at.
    private func differences(_ scenario: Scenario, comparedWith expected: Int) throws -> [RehearsalFinding] {
        let comparison = rehearsal.comparison
        let end = folders.end(expected)
        guard scenario.kind == .jump, rehearsal.startingPoints[scenario.point].kind == .freshInstall else {
            return try comparison.differences(of: folders.data, from: end).map {
                finding(of: $0, scenario, comparedWith: expected)
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
        _ scenario: Scenario,
        comparedWith expected: Int
    ) -> RehearsalFinding {
        let kind: RehearsalFinding.Kind
        var other = "one jump"
        switch scenario.kind {
        case .listing, .jump:
            kind = .startsDiffer
            let start = rehearsal.startingPoints[expected].origin
            other += start.replacing("From ", with: " from ", maxReplacements: 1)
        case .steps: kind = .stepsDiffer
        case .death, .failure: kind = scenario.repeated == nil ? .notCompleted : .notRepeatable
        }
        return RehearsalFinding(
            kind,
            version: scenario.repeated,
            path: difference.path,
            "\(sentence(of: scenario)): compared with \(other), \(difference.text).\(advice(kind, scenario))"
        )
    }

    private func sentence(of scenario: Scenario) -> String {
        let point = rehearsal.startingPoints[scenario.point]
        if point.kind == .freshInstall { return "\(point.origin) of \(current)" }
        let title =
            switch scenario.kind {
            case .steps:
                "step by step (\(scenario.launches.map(\.description).joined(separator: ", ")))"
            case .death, .failure: "\(scenario.title), and started again"
            case .listing, .jump: scenario.title
            }
        return "\(point.origin) to \(current), \(title)"
    }

    private func advice(_ kind: RehearsalFinding.Kind, _ scenario: Scenario) -> String {
        switch kind {
        case .notRepeatable:
            guard let version = scenario.repeated else { return "" }
            return " Migration \(version) is not repeatable: let it find out what is done already, "
                + "or name what it changes in protecting:."
        default: return ""
        }
    }

    /// What an error says, as a sentence.
    func words(of error: any Error) -> String {
        var text = "\(error)"
        if let error = error as? MigrationError, error.code == .migrationFailed || error.code == .cancelled,
            let version = error.version, let cause = error.underlyingError
        {
            text = "migration \(version) threw: \(cause)"
        }
        text = folders.shortened(text)
        return text.hasSuffix(".") ? text : text + "."
    }
}
