import AppMigrations

/// The answer of the app's own `firstRun:` about a starting point's data, to be compared with the version of
/// that data.
struct FirstRunAnswer {
    let point: Int
    let start: StartingPoint
    let answer: Result<MigrationManager.FirstRun, any Error>

    /// The report's row for the question.
    ///
    /// The runs that the answer requires have rows of their own.
    func row(declared: [AppVersion], current: AppVersion, in folders: RehearsalFolders) -> RehearsedRun {
        let said: MigrationManager.FirstRun? = if case .success(let answer) = answer { answer } else { nil }
        return RehearsedRun(
            start: start.title,
            title: "asked firstRun",
            appVersions: [current],
            ran: [],
            duration: .zero,
            findings: judged(declared: declared, current: current, in: folders).finding.map { [$0] } ?? [],
            answer: said
        )
    }

    /// The finding about the answer, and the answer itself if it would run migrations that the data already
    /// has.
    ///
    /// Running them again is harmless if they find out what is already done. Only a run shows that.
    func judged(declared: [AppVersion], current: AppVersion, in folders: RehearsalFolders)
        -> (finding: RehearsalFinding?, repeating: MigrationManager.FirstRun?)
    {
        do {
            let answer = try answer.get()
            if case .existingData(let text) = answer, try AppVersion(parsing: text).exceeds(current) {
                let newer = "\(Self.text(of: answer)) is newer than the app (\(current))"
                throw RehearsalFinding(.failed, "\(newer), and every start would throw.")
            }
            let due = try pending(declared, after: start.firstRun)
            let running = try pending(declared, after: answer)
            let skipped = due.filter { !running.contains($0) }
            if !skipped.isEmpty { return (finding(.firstRunSkips, answer, skipped), nil) }
            if running == due { return (nil, nil) }
            if start.kind != .freshInstall { return (nil, answer) }
            return (finding(.firstRunRepeats, answer, running), nil)
        } catch {
            let text = "\(start.origin), asked firstRun: \(folders.words(of: error))"
            return (RehearsalFinding(.failed, text), nil)
        }
    }

    private func finding(
        _ kind: RehearsalFinding.Kind,
        _ answer: MigrationManager.FirstRun,
        _ concerned: [AppVersion]
    ) -> RehearsalFinding {
        let list = concerned.map(\.description).joined(separator: ", ")
        let effect = kind == .firstRunSkips ? "never run on this data" : "run where there is nothing"
        let said = "\(start.origin): firstRun: answers \(Self.text(of: answer))"
        var text = "\(said), so that \(list) would \(effect). Answer the version that the data is at."
        // A release also does the work of its sub-migrations. Then the answer is right, and the starting
        // point's version is too low.
        let last = concerned[concerned.count - 1]
        if case .existingData(let release) = start.firstRun, AppVersion(release).map(last.exceeds) == false {
            text += " If the release had done \(list) already, its starting point is .version(\"\(last)\")."
        }
        return RehearsalFinding(kind, version: concerned[0], text)
    }

    /// The versions that would run.
    ///
    /// In a fresh install none runs, not even a sub-migration of the current version.
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
