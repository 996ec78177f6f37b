public import AppMigrations

/// Runs an app's migrations from every version that its users come from, before its users do.
///
/// It goes from each starting point to the current version: in one jump, release by release, with a process that dies at each
/// save, checkpoint, `synchronize` and commit of a batch, and with each closure throwing once. Releases below a
/// `minimumAppVersion:` are started on data that they must not touch any more. Every run has its data in a fresh folder, and
/// has to end with the same data. A rehearsal asserts nothing itself: its outcome is a ``RehearsalReport``, whose
/// ``RehearsalReport/requireClean()`` fails a test.
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
/// All starting points of one rehearsal stand for the data of one user, since their ends are compared with each other.
/// Another user's data is another rehearsal.
public struct Rehearsal: Sendable {
    let name: String
    let currentVersion: String
    let upgradesFrom: String?
    let startingPoints: [StartingPoint]
    let comparison: FolderComparison
    let recordFile: String?
    let workingDirectory: String?

    /// Describes what is to be rehearsed; nothing is read or run yet.
    ///
    /// - Parameters:
    ///   - name: The manager's name, for declarations that ask for it.
    ///   - currentVersion: The version of the app that is about to be released.
    ///   - upgradesFrom: The oldest version whose data the app still upgrades, as in `MigrationManager.Options`. A version up
    ///     to it may have disappeared; a starting point below it is a finding.
    ///   - startingPoints: Where users come from. The other ends are compared with the end of the newest version's jump,
    ///     because the fewest migrations made it.
    ///   - rules: The differences that are allowed. Where several rules match a path, the first counts.
    ///   - file: The path of a text file, kept with the tests, in which each version that was ever declared has a line.
    ///     The first rehearsal makes it, later ones append to it and report versions that have disappeared. Delete the
    ///     line of a version that was never released.
    ///   - workingDirectory: The path of a folder for the data of the runs, which is removed afterwards; `nil` is `/dev/shm`
    ///     where that has 1 GiB free, since migrations that sync their files to disk are many times faster in memory, and the
    ///     temporary directory elsewhere.
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

    /// Rehearses the declarations, which are handed a manager and the path of the folder that holds the data.
    ///
    /// The data is always at the same path, so that paths written into it don't differ; the state is elsewhere. The
    /// declarations are called once for each start, and once before that only to learn which versions there are.
    ///
    /// The app's answer to `firstRun:` decides about every user who comes from a release without this library. With `firstRun`
    /// the app is asked with the data of each starting point in the folder, and for a fresh install with an empty folder. A
    /// migration that the answer would skip is a finding. Where it would run migrations on data that has them, that is run as
    /// well, and compared. Once the newest starting point is at the current version, the app is asked again, as if the state
    /// was lost, and started as it answers. It is also asked about the files of each migration that saves
    /// checkpoints, as they are after the first checkpoint. All other runs go on with what the starting points say.
    ///
    /// - Parameters:
    ///   - firstRun: The app's own expression for `firstRun:`, for data in this folder; `nil` says that it isn't asked there.
    ///   - adoption: The first release with this library. Users of that release and later ones have a state, so the app
    ///     isn't asked about their starting points. With `nil` it is asked about all of them.
    ///   - declarations: The declarations of the app, for data in this folder.
    /// - Returns: The report. With `firstRun` it has a row `asked firstRun` for each starting point that was asked about, and a
    ///   row `after the state was lost`. For each migration with checkpoints there is a row `after the state was lost inside 1.1`.
    /// - Throws: The error of a starting point that can't be made, `MigrationError` for a version that can't be read, and
    ///   errors of files that can't be copied or compared. The error of a migration or of `firstRun` is a finding instead.
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
            try stage.end(launch, failure)
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
            try stage.end(launch, failure)
        }
        return try stage.close()
    }
}
