/// The part of a state that a start needs: its versions, and the attempts at pending migrations.
///
/// The rest of a state, above all the history, is in ``MigrationState``.
package struct StateVersions: Sendable, Equatable {
    /// The last-run version: the version of the newest migration that was applied.
    ///
    /// If none was applied yet, it is the baseline.
    package var lastRun: AppVersion

    /// The version of the data when the state was created or reset.
    ///
    /// Migrations up to it count as applied.
    package var baseline: AppVersion

    /// The newest version of the app that has been started on this data.
    ///
    /// A fresh install ends when another version of the app is started.
    package var launched: AppVersion {
        didSet { if launched != oldValue { freshInstall = nil } }
    }

    /// The version of the app that created this state as a fresh install.
    ///
    /// While this isn't `nil`, a sub-migration that an app of exactly this version declares for its own
    /// release is added to the baseline, and its closure doesn't run. This becomes `nil` after a first start
    /// in which the app has declared its migrations and none of them failed.
    package var freshInstall: AppVersion?

    /// The oldest version of the app that may use the data; zero if every version may.
    package private(set) var minimumAppVersion: AppVersion

    /// The latest attempt, if its migration hasn't been recorded as applied yet.
    package var latestAttempt: LatestAttempt? {
        get { latestAttempts.first }
        set { latestAttempts = newValue.map { [$0] } ?? [] }
    }

    /// ``latestAttempt``, if there is one.
    ///
    /// In an array it takes one word, which is all that a start without attempts copies.
    private var latestAttempts: [LatestAttempt]

    /// The attempts at other migrations that haven't been recorded as applied yet.
    package var otherAttempts: [AttemptedMigration]

    /// The path of a working folder that has to be removed, as seen from the state directory.
    ///
    /// ``WorkingFolder`` says what that is. It is set together with the record of its migration.
    var workingFolder: String?

    /// Creates the versions of a state.
    ///
    /// The defaults describe a state in which no migration has run and no app was started.
    package init(
        lastRun: AppVersion = .zero,
        baseline: AppVersion = .zero,
        launched: AppVersion = .zero,
        freshInstall: AppVersion? = nil,
        minimumAppVersion: AppVersion = .zero,
        latestAttempt: LatestAttempt? = nil,
        otherAttempts: [AttemptedMigration] = []
    ) {
        self.lastRun = lastRun
        self.baseline = baseline
        self.launched = launched
        self.freshInstall = freshInstall
        self.minimumAppVersion = minimumAppVersion
        latestAttempts = latestAttempt.map { [$0] } ?? []
        self.otherAttempts = otherAttempts
    }
}

// Functions that compare the versions with the version of the app, `current`.
extension StateVersions {
    /// True if a release newer than `current` ran migrations on this data, was started, or set a minimum app
    /// version above `current`.
    ///
    /// ``MigrationManager/launch-property`` tells the app about a downgrade. A downgrade alone doesn't make a
    /// declaration fail: if the newer release was only started, it has changed nothing.
    ///
    /// The minimum app version is compared too, because it is saved before a closure runs. If the newer
    /// release crashed in its first closure, it may have saved nothing else.
    package func isDowngrade(to current: AppVersion) -> Bool {
        lastRun.exceeds(current) || launched.exceeds(current) || minimumAppVersion.exceeds(current)
    }

    /// The highest of the last-run version, the launched version and the minimum app version.
    ///
    /// If it belongs to a release above `current`, only that release is returned, without the sub-number.
    package func newest(asSeenBy current: AppVersion) -> AppVersion {
        let release = max(lastRun.release, launched, minimumAppVersion.release)
        return release > current ? release : max(lastRun, minimumAppVersion)
    }

    /// The newest version above `current` whose migration a newer app has begun; `nil` if there is none.
    ///
    /// It is the version of a migration whose closure was called, or the minimum app version, which is saved
    /// before a closure is called.
    package func begun(above current: AppVersion) -> AppVersion? {
        // An attempt that replaces a file or a folder has changed nothing before it is recorded.
        let begun = allAttempts.filter { $0.replacing == nil }.map(\.version)
        return Self.newest(of: [minimumAppVersion] + begun, above: current)
    }

    /// All attempts, the latest one last.
    private var allAttempts: [AttemptedMigration] {
        latestAttempt.map { otherAttempts + [$0.migration] } ?? otherAttempts
    }

    /// The attempt whose replacement the next start settles; `nil` if there is none.
    ///
    /// Only the latest one: what others have left was settled before it began, or is settled by their
    /// declarations.
    var attemptToSettle: AttemptedMigration? {
        latestAttempt.flatMap { $0.mayHaveLeftReplacement ? $0.migration : nil }
    }

    /// The attempt at `version` that may have replaced a file or a folder without being recorded; `nil` if
    /// there is none.
    ///
    /// The latest attempt isn't one if it has failed. If something was replaced then, that was after this
    /// state was saved, so the state is an older one that was restored.
    func attemptThatMayHaveReplaced(for version: AppVersion) -> AttemptedMigration? {
        if let latest = latestAttempt, latest.version == version, !latest.mayHaveLeftReplacement {
            return nil
        }
        return attempts(at: version).flatMap { $0.replacing == nil ? nil : $0 }
    }

    /// True if the migration of `version` may not be recorded: it is above the last-run version, or has
    /// attempts.
    func mayBePending(_ version: AppVersion) -> Bool { version > lastRun || attempts(at: version) != nil }

    /// True if something may be left of a replacement.
    ///
    /// Each start asks this, so it makes no arrays.
    var namesReplacement: Bool {
        workingFolder != nil || latestAttempts.contains { $0.mayHaveLeftReplacement }
    }

    /// The newest version above `current` that a newer app has recorded as applied; `nil` if there is no such
    /// version.
    ///
    /// The minimum app version counts as recorded.
    package func recorded(above current: AppVersion) -> AppVersion? {
        Self.newest(of: [lastRun, minimumAppVersion], above: current)
    }

    /// The newest of `versions` above `current`.
    ///
    /// A sub-migration is reported as its release, unless `current` belongs to the same release.
    private static func newest(of versions: [AppVersion], above current: AppVersion) -> AppVersion? {
        versions.filter { $0.exceeds(current) }.map { $0.release > current ? $0.release : $0 }.max()
    }

    /// The minimum app version, if an app at `current` is below it.
    package func minimumAppVersion(above current: AppVersion) -> AppVersion? {
        minimumAppVersion.exceeds(current) ? minimumAppVersion : nil
    }

    /// True if version `current` of the app created this state as a fresh install.
    ///
    /// In that case, the sub-migrations of that release are added to the baseline and don't run.
    package func isFreshInstall(of current: AppVersion) -> Bool { freshInstall == current }

    /// The attempts to run the migration of a pending version; `nil` if there was none.
    ///
    /// If the latest attempt has no failure, it counts as a crash. That is right only for a caller that holds
    /// the lock, because in that case the attempt can't be running.
    package func attempts(at version: AppVersion) -> AttemptedMigration? {
        if let latestAttempt, latestAttempt.version == version { return latestAttempt.outcome }
        return otherAttempts.first { $0.version == version }
    }
}

// Changes of the versions.
extension StateVersions {
    /// Raises the minimum app version, which is never lowered.
    package mutating func raiseMinimumAppVersion(to version: AppVersion) {
        minimumAppVersion = max(minimumAppVersion, version)
    }

    /// Makes `attempt` the latest attempt.
    ///
    /// If the latest attempt before it was at another version, it is moved to ``otherAttempts``, because that
    /// version is still pending.
    mutating func begin(_ attempt: LatestAttempt) {
        if let latestAttempt {
            otherAttempts.removeAll { $0.version == latestAttempt.version }
            otherAttempts.append(latestAttempt.outcome)
        }
        otherAttempts.removeAll { $0.version == attempt.version }
        latestAttempt = attempt
    }

    /// Records that `version` has run.
    ///
    /// The last-run version is raised to `version`, unless it is already higher. Attempts at other versions
    /// are kept, even if these versions are below the last-run version. A later release may declare such a
    /// version with `addedIn:`, and its migration then runs again.
    mutating func record(_ version: AppVersion) {
        lastRun = max(lastRun, version)
        if latestAttempt?.version == version { latestAttempt = nil }
        otherAttempts.removeAll { $0.version == version }
    }
}
