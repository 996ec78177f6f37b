import AppMigrations

/// The questions before all runs, and the runs that follow a jump, to be compared with it.
extension RehearsalStage {
    /// Asks the app for the version of each starting point's data; the answers are judged once the declared versions are known.
    ///
    /// From the release `first` on a starting point has a state, and the app isn't asked about it.
    func ask(
        _ firstRun: (_ folder: String) throws -> MigrationManager.FirstRun?,
        before first: String?
    ) throws {
        adoption = try first.map { try AppVersion(parsing: $0) }
        try cleaningUp {
            for (point, start) in rehearsal.startingPoints.enumerated() {
                if let adoption, start.hasState(since: adoption, at: startVersions[point]) { continue }
                if start.kind == .freshInstall {
                    // The app is asked before it has made anything.
                    try FolderFiles.removeIfThere(folders.run)
                    try FolderFiles.makeFolder(folders.data)
                } else {
                    try prepare(Scenario(kind: .jump, point: point, launches: [current]))
                }
                do {
                    guard let answer = try firstRun(folders.data) else { continue }
                    answers.append(FirstRunAnswer(point: point, start: start, answer: .success(answer)))
                } catch {
                    answers.append(FirstRunAnswer(point: point, start: start, answer: .failure(error)))
                }
            }
        }
    }

    /// Runs that are compared with a jump: the way release by release, deaths, throws.
    func followUps(of jump: RunUnderWay) throws -> [Scenario] {
        let point = jump.scenario.point
        var scenarios: [Scenario] = []
        let steps = steps(from: startVersions[point]).filter { version in
            // Data of a release before it is not upgraded any more.
            oldest.map { version >= $0 } ?? true
        }
        let asked = answers.first { $0.point == point }
        if let answer = asked?.judged(declared, current, folders).repeating {
            scenarios.append(Scenario(kind: .answered, point: point, launches: [current], answer: answer))
        }
        // All ends are alike, so one of them shows what a lost state does.
        if (reference ?? point) == point {
            scenarios.append(Scenario(kind: .lost, point: point, launches: [current], ranBefore: jump.ran))
        }
        if steps.count > 1 { scenarios.append(Scenario(kind: .steps, point: point, launches: steps)) }
        for version in jump.ran.dropLast() where outOfOrder.contains(version) {
            scenarios.append(Scenario(kind: .late(version), point: point, launches: [current, current]))
        }
        for version in jump.ran {
            let images = jump.images.filter { $0.moment.version == version }
            // Before the deaths, because a run after a death moves the image to its place.
            if let image = images.first(where: \.isInsideClosure) {
                let kind = Scenario.Kind.lostWhileMigrating(image.moment)
                scenarios.append(Scenario(kind: kind, point: point, launches: [current], image: image))
            }
            scenarios += images.map { image in
                let kind = Scenario.Kind.death(image.moment, number: image.number)
                return Scenario(kind: kind, point: point, launches: [current], image: image)
            }
            scenarios.append(Scenario(kind: .failure(version), point: point, launches: [current, current]))
        }
        return scenarios + (try olderReleases(after: jump))
    }

    /// The older releases that are shut out once this one has migrated the data.
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
