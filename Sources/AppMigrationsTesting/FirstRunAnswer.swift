import AppMigrations

/// The answer that the app's own `firstRun:` returned for the data of a starting point.
///
/// It is compared with the real version of that data.
struct FirstRunAnswer {
    let point: Int
    let start: StartingPoint
    let answer: Result<MigrationManager.FirstRun, any Error>

    /// The report's row for the question.
    ///
    /// The runs that the answer requires have rows of their own.
    func row(declared: [AppVersion], current: AppVersion, in folders: RehearsalFolders) -> RehearsedRun {
        let returned: MigrationManager.FirstRun? =
            if case .success(let answer) = answer { answer } else { nil }
        var findings: [RehearsalFinding] = []
        if case .wrong(let finding) = verdict(declared: declared, current: current, in: folders) {
            findings = [finding]
        }
        return RehearsedRun(
            start: start.title,
            title: "asked firstRun",
            appVersions: [current],
            ran: [],
            duration: .zero,
            findings: findings,
            answer: returned
        )
    }

    enum Verdict {
        case right
        case wrong(RehearsalFinding)
        /// The answer would run migrations that the data already has.
        ///
        /// Running them again is harmless if they find out what is already done. Only a run shows that.
        case mustBeRun(MigrationManager.FirstRun)
    }

    /// Checks the answer.
    func verdict(declared: [AppVersion], current: AppVersion, in folders: RehearsalFolders) -> Verdict {
        do {
            let answer = try answer.get()
            if case .existingData(let text) = answer, try AppVersion(parsing: text).exceeds(current) {
                let newer = "\(Self.text(of: answer)) is newer than the app (\(current))"
                throw RehearsalFinding(.failed, "\(newer), so every start would fail.")
            }
            let due = try pending(declared, after: start.expectedFirstRun)
            let running = try pending(declared, after: answer)
            let skipped = due.filter { !running.contains($0) }
            if !skipped.isEmpty { return .wrong(finding(.firstRunSkips, for: answer, about: skipped)) }
            if running == due { return .right }
            if start.kind != .freshInstall { return .mustBeRun(answer) }
            return .wrong(finding(.firstRunRepeats, for: answer, about: running))
        } catch {
            let text = "\(start.origin), asked firstRun: \(folders.sentence(describing: error))"
            return .wrong(RehearsalFinding(.failed, text))
        }
    }

    private func finding(
        _ kind: RehearsalFinding.Kind,
        for answer: MigrationManager.FirstRun,
        about versions: [AppVersion]
    ) -> RehearsalFinding {
        let list = versions.map(\.description).joined(separator: ", ")
        let isSkipped = kind == .firstRunSkips
        let effect = isSkipped ? "never run on this data" : "run in an empty folder"
        let advice =
            isSkipped ? "Return the version of the data." : "Return .freshInstall if there is no data."
        var text =
            "\(start.origin): firstRun: returns \(Self.text(of: answer)), so \(list) would \(effect). \(advice)"
        // A release may already contain the work of its sub-migrations, such as 1.1-2. If so, the answer is
        // right, and the starting point should have the version of the last sub-migration.
        let last = versions[versions.count - 1]
        if case .existingData(let release) = start.expectedFirstRun,
            AppVersion(release).map(last.exceeds) == false
        {
            text += " If the release had done \(list) already, its starting point is .version(\"\(last)\")."
        }
        return RehearsalFinding(kind, version: versions[0], text)
    }

    /// The versions that would run.
    ///
    /// On a fresh install no migration runs, not even a sub-migration of the current version.
    private func pending(
        _ declared: [AppVersion],
        after answer: MigrationManager.FirstRun
    ) throws -> [AppVersion] {
        switch answer {
        case .freshInstall: return []
        case .everything: return declared
        case .existingData(let text):
            let version = try AppVersion(parsing: text)
            return declared.filter { $0 > version }
        }
    }

    static func text(of answer: MigrationManager.FirstRun) -> String {
        switch answer {
        case .freshInstall: "freshInstall"
        case .existingData(let version): "existingData(at: \"\(version)\")"
        case .everything: "everything"
        }
    }
}
