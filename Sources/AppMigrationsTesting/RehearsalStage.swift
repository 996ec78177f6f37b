import AppMigrations

/// Runs the scenarios, one start of the app after the other.
///
/// Only the call of the declarations is in ``Rehearsal``, because it may be synchronous or asynchronous.
final class RehearsalStage {
    let rehearsal: Rehearsal
    let current: AppVersion
    /// The oldest version whose data the app still upgrades.
    let oldest: AppVersion?
    /// The versions of the starting points; `nil` if all migrations run.
    let startVersions: [AppVersion?]
    let folders: RehearsalFolders
    private(set) var report: RehearsalReport
    /// The rows of the report by their starting points.
    private var rows: [Int: [RehearsedRun]] = [:]
    private var waiting: [Scenario] = []
    /// The starting point with whose data the data of the others is compared.
    private(set) var reference: Int?
    private var run: RunUnderWay?
    private var madePoints: Set<Int> = []
    /// The app's answers to `firstRun:`, by the starting points.
    var answers: [FirstRunAnswer] = []
    /// The first release with this library, if the app named it.
    var adoption: AppVersion?
    /// True if the list of declared versions is complete.
    private var isListed = false
    /// The declared versions, in their order.
    var declared: [AppVersion] = [] { didSet { report.declaredVersions = declared.map(\.description) } }
    /// The versions that also run below the last-run version.
    var outOfOrder: Set<AppVersion> = []

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
        waiting = [Scenario(kind: .listing, point: 0, launches: [current])]
    }

    /// Prepares the data for the next start; returns `nil` when everything is rehearsed.
    ///
    /// `firstRun` asks the app about data without a state.
    func next(_ firstRun: (String) throws -> MigrationManager.FirstRun?) throws -> Launch? {
        try cleaningUp { try nextLaunch(firstRun) }
    }

    /// Records the outcome of a start.
    func end(_ launch: Launch, error: (any Error)?) throws {
        try cleaningUp { try recordOutcome(of: launch, error: error) }
    }

    /// Checks the versions against the record, cleans up, and returns the report.
    func close() throws -> RehearsalReport {
        try cleaningUp {
            guard report.versionFindings.isEmpty, isListed, let file = rehearsal.recordFile else { return }
            let record = try VersionRecord(path: file)
            let mistakes = VersionMistakes(declared: declared, outOfOrder: outOfOrder, current: current)
            report.versionFindings = mistakes.changes(since: record, upgradesFrom: oldest)
            if report.versionFindings.isEmpty { try record.append(declared) }
        }
        try FolderFiles.remove(folders.root)
        for answer in answers {
            let row = answer.row(declared: declared, current: current, in: folders)
            rows[answer.point, default: []].insert(row, at: 0)
        }
        report.runs = rehearsal.startingPoints.indices.flatMap { rows[$0] ?? [] }
        if let finding = findingOfNothingRehearsed { report.versionFindings.append(finding) }
        return report
    }

    /// Removes the folders if `body` throws, because then there is no report that could name them.
    func cleaningUp<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch {
            try FolderFiles.removeIfThere(folders.root)
            throw error
        }
    }

    private func nextLaunch(_ firstRun: (String) throws -> MigrationManager.FirstRun?) throws -> Launch? {
        while true {
            if var under = run {
                if under.failure == nil, let version = under.launches.popFirst() {
                    do throws(MigrationError) {
                        let isFirst = under.launches.count + 1 == under.scenario.launches.count
                        let launch = try launch(version, in: under.scenario, isFirst: isFirst)
                        run = under
                        return launch
                    } catch {
                        under.failure = error
                        run = under
                    }
                } else {
                    run = nil
                    if under.scenario.kind != .listing { try finish(under) }
                }
            } else if !waiting.isEmpty {
                let scenario = waiting.removeFirst()
                try prepare(scenario)
                run = RunUnderWay(scenario)
                guard scenario.kind.asksFirstRun else { continue }
                do {
                    let answer = try firstRun(folders.data)
                    if answer == nil { run = nil } else { run?.scenario.answer = answer }
                } catch { run?.failure = error }
            } else {
                return nil
            }
        }
    }

    private func recordOutcome(of launch: Launch, error: (any Error)?) throws {
        let duration = ContinuousClock.now - launch.began
        let record = launch.recorder.record
        if let problem = record.problem { throw problem }
        guard var under = run else { return }
        var failure: (any Error)? = launch.manager.firstFailure ?? error
        let first = launch.manager.firstFailure
        // The app may stop with an error, or just not change the data.
        if case .older = under.scenario.kind { failure = nil }
        if record.isStopped, first?.code == .newerThanCurrentVersion { failure = nil }
        if first?.underlyingError is LaunchRecorder.RehearsedFailure { failure = nil }
        under.duration += duration - record.copying
        under.ran += record.ran
        under.images += record.images
        under.failure = failure
        run = under
        outOfOrder.formUnion(record.outOfOrder)
        switch under.scenario.kind {
        case .listing: recordListing(of: record.declared, refusal: first, error: error)
        case .jump where failure == nil:
            if record.declared.count > declared.count { declared = record.declared }
            isListed = true
        default: break
        }
    }

    private var findingOfNothingRehearsed: RehearsalFinding? {
        guard report.findings.isEmpty, !declared.isEmpty else { return nil }
        guard report.unrehearsedVersions.count == declared.count else { return nil }
        let text = "No closure was run: no starting point has data below a declared version."
        return RehearsalFinding(.notRehearsed, "\(text) Add one for each version that users come from.")
    }

    private func recordListing(of declared: [AppVersion], refusal: MigrationError?, error: (any Error)?) {
        self.declared = declared
        report.versionFindings = VersionMistakes(declared: declared, current: current).found
        if let refusal {
            let kind: RehearsalFinding.Kind = refusal.code == .invalidVersion ? .invalidVersion : .failed
            let finding = RehearsalFinding(kind, version: refusal.version, folders.words(of: refusal))
            report.versionFindings.append(finding)
        }
        guard report.versionFindings.isEmpty else { return }
        // Code between two declarations may need the result of the first one, and throw if that was only
        // listed. Then the first jump provides the list.
        isListed = error == nil
        waiting = order.map { Scenario(kind: .jump, point: $0, launches: [current]) }
    }

    /// The newest version is first, because the other data is compared with its data.
    ///
    /// Fresh installs are last.
    private var order: [Int] {
        let points = rehearsal.startingPoints
        let isFresh = { (point: Int) in points[point].kind == .freshInstall }
        let upgrades = points.indices.filter { !isFresh($0) }.sorted { first, second in
            guard let older = startVersions[second] else { return startVersions[first] != nil }
            return startVersions[first].map { older < $0 } ?? false
        }
        return upgrades + points.indices.filter(isFresh)
    }

    private func launch(
        _ version: AppVersion,
        in scenario: Scenario,
        isFirst: Bool
    ) throws(MigrationError) -> Launch {
        let isListing = scenario.kind == .listing
        let failing: AppVersion? = if case .failure(let version) = scenario.kind { version } else { nil }
        let missing: AppVersion? = if case .late(let version) = scenario.kind { version } else { nil }
        let manager = try MigrationManager(
            named: rehearsal.name,
            currentVersion: version.description,
            firstRun: isListing
                ? .everything : scenario.answer ?? rehearsal.startingPoints[scenario.point].firstRun,
            stateDirectory: folders.state,
            // An older release still upgraded older data.
            options: MigrationManager.Options(
                upgradesFrom: oldest.map { version < $0 } == true ? nil : rehearsal.upgradesFrom
            )
        )
        let recorder = LaunchRecorder(
            scenario.kind,
            limit: version == current ? nil : version,
            failing: isFirst ? failing : nil,
            missing: isFirst ? missing : nil,
            folders: folders
        )
        return Launch(
            manager: MigrationManager(rehearsing: manager, with: recorder),
            folder: folders.data,
            recorder: recorder
        )
    }

    /// Puts the data in place: the image of a crash, or a copy of the starting point's data.
    func prepare(_ scenario: Scenario) throws {
        try FolderFiles.removeIfThere(folders.run)
        if case .lostWhileMigrating = scenario.kind, let image = scenario.image {
            try FolderFiles.makeFolder(folders.run)
            return try FolderFiles.copy(folders.data(of: image), to: folders.data)
        }
        if let image = scenario.image { return try FolderFiles.move(image.path, to: folders.run) }
        try FolderFiles.makeFolder(folders.run)
        let point = scenario.point
        switch scenario.kind {
        case .older: try FolderFiles.copy(folders.endState(point), to: folders.state); fallthrough
        case .lost: return try FolderFiles.copy(folders.end(point), to: folders.data)
        case .interruptedInstall(let version): return try interruptInstall(of: version)
        default: break
        }
        if madePoints.contains(point) { return try FolderFiles.copy(folders.start(point), to: folders.data) }
        try FolderFiles.makeFolder(folders.data)
        guard rehearsal.startingPoints.indices.contains(point) else { return }
        try rehearsal.startingPoints[point].make(folders.data)
        try FolderFiles.copy(folders.data, to: folders.start(point))
        madePoints.insert(point)
    }

    /// Leaves what a new install of an older release leaves if it is killed after it has created its manager:
    /// a state, and no data.
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
    /// After a jump, also adds the runs that are compared with it.
    private func finish(_ run: RunUnderWay) throws {
        let point = run.scenario.point
        rows[point, default: []].append(try judged(run))
        guard run.scenario.kind == .jump else { return }
        if run.failure == nil {
            try FolderFiles.move(folders.data, to: folders.end(point))
            if rehearsal.startingPoints[point].kind != .freshInstall { reference = reference ?? point }
            waiting = try followUps(of: run) + waiting
        } else {
            for image in run.images { try FolderFiles.remove(image.path) }
        }
    }
}
