import AppMigrations

/// The answer of the app's own `firstRun:` on a starting point's data, held against the version that the data is at.
struct FirstRunAnswer {
    let point: Int
    let start: StartingPoint
    let answer: Result<MigrationManager.FirstRun, any Error>

    /// The run of the question, without those that the answer leads to.
    func row(declared: [AppVersion], current: AppVersion, _ folders: RehearsalFolders) -> RehearsedRun {
        let said: MigrationManager.FirstRun? = if case .success(let answer) = answer { answer } else { nil }
        return RehearsedRun(
            start: start.title,
            title: "asked firstRun",
            appVersions: [current],
            ran: [],
            duration: .zero,
            findings: judged(declared, current, folders).finding.map { [$0] } ?? [],
            answer: said
        )
    }

    /// The finding about the answer alone, and the answer itself where migrations would run by it that the data has already.
    ///
    /// That does no harm where these find out what is done: it has to be run to be known.
    func judged(_ declared: [AppVersion], _ current: AppVersion, _ folders: RehearsalFolders)
        -> (finding: RehearsalFinding?, repeating: MigrationManager.FirstRun?)
    {
        do {
            let answer = try answer.get()
            if case .existingData(let text) = answer, try AppVersion(parsing: text).exceeds(current) {
                let newer = "\(Self.text(of: answer)) is newer than the app (\(current))"
                throw RehearsalFinding(.failed, "\(newer), and every start would throw.")
            }
            let (due, running) = try (pending(declared, start.firstRun), pending(declared, answer))
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
        // A release leaves its sub-migrations behind, too: then the answer is right, and the starting point too low.
        let last = concerned[concerned.count - 1]
        if case .existingData(let release) = start.firstRun, AppVersion(release).map(last.exceeds) == false {
            text += " If the release had done \(list) already, its starting point is .version(\"\(last)\")."
        }
        return RehearsalFinding(kind, version: concerned[0], text)
    }

    /// The versions that would run; in a fresh install none does, sub-migrations of the current version included.
    private func pending(
        _ declared: [AppVersion],
        _ answer: MigrationManager.FirstRun
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
