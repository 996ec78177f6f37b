public import AppMigrations

/// Tests an app's migrations from every version that users upgrade from, before they are released.
///
/// A rehearsal migrates each starting point to the current version:
///
/// - in one jump
/// - release by release
/// - with a crash at each save, checkpoint, `synchronize` and commit of a batch
/// - with each closure throwing once
///
/// It checks that a closure with `replacing:` leaves the original as it is. If a starting point has
/// ``StartingPoint/writing(_:)``, that release also writes between two migrations.
///
/// It also starts releases below a `minimumAppVersion:` on data that they must no longer change.
///
/// Every run begins with a new copy of the data, and must end with the same data as the others. The only
/// exception is the run after an interrupted install: an older release was killed before it created any
/// data. This run has no data to compare, so it only has to complete without an error.
///
/// A rehearsal doesn't fail a test itself. It returns a ``RehearsalReport``. Call its
/// ``RehearsalReport/requireClean()`` in your test, which throws the first finding.
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
    ///     `MigrationManager.Options`. You may have removed migrations up to this version. A starting point
    ///     below it is reported as a finding.
    ///   - startingPoints: The versions that users upgrade from, with their data. The resulting data of each
    ///     version is compared with the data that one jump from the newest version produces, because that
    ///     jump runs the fewest migrations.
    ///   - rules: The differences that are allowed. If several rules match a path, the first one applies.
    ///   - file: The path of a text file, kept with the tests, that has a line for each version that any
    ///     rehearsal has declared. The first rehearsal creates it. Later ones append to it and report
    ///     versions that have disappeared. Delete the line of a version that was never released.
    ///   - workingDirectory: The path of a folder. The data of the runs is in a new folder inside it, which
    ///     is removed at the end. If you pass `nil`, `/dev/shm` is used if it has 1 GiB free, and otherwise
    ///     the temporary directory. Migrations that sync their files are many times faster in memory.
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
    /// another path, and begins at the version of the starting point. If the data contains the state of a
    /// manager, the rehearsal neither reads nor compares it. The declarations are called once before the
    /// first run, to list the versions, and then once for each start.
    ///
    /// The app's answer to `firstRun:` decides which migrations run for every user of a release without this
    /// library. If you pass `firstRun`, the rehearsal calls it:
    ///
    /// 1. For the data of each starting point, and for an empty folder for a fresh install. A migration
    ///    that the answer would skip is a finding. If the answer would repeat migrations, they are run again,
    ///    and the result is compared.
    /// 2. For the upgraded data of the newest starting point, as if the state was lost. Then the app is
    ///    started with the answer.
    /// 3. For the unfinished data of each migration that saves checkpoints, calls `synchronize` or commits
    ///    batches. This is the data after each of these calls. Each time, the app is then started with the
    ///    answer.
    ///
    /// All other runs use the versions of the starting points.
    ///
    /// If you pass `before:`, a starting point is a fresh install, and there are older releases with this
    /// library, the declarations also run on an empty folder with the state of the newest of these releases.
    /// A new user of that release has such a folder if the first start was killed before it created the data.
    ///
    /// - Parameters:
    ///   - firstRun: The expression that your app passes as `firstRun:`, for the data in the given folder.
    ///     Return `nil` if the app shouldn't be asked about this folder.
    ///   - adoption: The first release with this library. Users of that release and later ones have a state,
    ///     so the app isn't asked about their starting points. Older releases aren't simulated. With `nil`
    ///     the app is asked about all starting points, and the release of each declared version is simulated.
    ///   - declarations: The declarations of the app, for the data in the given folder.
    /// - Returns: The report. If you pass `before:` and a fresh install, and there is an older release with
    ///   this library, it has a row `updated after 1.3 was killed at its first start`. If you pass
    ///   `firstRun`, it has more rows:
    ///   - `asked firstRun`, for each starting point that the app was asked about
    ///   - `with the answer of firstRun`, for each answer that repeats migrations
    ///   - `after the state was lost`
    ///   - `killed after checkpoint 1 of 1.1, and the state was lost`, for each time that it was asked about
    ///     the unfinished data of a migration
    /// - Throws: The error of a starting point that can't be created, `MigrationError` for a version that
    ///   can't be read, and errors of files that can't be copied or compared. The error of a migration or of
    ///   `firstRun` is a finding instead.
    public func run(
        firstRun: (_ folder: String) throws -> MigrationManager.FirstRun? = { _ in nil },
        before adoption: String? = nil,
        _ declarations: (_ migrations: MigrationManager, _ folder: String) throws -> Void
    ) throws -> RehearsalReport {
        let stage = try RehearsalStage(self)
        try stage.ask(firstRun, before: adoption)
        while let launch = try stage.nextLaunch(askingFirstRun: firstRun) {
            var failure: (any Error)?
            do { try declarations(launch.manager, launch.folder) } catch { failure = error }
            try stage.end(launch, error: failure)
        }
        return try stage.close()
    }

    /// Rehearses asynchronous declarations, like the synchronous method.
    ///
    /// The declarations run on the caller's actor.
    nonisolated(nonsending) public func run(
        firstRun: (_ folder: String) throws -> MigrationManager.FirstRun? = { _ in nil },
        before adoption: String? = nil,
        _ declarations:
            nonisolated(nonsending) (_ migrations: MigrationManager, _ folder: String) async throws -> Void
    ) async throws -> RehearsalReport {
        let stage = try RehearsalStage(self)
        try stage.ask(firstRun, before: adoption)
        while let launch = try stage.nextLaunch(askingFirstRun: firstRun) {
            var failure: (any Error)?
            do { try await declarations(launch.manager, launch.folder) } catch { failure = error }
            try stage.end(launch, error: failure)
        }
        return try stage.close()
    }
}
