import AppMigrations

/// The runs that follow a jump, to be compared with it.
extension RehearsalStage {
    /// Runs that are compared with a jump: the way release by release, deaths, throws.
    func followUps(of jump: RunUnderWay) throws -> [Scenario] {
        let point = jump.scenario.point
        var scenarios: [Scenario] = []
        let steps = steps(from: startVersions[point]).filter { version in
            // Data of a release before it is not upgraded any more.
            oldest.map { version >= $0 } ?? true
        }
        let asked = answers.first { $0.point == point }
        if let answer = asked?.repeating(declared: declared, current: current) {
            scenarios.append(Scenario(kind: .answered, point: point, launches: [current], answer: answer))
        }
        // All ends are the same, so one of them shows what a lost state does.
        if hasFirstRun, (reference ?? point) == point {
            scenarios.append(Scenario(kind: .lost, point: point, launches: [current], ranBefore: jump.ran))
        }
        if steps.count > 1 { scenarios.append(Scenario(kind: .steps, point: point, launches: steps)) }
        for version in jump.ran {
            scenarios += jump.images.filter { $0.moment.version == version }.map { image in
                let kind = Scenario.Kind.death(image.moment, number: image.number)
                return Scenario(kind: kind, point: point, launches: [current], image: image)
            }
            scenarios.append(Scenario(kind: .failure(version), point: point, launches: [current, current]))
        }
        return scenarios + (try olderReleases(after: jump))
    }

    /// The releases for which the data is not any more, once this one has migrated it.
    private func olderReleases(after jump: RunUnderWay) throws -> [Scenario] {
        let point = jump.scenario.point
        // A release without the library can't ask for a floor, and no run shows what it would write.
        let releases = steps(from: nil).dropLast().filter { $0 >= adoption ?? $0 }
        guard let oldest = releases.first else { return [] }
        let manager = try MigrationManager(
            named: rehearsal.name,
            currentVersion: oldest.description,
            stateDirectory: folders.state
        )
        guard let floor = manager.requiredAppVersion else { return [] }
        try FolderFiles.copy(folders.state, to: folders.endState(point))
        return releases.filter { $0 < floor }.map {
            Scenario(kind: .older($0), point: point, launches: [$0], ranBefore: jump.ran)
        }
    }

    /// The releases after `start`: each declared version, each starting point's, and the current one.
    private func steps(from start: AppVersion?) -> [AppVersion] {
        var releases: [AppVersion] = []
        for version in (declared + startVersions.compactMap(\.self)).sorted()
        where releases.last != version && version < current {
            if start.map({ $0 < version }) ?? true { releases.append(version) }
        }
        return releases + [current]
    }
}
