import AppMigrations

/// The answer of the app's own `firstRun:` on a starting point's data, held against the version that the data is at.
struct FirstRunAnswer {
    let point: Int
    let start: StartingPoint
    /// The version that the data is at; `nil` where everything runs.
    let version: AppVersion?
    let answer: Result<MigrationManager.FirstRun, any Error>

    /// The run of the question, without those that the answer leads to.
    func row(declared: [AppVersion], current: AppVersion, _ folders: RehearsalFolders) -> RehearsedRun {
        let said: MigrationManager.FirstRun? = if case .success(let answer) = answer { answer } else { nil }
        var found = [RehearsalFinding]()
        do { found = try findings(declared, current) } catch {
            let words = folders.words(of: error)
            found = [RehearsalFinding(.failed, "\(start.origin), asked firstRun: \(words)")]
        }
        return RehearsedRun(
            start: start.title,
            title: "asked firstRun",
            appVersions: [current],
            ran: [],
            duration: .zero,
            findings: found,
            answer: said
        )
    }

    /// The answer, where migrations would run by it that the data has already.
    ///
    /// That does no harm where these find out what is done: it has to be run to be known.
    func repeating(declared: [AppVersion], current: AppVersion) -> MigrationManager.FirstRun? {
        guard start.kind != .freshInstall, case .success(let answer) = answer else { return nil }
        do {
            let (due, running) = try due(declared, by: answer, current)
            return running.contains { !due.contains($0) } ? answer : nil
        } catch {
            // The row has this error.
            return nil
        }
    }

    private func findings(_ declared: [AppVersion], _ current: AppVersion) throws -> [RehearsalFinding] {
        let answer = try answer.get()
        let (due, running) = try due(declared, by: answer, current)
        let said = "\(start.origin): firstRun: answers \(Self.text(of: answer))"
        let skipped = due.filter { !running.contains($0) }
        if let first = skipped.first {
            let text = "\(said), so that \(Self.list(skipped)) would never run on this data."
            return [finding(.firstRunSkips, first, text)]
        }
        guard start.kind == .freshInstall, let first = running.first else { return [] }
        return [
            finding(
                .firstRunRepeats,
                first,
                "\(said), so that \(Self.list(running)) would run where there is nothing."
            )
        ]
    }

    private func finding(_ kind: RehearsalFinding.Kind, _ version: AppVersion, _ text: String)
        -> RehearsalFinding
    {
        RehearsalFinding(kind, version: version, "\(text) Answer the version that the data is at.")
    }

    private static func list(_ versions: [AppVersion]) -> String {
        versions.map(\.description).joined(separator: ", ")
    }

    /// The versions that have to run on the data, and those that would run by the answer.
    private func due(
        _ declared: [AppVersion],
        by answer: MigrationManager.FirstRun,
        _ current: AppVersion
    ) throws -> (due: [AppVersion], running: [AppVersion]) {
        let answered = try mark(of: answer, current)
        return (
            Self.pending(declared, after: version, start.firstRun),
            Self.pending(declared, after: answered, answer)
        )
    }

    private func mark(
        of answer: MigrationManager.FirstRun,
        _ current: AppVersion
    ) throws -> AppVersion? {
        switch answer {
        case .freshInstall: return current
        case .everything: return nil
        case .existingData(let text):
            let version = try AppVersion(parsing: text)
            if version.exceeds(current) { throw Newer(version: version, current: current) }
            return version
        }
    }

    /// A version that no start would take.
    private struct Newer: Error, CustomStringConvertible {
        let version: AppVersion
        let current: AppVersion

        var description: String {
            "existingData(at: \"\(version)\") is newer than the app (\(current)), and every start would throw."
        }
    }

    /// The versions that would run; in a fresh install none does, sub-migrations of the current version included.
    private static func pending(
        _ declared: [AppVersion],
        after mark: AppVersion?,
        _ answer: MigrationManager.FirstRun
    ) -> [AppVersion] {
        if case .freshInstall = answer { return [] }
        return declared.filter { version in mark.map { version > $0 } ?? true }
    }

    static func text(of answer: MigrationManager.FirstRun) -> String {
        switch answer {
        case .freshInstall: "freshInstall"
        case .existingData(let version): "existingData(at: \"\(version)\")"
        case .everything: "everything"
        }
    }
}
