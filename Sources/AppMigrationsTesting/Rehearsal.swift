public import AppMigrations

/// Runs an app's migrations from every version that users upgrade from, before the users do.
///
/// It migrates each starting point to the current version: in one jump, release by release, with a crash at
/// each save, checkpoint, `synchronize` and commit of a batch, and with each closure throwing once. Releases
/// below a `minimumAppVersion:` are started on data that they must no longer change. Every run begins with a
/// new copy of the data, and must end with the same data as the others. A rehearsal asserts nothing itself:
/// it returns a ``RehearsalReport``, whose ``RehearsalReport/requireClean()`` fails a test.
///
/// ```swift
/// let rehearsal = Rehearsal(
///     currentVersion: "1.4",
///     from: [
///         .version("1.0", copying: fixtures + "/1.0"),
///         .freshInstall { folder in try Library.create(in: folder) },
///     ]
/// )
/// let report = try rehearsal.run { migrations, folder in
///     try Library(folder: folder).declare(migrations)
/// }
/// try report.requireClean()
/// ```
///
/// All starting points of a rehearsal must be the data of the same user, because the results are compared
/// with each other. For another user's data, write another rehearsal.
public struct Rehearsal: Sendable {
    let name: String
    let currentVersion: String
    let upgradesFrom: String?
    let startingPoints: [StartingPoint]
    let comparison: FolderComparison
    let recordFile: String?
    let workingDirectory: String?

    /// Describes a rehearsal; nothing is read or run yet.
    ///
    /// - Parameters:
    ///   - name: The manager's name, for declarations that read it.
    ///   - currentVersion: The version of the app that is about to be released.
    ///   - upgradesFrom: The oldest version whose data the app still upgrades, as in
    ///     `MigrationManager.Options`. A version up to it may have disappeared. A starting point below it is
    ///     a finding.
    ///   - startingPoints: The versions that users upgrade from, with their data. The results of all others
    ///     are compared with the jump from the newest version, because that runs the fewest migrations.
    ///   - rules: The differences that are allowed. If several rules match a path, the first one applies.
    ///   - file: The path of a text file, kept with the tests, that has a line for each version that was ever
    ///     declared. The first rehearsal creates it. Later ones append to it and report versions that have
    ///     disappeared. Delete the line of a version that was never released.
    ///   - workingDirectory: The path of a folder for the data of the runs, which is removed afterwards. With
    ///     `nil` it is `/dev/shm`, if that has 1 GiB free, because migrations that sync their files are many
    ///     times faster in memory. Otherwise it is the temporary directory.
    public init(
        named name: String = "default",
        currentVersion: String,
        upgradesFrom: String? = nil,
        from startingPoints: [StartingPoint],
        comparing rules: [ComparisonRule] = [],
        recordingVersionsIn file: String? = nil,
        workingDirectory: String? = nil
    ) {
        self.name = name
        self.currentVersion = currentVersion
        self.upgradesFrom = upgradesFrom
        self.startingPoints = StartingPoint.numbered(startingPoints)
        comparison = FolderComparison(rules: rules)
        recordFile = file
        self.workingDirectory = workingDirectory
    }

    /// Rehearses the declarations, which get a manager and the path of the folder with the data.
    ///
    /// The data is always at the same path, so that paths inside the data don't differ. The state is at
    /// another path. The declarations are called once for each start, and once before all starts to list the
    /// versions.
    ///
    /// The app's answer to `firstRun:` decides which migrations run for every user of a release without this
    /// library. If you pass `firstRun`, the app is asked about the data of each starting point, and about an
    /// empty folder for a fresh install. A migration that the answer would skip is a finding. If the answer
    /// would run migrations on data that already has them, that is run and compared, too. When the newest
    /// starting point has been upgraded, the app is asked again, as if the state was lost, and started with
    /// its answer. It is also asked about the unfinished data of each migration that saves checkpoints, calls
    /// `synchronize` or commits batches, as it is after the first of these. All other runs use the versions
    /// of the starting points.
    ///
    /// If you pass `adoption`, and there are older releases with this library, the declarations also run on an
    /// empty folder. A new user of the newest of these releases has such a folder if the first start was killed
    /// before it created the data.
    ///
    /// - Parameters:
    ///   - firstRun: The app's own expression for `firstRun:`, for data in this folder. It returns `nil` to
    ///     skip the question.
    ///   - adoption: The first release with this library. Users of that release and later ones have a state,
    ///     so the app isn't asked about their starting points. With `nil` it is asked about all of them.
    ///   - declarations: The declarations of the app, for data in this folder.
    /// - Returns: The report. With `firstRun` it also has a row `asked firstRun` for each starting point that
    ///   was asked about, a row `after the state was lost`, and a row `after the state was lost inside 1.1`
    ///   for each migration whose data was seen unfinished. With `adoption` and a fresh install, it can have a
    ///   row `updated after 1.3 was killed at its first start`.
    /// - Throws: The error of a starting point that can't be created, `MigrationError` for a version that
    ///   can't be read, and errors of files that can't be copied or compared. The error of a migration or of
    ///   `firstRun` is a finding instead.
    public func run(
        firstRun: (_ folder: String) throws -> MigrationManager.FirstRun? = { _ in nil },
        before adoption: String? = nil,
        _ declarations: (MigrationManager, String) throws -> Void
    ) throws -> RehearsalReport {
        let stage = try RehearsalStage(self)
        try stage.ask(firstRun, before: adoption)
        while let launch = try stage.next(firstRun) {
            var failure: (any Error)?
            do { try declarations(launch.manager, launch.folder) } catch { failure = error }
            try stage.end(launch, error: failure)
        }
        return try stage.close()
    }

    /// Rehearses declarations that are awaited, on the caller's actor.
    nonisolated(nonsending) public func run(
        firstRun: (_ folder: String) throws -> MigrationManager.FirstRun? = { _ in nil },
        before adoption: String? = nil,
        _ declarations: nonisolated(nonsending) (MigrationManager, String) async throws -> Void
    ) async throws -> RehearsalReport {
        let stage = try RehearsalStage(self)
        try stage.ask(firstRun, before: adoption)
        while let launch = try stage.next(firstRun) {
            var failure: (any Error)?
            do { try await declarations(launch.manager, launch.folder) } catch { failure = error }
            try stage.end(launch, error: failure)
        }
        return try stage.close()
    }
}
