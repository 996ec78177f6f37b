import AppMigrations

/// The state machine of a rehearsal: it prepares one start of the app after another, and records the outcome
/// of each.
///
/// Only ``Rehearsal`` calls the app's declarations, because one of its methods is synchronous and the other
/// is asynchronous.
final class RehearsalStage {
    let rehearsal: Rehearsal
    let current: AppVersion
    /// The oldest version whose data the app still upgrades.
    let oldest: AppVersion?
    /// The versions of the starting points; `nil` if all migrations run.
    let startVersions: [AppVersion?]
    let folders: RehearsalFolders
    private(set) var report: RehearsalReport
    /// The rows of the report, by the index of their starting point.
    private var rows: [Int: [RehearsedRun]] = [:]
    private var waitingScenarios: [Scenario] = []
    /// The index of the starting point that the other starting points are compared with.
    private(set) var referencePoint: Int?
    private var run: ActiveRun?
    /// The starting points whose data has been created.
    private var createdPoints: Set<Int> = []
    /// The app's answers to `firstRun:`, one for each starting point that it was asked about.
    var answers: [FirstRunAnswer] = []
    /// The first release with this library, if the app named it.
    var adoption: AppVersion?
    private var isDeclaredListComplete = false
    /// The declared versions, in the order of the declarations.
    var declared: [AppVersion] = [] { didSet { report.declaredVersions = declared.map(\.description) } }
    /// The versions that are declared with `addedIn:`: they run even if a later migration has run.
    var addedLater: Set<AppVersion> = []

    init(_ rehearsal: Rehearsal) throws {
        self.rehearsal = rehearsal
        let current = try AppVersion(parsing: rehearsal.currentVersion)
        self.current = current
        oldest = try rehearsal.upgradesFrom.map { try AppVersion(parsing: $0) }
        folders = try RehearsalFolders(in: rehearsal.workingDirectory)
        startVersions = try rehearsal.startingPoints.map { try $0.version(current: current) }
        report = RehearsalReport(
            name: rehearsal.name,
            currentVersion: current.description,
            hasFreshInstall: rehearsal.startingPoints.contains { $0.kind == .freshInstall }
        )
        waitingScenarios = [Scenario(kind: .listing, point: 0, launches: [current])]
    }

    /// Prepares the data for the next start, and returns that start; `nil` if no start is left.
    ///
    /// `firstRun` asks the app about data without a state.
    func nextLaunch(askingFirstRun firstRun: (String) throws -> MigrationManager.FirstRun?) throws -> Launch?
    {
        try cleaningUp {
            while true {
                if let launch = try continueRun() { return launch }
                if waitingScenarios.isEmpty { return nil }
                try beginRun(of: waitingScenarios.removeFirst(), askingFirstRun: firstRun)
            }
        }
    }

    /// Records the outcome of a start.
    func end(_ launch: Launch, error: (any Error)?) throws {
        try cleaningUp { try recordOutcome(of: launch, error: error) }
    }

    /// Checks the versions against the record, removes the folders, and returns the report.
    func close() throws -> RehearsalReport {
        try cleaningUp { try checkVersionRecord() }
        try FolderFiles.remove(folders.root)
        return finishedReport()
    }

    private func checkVersionRecord() throws {
        guard report.versionFindings.isEmpty, isDeclaredListComplete, let file = rehearsal.recordFile
        else { return }
        let record = try VersionRecord(path: file)
        let mistakes = VersionMistakes(declared: declared, addedLater: addedLater, current: current)
        report.versionFindings = mistakes.changes(since: record, upgradesFrom: oldest)
        if report.versionFindings.isEmpty { try record.append(declared) }
    }

    private func finishedReport() -> RehearsalReport {
        for answer in answers {
            let row = answer.row(declared: declared, current: current, in: folders)
            rows[answer.point, default: []].insert(row, at: 0)
        }
        report.runs = rehearsal.startingPoints.indices.flatMap { rows[$0] ?? [] }
        if let finding = nothingRehearsedFinding { report.versionFindings.append(finding) }
        return report
    }

    /// Removes the folders if `body` throws, because then there is no report that could name them.
    func cleaningUp<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch {
            try FolderFiles.removeIfPresent(folders.root)
            throw error
        }
    }

    /// Returns the next start of the current run.
    ///
    /// If none is left, this ends the run and returns `nil`.
    private func continueRun() throws -> Launch? {
        guard var active = run else { return nil }
        if active.failure == nil, let version = active.launches.popFirst() {
            do throws(MigrationError) {
                let isFirst = active.launches.count + 1 == active.scenario.launches.count
                let launch = try makeLaunch(of: version, in: active.scenario, isFirst: isFirst)
                run = active
                return launch
            } catch {
                // The app couldn't create its manager. So the run ends with this error.
                active.failure = error
            }
        }
        run = nil
        if active.scenario.kind != .listing { try keepResult(of: active) }
        return nil
    }

    private func beginRun(
        of scenario: Scenario,
        askingFirstRun firstRun: (String) throws -> MigrationManager.FirstRun?
    ) throws {
        try prepare(scenario)
        run = ActiveRun(scenario)
        guard scenario.kind.asksFirstRun else { return }
        do {
            if let answer = try firstRun(folders.data) {
                run?.scenario.answer = answer
            } else {
                // The app isn't asked about this folder, so the run is left out.
                run = nil
            }
        } catch { run?.failure = error }
    }

    private func recordOutcome(of launch: Launch, error: (any Error)?) throws {
        let duration = ContinuousClock.now - launch.began
        let record = launch.recorder.record
        if let problem = record.problem { throw problem }
        guard var active = run else { return }
        active.duration += duration - record.copying
        active.ran += record.ran
        active.images += record.images
        active.failure = failure(of: launch, error: error, in: active.scenario)
        active.findings += record.changedOriginals.map { finding(of: $0, in: active.scenario) }
        run = active
        addedLater.formUnion(record.addedLater)
        switch active.scenario.kind {
        case .listing:
            recordListing(of: record.declared, refusal: launch.manager.firstFailure, error: error)
        case .jump where active.failure == nil:
            if record.declared.count > declared.count { declared = record.declared }
            isDeclaredListComplete = true
        default: break
        }
    }

    /// The error with which a start failed; `nil` if it succeeded, or if the scenario expects the error.
    private func failure(of launch: Launch, error: (any Error)?, in scenario: Scenario) -> (any Error)? {
        let firstFailure = launch.manager.firstFailure
        // An older release may refuse to start with an error, or start without changing the data. Both are
        // right.
        if case .olderRelease = scenario.kind { return nil }
        // The rehearsal stopped an older release at the first version that this release doesn't have.
        if launch.recorder.record.isStopped, firstFailure?.code == .newerThanCurrentVersion { return nil }
        // The rehearsal itself threw this error, in place of a closure.
        if firstFailure?.underlyingError is LaunchRecorder.RehearsedFailure { return nil }
        return firstFailure ?? error
    }

    private var nothingRehearsedFinding: RehearsalFinding? {
        guard report.findings.isEmpty, !declared.isEmpty else { return nil }
        guard report.unrehearsedVersions.count == declared.count else { return nil }
        let fact =
            "No migration ran, because every starting point is already at or above the declared versions."
        let advice = "Add a starting point for each version that users upgrade from."
        return RehearsalFinding(.notRehearsed, "\(fact) \(advice)")
    }

    private func recordListing(of declared: [AppVersion], refusal: MigrationError?, error: (any Error)?) {
        self.declared = declared
        report.versionFindings = VersionMistakes(declared: declared, current: current).declarationMistakes
        if let refusal {
            let kind: RehearsalFinding.Kind = refusal.code == .invalidVersion ? .invalidVersion : .failed
            let finding = RehearsalFinding(
                kind,
                version: refusal.version,
                folders.sentence(describing: refusal)
            )
            report.versionFindings.append(finding)
        }
        guard report.versionFindings.isEmpty else { return }
        // Code between two declarations may need the work of the first migration. While listing, that
        // migration doesn't run. So such code may throw, and the list ends early. Then the list is taken from
        // the first jump.
        isDeclaredListComplete = error == nil
        waitingScenarios = jumpOrder.map { Scenario(kind: .jump, point: $0, launches: [current]) }
    }

    /// The starting points, in the order in which their jumps run.
    ///
    /// The newest version is first, because the other data is compared with its data. Fresh installs are
    /// last.
    private var jumpOrder: [Int] {
        let points = rehearsal.startingPoints
        let isFresh = { (point: Int) in points[point].kind == .freshInstall }
        let upgrades = points.indices.filter { !isFresh($0) }.sorted { first, second in
            guard let older = startVersions[second] else { return startVersions[first] != nil }
            return startVersions[first].map { older < $0 } ?? false
        }
        return upgrades + points.indices.filter(isFresh)
    }

    private func makeLaunch(
        of version: AppVersion,
        in scenario: Scenario,
        isFirst: Bool
    ) throws(MigrationError) -> Launch {
        let isListing = scenario.kind == .listing
        let manager = try MigrationManager(
            named: rehearsal.name,
            currentVersion: version.description,
            firstRun: isListing
                ? .everything : scenario.answer ?? rehearsal.startingPoints[scenario.point].expectedFirstRun,
            stateDirectory: folders.state,
            // A release below `upgradesFrom` could still upgrade older data, so it has no such limit.
            options: MigrationManager.Options(
                upgradesFrom: oldest.map { version < $0 } == true ? nil : rehearsal.upgradesFrom
            )
        )
        let recorder = LaunchRecorder(
            scenario.kind,
            limit: version == current ? nil : version,
            failing: isFirst ? scenario.kind.failingVersion : nil,
            missing: isFirst ? scenario.kind.missingVersion : nil,
            folders: folders
        )
        return Launch(
            manager: MigrationManager(rehearsing: manager, observedBy: recorder),
            folder: folders.data,
            recorder: recorder
        )
    }

    /// Puts the data of a scenario in place, and for some scenarios a state.
    ///
    /// - After a crash: the data and the state of the image. If the state is lost, too: only the data.
    /// - After the state was lost: the data at the end of the jump.
    /// - For an older release: the data and the state at the end of the jump.
    /// - For a release that writes in the middle of an upgrade: the data and the state after a migration, and
    ///   then what that release writes.
    /// - After an interrupted install: an empty folder, and a state.
    /// - Otherwise: a copy of the starting point's data, which is created the first time.
    func prepare(_ scenario: Scenario) throws {
        try FolderFiles.removeIfPresent(folders.run)
        if case .stateLostWhileMigrating = scenario.kind, let image = scenario.image {
            try FolderFiles.makeFolder(folders.run)
            return try FolderFiles.copy(folders.data(of: image), to: folders.data)
        }
        if case .writtenBetween = scenario.kind, let image = scenario.image {
            try FolderFiles.copy(image.path, to: folders.run)
            return try write(at: scenario.point)
        }
        if let image = scenario.image { return try FolderFiles.move(image.path, to: folders.run) }
        try FolderFiles.makeFolder(folders.run)
        let point = scenario.point
        switch scenario.kind {
        case .olderRelease:
            try FolderFiles.copy(folders.endState(ofPoint: point), to: folders.state)
            return try FolderFiles.copy(folders.endData(ofPoint: point), to: folders.data)
        case .stateLost: return try FolderFiles.copy(folders.endData(ofPoint: point), to: folders.data)
        case .interruptedInstall(let version): return try interruptInstall(of: version)
        default: break
        }
        if createdPoints.contains(point) {
            try FolderFiles.copy(folders.startData(ofPoint: point), to: folders.data)
            if case .writtenBefore = scenario.kind { try write(at: point) }
            return
        }
        try FolderFiles.makeFolder(folders.data)
        guard rehearsal.startingPoints.indices.contains(point) else { return }
        try rehearsal.startingPoints[point].make(folders.data)
        try FolderFiles.copy(folders.data, to: folders.startData(ofPoint: point))
        createdPoints.insert(point)
    }

    /// Writes what the release of the starting point writes.
    private func write(at point: Int) throws { try rehearsal.startingPoints[point].write?(folders.data) }

    /// Simulates a new install of an older release that is killed after it has created its manager: there is
    /// a state, but no data.
    private func interruptInstall(of version: AppVersion) throws {
        try FolderFiles.makeFolder(folders.data)
        _ = try MigrationManager(
            named: rehearsal.name,
            currentVersion: version.description,
            stateDirectory: folders.state
        )
    }

    /// Adds the row of a run that has ended.
    ///
    /// After a jump, also keeps its data, and adds the runs that are compared with it. After a jump that
    /// failed, removes its images.
    private func keepResult(of run: ActiveRun) throws {
        let point = run.scenario.point
        rows[point, default: []].append(try row(for: run))
        if case .writtenBefore = run.scenario.kind { return try keepResultAfterWriting(of: run) }
        guard run.scenario.kind == .jump else { return }
        if run.failure == nil {
            try FolderFiles.move(folders.data, to: folders.endData(ofPoint: point))
            if rehearsal.startingPoints[point].kind != .freshInstall {
                referencePoint = referencePoint ?? point
            }
            waitingScenarios = try followUps(of: run) + waitingScenarios
        } else {
            for image in run.images { try FolderFiles.remove(image.path) }
        }
    }

    /// Keeps the data of the run in which the older release wrote before the upgrade, for the runs in which
    /// it writes later.
    ///
    /// If that run failed, there is nothing to compare them with, so they are left out.
    private func keepResultAfterWriting(of run: ActiveRun) throws {
        let point = run.scenario.point
        if run.failure == nil {
            return try FolderFiles.move(folders.data, to: folders.endDataAfterWriting(atPoint: point))
        }
        waitingScenarios.removeAll { scenario in
            if case .writtenBetween = scenario.kind { scenario.point == point } else { false }
        }
    }
}
