/// The part of a state that a start needs: everything but the history.
///
/// The parts of a state are classes with constant properties. As structs of this size they would be copied in
/// each function that they pass through, and those copies would make up a fifth of the library's code.
package final class StateMarks: Sendable {
    /// The last-run version: the version of the newest migration that was applied.
    package let lastRun: AppVersion

    /// The version of the data when the state was made or reset.
    ///
    /// Migrations up to it count as applied.
    package let baseline: AppVersion

    /// The newest version of the app that was started.
    package let launched: AppVersion

    /// The version of the app that made the state as a fresh install; `nil` once a first start got through
    /// its declarations.
    ///
    /// While it is set, the sub-migrations of that version's release join the baseline, if an app of exactly
    /// that version declares them.
    package let freshInstall: AppVersion?

    /// The oldest version of the app that may use the data; zero if every version may.
    package let minimumAppVersion: AppVersion

    /// The latest attempt, if its migration is not recorded yet.
    package let interruption: Interruption?

    /// The attempts at other migrations that are not recorded yet.
    let attempted: [AttemptedMigration]

    /// Makes marks.
    ///
    /// The default values are those of a state in which nothing has run and no app was started.
    package init(
        lastRun: AppVersion = .zero,
        baseline: AppVersion = .zero,
        launched: AppVersion = .zero,
        freshInstall: AppVersion? = nil,
        minimumAppVersion: AppVersion = .zero,
        interruption: Interruption? = nil,
        attempted: [AttemptedMigration] = []
    ) {
        self.lastRun = lastRun
        self.baseline = baseline
        self.launched = launched
        self.freshInstall = freshInstall
        self.minimumAppVersion = minimumAppVersion
        self.interruption = interruption
        self.attempted = attempted
    }

    /// True if protected files may have to be restored.
    var awaitsRestore: Bool { interruption?.isProtecting == true }
}

// What the marks say to an app at a version `current`.
extension StateMarks {
    /// True if a newer release than `current` ran migrations here, was started, or excluded `current`.
    ///
    /// The app learns it by ``MigrationManager/launch-property``. No declaration is refused because of it: a
    /// release that was only started has changed nothing.
    ///
    /// The minimum app version is compared as well. It is saved with the intent. If the newer release died in
    /// its first closure, nothing else of it may have been saved.
    package func isDowngrade(to current: AppVersion) -> Bool {
        lastRun.exceeds(current) || launched.exceeds(current) || minimumAppVersion.exceeds(current)
    }

    /// The newest of the last-run version, the started version and the minimum app version.
    ///
    /// If its release is above `current`, the release is returned without a sub-number.
    package func newest(above current: AppVersion) -> AppVersion {
        let release = max(lastRun.release, launched, minimumAppVersion.release)
        return release > current ? release : max(lastRun, minimumAppVersion)
    }

    /// The newest version above `current` that a newer app has begun; `nil` if there is none.
    ///
    /// That is the version of a migration whose closure was called, or the minimum app version that was saved
    /// with it.
    package func begun(above current: AppVersion) -> AppVersion? {
        var attempts = attempted
        if let interruption { attempts.append(interruption.attempt) }
        // An attempt that was only copying has changed nothing, so it keeps no other release from its work.
        let begun = attempts.filter(\.hasBegun).map(\.version)
        return Self.newest(of: [minimumAppVersion] + begun, above: current)
    }

    /// The newest version above `current` that a newer app has recorded; `nil` if there is none.
    ///
    /// The minimum app version counts as recorded.
    package func recorded(above current: AppVersion) -> AppVersion? {
        Self.newest(of: [lastRun, minimumAppVersion], above: current)
    }

    /// The newest of `versions` above `current`.
    ///
    /// A sub-migration counts as its release, unless `current` is of that release.
    private static func newest(of versions: [AppVersion], above current: AppVersion) -> AppVersion? {
        versions.filter { $0.exceeds(current) }.map { $0.release > current ? $0.release : $0 }.max()
    }

    /// The minimum app version, if an app at `current` is below it.
    package func minimumAppVersion(above current: AppVersion) -> AppVersion? {
        minimumAppVersion.exceeds(current) ? minimumAppVersion : nil
    }

    /// True if the state is a fresh install of `current`, so that the sub-migrations of that release join the
    /// baseline.
    package func isFreshInstall(of current: AppVersion) -> Bool { freshInstall == current }

    /// The attempts at a pending version.
    ///
    /// If it was interrupted, the process is counted as dead.
    package func attempts(at version: AppVersion) -> AttemptedMigration? {
        if let interruption, interruption.version == version { return interruption.outcome }
        return attempted.first { $0.version == version }
    }
}

// Marks made from other marks.
extension StateMarks {
    /// Returns these marks with other versions.
    ///
    /// A fresh install ends when another version of the app is started.
    func with(
        lastRun: AppVersion? = nil,
        baseline: AppVersion? = nil,
        launched: AppVersion? = nil,
        minimumAppVersion: AppVersion? = nil
    ) -> StateMarks {
        let launched = launched ?? self.launched
        return StateMarks(
            lastRun: lastRun ?? self.lastRun,
            baseline: baseline ?? self.baseline,
            launched: launched,
            freshInstall: launched == self.launched ? freshInstall : nil,
            minimumAppVersion: minimumAppVersion ?? self.minimumAppVersion,
            interruption: interruption,
            attempted: attempted
        )
    }

    func with(interruption: Interruption?, attempted: [AttemptedMigration]) -> StateMarks {
        StateMarks(
            lastRun: lastRun,
            baseline: baseline,
            launched: launched,
            freshInstall: freshInstall,
            minimumAppVersion: minimumAppVersion,
            interruption: interruption,
            attempted: attempted
        )
    }

    /// Returns the marks after a first start got through its declarations.
    func endingFreshInstall() -> StateMarks {
        StateMarks(
            lastRun: lastRun,
            baseline: baseline,
            launched: launched,
            minimumAppVersion: minimumAppVersion,
            interruption: interruption,
            attempted: attempted
        )
    }

    func raisingMinimumAppVersion(to version: AppVersion) -> StateMarks {
        with(minimumAppVersion: max(minimumAppVersion, version))
    }

    /// Returns the marks with a new attempt as the interruption.
    ///
    /// The counts of the previous interruption are kept if it is of another version, because that version is
    /// still pending.
    func addingAttempt(_ attempt: Interruption) -> StateMarks {
        var others = attempted.filter { $0.version != interruption?.version }
        if let interruption { others.append(interruption.outcome) }
        return with(interruption: attempt, attempted: others.filter { $0.version != attempt.version })
    }

    /// Returns the marks after `version` was recorded, which raises the last-run version to it, or keeps a
    /// higher one.
    ///
    /// The attempts at other versions are kept, also at those that are passed over: such a version may be
    /// declared out of order by a later release, and runs again then.
    func raisingLastRun(to version: AppVersion) -> StateMarks {
        let isKept = { (attempt: AppVersion) in attempt != version }
        let pending = interruption.flatMap { isKept($0.version) ? $0 : nil }
        return with(lastRun: max(lastRun, version))
            .with(interruption: pending, attempted: attempted.filter { isKept($0.version) })
    }
}
