import AppMigrations

extension RehearsalStage {
    /// Asks the app where the data of each starting point is; what the answers mean is known once the versions are.
    ///
    /// From the release `first` on a starting point has a state, and the app isn't asked about it.
    func ask(
        _ firstRun: (_ folder: String) throws -> MigrationManager.FirstRun,
        before first: String?
    ) throws {
        hasFirstRun = true
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
                let (version, answer) = (startVersions[point], Result { try firstRun(folders.data) })
                answers.append(FirstRunAnswer(point: point, start: start, version: version, answer: answer))
            }
        }
    }
}
