import AppMigrations

/// Asks the app's `firstRun:` before the first run, and lists the runs that are compared with a jump.
extension RehearsalStage {
    /// Asks the app for the version of each starting point's data.
    ///
    /// The answers are checked later, when the declared versions are known.
    ///
    /// A starting point of the release `adoption` or a later one has a state, so the app isn't asked about
    /// it.
    func ask(
        _ firstRun: (_ folder: String) throws -> MigrationManager.FirstRun?,
        before adoption: String?
    ) throws {
        let adoption = try adoption.map { try AppVersion(parsing: $0) }
        self.adoption = adoption
        try cleaningUp {
            for (point, start) in rehearsal.startingPoints.enumerated() {
                if let adoption, start.hasState(since: adoption, at: startVersions[point]) { continue }
                if start.kind == .freshInstall {
                    // The app is asked before it has created any data.
                    try FolderFiles.removeIfPresent(folders.run)
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

    /// The runs that are compared with a jump: release by release, with a crash, and with a closure that
    /// throws.
    func followUps(of jump: ActiveRun) throws -> [Scenario] {
        let point = jump.scenario.point
        var scenarios: [Scenario] = []
        let steps = releasesWithLibrary(after: startVersions[point]).filter { version in
            // Releases below `upgradesFrom` are left out, because the app no longer upgrades their data.
            oldest.map { version >= $0 } ?? true
        }
        let asked = answers.first { $0.point == point }
        let verdict = asked?.verdict(declared: declared, current: current, in: folders)
        if case .mustBeRun(let answer) = verdict {
            scenarios.append(Scenario(kind: .ownAnswer, point: point, launches: [current], answer: answer))
        }
        // A lost state is tested for one starting point only, because all of them end with the same data.
        if (referencePoint ?? point) == point {
            scenarios.append(
                Scenario(kind: .stateLost, point: point, launches: [current], ranBefore: jump.ran)
            )
        }
        if steps.count > 1 { scenarios.append(Scenario(kind: .steps, point: point, launches: steps)) }
        for version in jump.ran.dropLast() where addedLater.contains(version) {
            scenarios.append(Scenario(kind: .addedLate(version), point: point, launches: [current, current]))
        }
        scenarios += try releaseThatWrites(during: jump)
        for version in jump.ran {
            let images = jump.images.filter { $0.moment.version == version }
            // These runs come before the runs after a crash, because those move the images away.
            scenarios += images.filter(\.isInsideClosure).map { image in
                let kind = Scenario.Kind.stateLostWhileMigrating(image.moment, number: image.number)
                return Scenario(kind: kind, point: point, launches: [current], image: image)
            }
            scenarios += images.map { image in
                let kind = Scenario.Kind.death(image.moment, number: image.number)
                return Scenario(kind: kind, point: point, launches: [current], image: image)
            }
            scenarios.append(Scenario(kind: .failure(version), point: point, launches: [current, current]))
        }
        return scenarios + interruptedInstalls(at: point) + (try olderReleases(after: jump))
    }

    /// The runs in which the release of the starting point writes before the upgrade, and after each of its
    /// migrations but the last one.
    ///
    /// These runs copy the images, so they come before the runs after a crash, which move them away.
    private func releaseThatWrites(during jump: ActiveRun) throws -> [Scenario] {
        let point = jump.scenario.point
        let start = rehearsal.startingPoints[point]
        guard case .version = start.kind, start.write != nil, let release = startVersions[point] else {
            return []
        }
        let hasLibrary = adoption.map { release >= $0 } ?? true
        var scenarios: [Scenario] = []
        for image in jump.images where image.moment.place == .afterRecord {
            if image.moment.version == jump.ran.last { continue }
            if hasLibrary, try minimumAppVersion(in: folders.state(of: image), for: release) != nil {
                continue
            }
            let kind = Scenario.Kind.writtenBetween(release, after: image.moment.version)
            scenarios.append(Scenario(kind: kind, point: point, launches: [current], image: image))
        }
        if scenarios.isEmpty { return [] }
        return [Scenario(kind: .writtenBefore(release), point: point, launches: [current])] + scenarios
    }

    /// The minimum app version in a state, as a release that is below it reads it; `nil` if the release may
    /// use the data.
    private func minimumAppVersion(in stateFolder: String, for release: AppVersion) throws -> AppVersion? {
        try MigrationManager(
            named: rehearsal.name,
            currentVersion: release.description,
            stateDirectory: stateFolder,
            options: MigrationManager.Options(isReadOnly: true)
        ).requiredAppVersion
    }

    /// A run in which an older release was killed at its first start on a new device; none if no older
    /// release has the library.
    ///
    /// The release is the newest one that has the library. Its `firstRun:` had returned `.freshInstall`. So
    /// after the update, the newer migrations run on an empty folder.
    private func interruptedInstalls(at point: Int) -> [Scenario] {
        guard rehearsal.startingPoints[point].kind == .freshInstall, adoption != nil else { return [] }
        let release = releasesWithLibrary(after: nil).dropLast().last { version in
            // The current release refuses the state of a release below `upgradesFrom:`.
            oldest.map { version >= $0 } ?? true
        }
        guard let release else { return [] }
        return [Scenario(kind: .interruptedInstall(release), point: point, launches: [current])]
    }

    /// Runs in which an older release starts after the current release has migrated the data.
    ///
    /// Because of a `minimumAppVersion:`, the older release must no longer change the data.
    private func olderReleases(after jump: ActiveRun) throws -> [Scenario] {
        let point = jump.scenario.point
        let releases = releasesWithLibrary(after: nil).dropLast()
        guard let oldestRelease = releases.first else { return [] }
        guard let minimumAppVersion = try minimumAppVersion(in: folders.state, for: oldestRelease) else {
            return []
        }
        try FolderFiles.copy(folders.state, to: folders.endState(ofPoint: point))
        return releases.filter { $0 < minimumAppVersion }.map {
            Scenario(kind: .olderRelease($0), point: point, launches: [$0], ranBefore: jump.ran)
        }
    }

    /// The releases after `start`, from the first release with this library on: that release, each declared
    /// version, each starting point's version, and the current version.
    ///
    /// Earlier releases are left out, because no run can show what they would do: they don't call the app's
    /// declarations, and don't know a minimum app version.
    private func releasesWithLibrary(after start: AppVersion?) -> [AppVersion] {
        var releases: [AppVersion] = []
        let candidates = declared + startVersions.compactMap(\.self) + [adoption].compactMap(\.self)
        for version in candidates.sorted()
        where releases.last != version && version < current && version >= adoption ?? version {
            if start.map({ $0 < version }) ?? true { releases.append(version) }
        }
        return releases + [current]
    }
}
