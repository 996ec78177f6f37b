@_exported public import AppMigrations

extension MigrationManager {
    /// Calls the closure once for this data, unless an older release of the app has run this migration with
    /// the old library.
    ///
    /// A user may go back to an older release, and that release may run the migration. The next start of the
    /// new release then finds the version in the user defaults, and records the migration without calling
    /// `run`. In this case, the event `finished` has a note that says so. The version in the user defaults
    /// decides, even if `firstRun:` of the manager said that the data is at a lower version.
    ///
    /// This call also updates the user defaults, so that an older release doesn't repeat the migration. Once
    /// the migration is recorded as run, or belongs to a fresh install, each start raises the old library's
    /// version to `toVersion` if it is lower. This happens only after the migration has been recorded. So if
    /// the process dies in the closure, or protected files are restored, the user defaults don't say
    /// that the migration has run.
    ///
    /// Declare every migration of the old releases this way. Use exactly the same version string, because
    /// the old libraries treat `3.1` and `3.1.0` as two versions. Declare newer migrations with
    /// `whenMigrating(toVersion:)`.
    ///
    /// - Parameters:
    ///   - toVersion: A version, or a sub-migration, as in `whenMigrating(toVersion:)`.
    ///   - old: The state that the old library recorded for the same data.
    ///   - minimumAppVersion: The oldest app that can still use the data, as in `whenMigrating(toVersion:)`.
    ///     Releases with the old library don't know it.
    ///   - paths: Files and folders that are restored if the closure throws or its process dies, as in
    ///     `whenMigrating(toVersion:)`. After a crash, the next start of this release restores them. Before
    ///     that start, the user may have used an older release, which may have run this migration and later
    ///     ones. The restore undoes all changes that the older release and the user made to these files. So
    ///     the same start sets the old library's version back, and calls the closures of these migrations
    ///     again. Changes that an older release makes after that start aren't undone. The option
    ///     `MigrationManager.Options.keepsReplacedFiles` keeps the files that the restore replaces.
    ///   - run: The migration's work.
    /// - Returns: True if the closure ran.
    /// - Throws: The errors of `whenMigrating(toVersion:)`. If the migration is pending and the old version
    ///   can't be read or saved, a `MigrationError` with the code `migrationFailed`, whose `underlyingError`
    ///   is a ``LegacyDefaultsError``. If the migration is recorded and the old version can't be saved, the
    ///   ``LegacyDefaultsError`` itself. If the migration is recorded and the old version can't be read,
    ///   nothing is thrown: the event `oldVersionNotRaised` is sent, and no key is changed.
    @discardableResult
    public func whenMigrating(
        toVersion: String,
        unlessRunBy old: LegacyManager,
        minimumAppVersion: String? = nil,
        protecting paths: [String] = [],
        run: () throws -> Void
    ) throws -> Bool {
        try whenMigrating(
            toVersion: toVersion,
            unlessRunBy: old,
            minimumAppVersion: minimumAppVersion,
            protecting: paths
        ) { _ in try run() }
    }

    /// Calls the closure with its context, unless an older release of the app has run this migration with
    /// the old library.
    ///
    /// This is like ``whenMigrating(toVersion:unlessRunBy:minimumAppVersion:protecting:run:)-9r5pb``, for a
    /// closure that needs the context to read the number of the attempt, report progress or save checkpoints.
    @discardableResult
    public func whenMigrating(
        toVersion: String,
        unlessRunBy old: LegacyManager,
        minimumAppVersion: String? = nil,
        protecting paths: [String] = [],
        run: (MigrationContext) throws -> Void
    ) throws -> Bool {
        let didRun = try whenMigrating(
            toVersion: toVersion,
            minimumAppVersion: minimumAppVersion,
            protecting: paths,
            unless: old.reasonNotToRun,
            run: run
        )
        try updateOldVersion(to: toVersion, in: old)
        return didRun
    }

    /// Calls an asynchronous closure, unless an older release of the app has run this migration with the old
    /// library.
    ///
    /// This is like ``whenMigrating(toVersion:unlessRunBy:minimumAppVersion:protecting:run:)-9r5pb``. The
    /// closure runs on the caller's actor.
    @discardableResult
    nonisolated(nonsending) public func whenMigrating(
        toVersion: String,
        unlessRunBy old: LegacyManager,
        minimumAppVersion: String? = nil,
        protecting paths: [String] = [],
        run: nonisolated(nonsending) () async throws -> Void
    ) async throws -> Bool {
        try await whenMigrating(
            toVersion: toVersion,
            unlessRunBy: old,
            minimumAppVersion: minimumAppVersion,
            protecting: paths
        ) { _ in try await run() }
    }

    /// Calls an asynchronous closure with its context, unless an older release of the app has run this
    /// migration with the old library.
    ///
    /// This is like ``whenMigrating(toVersion:unlessRunBy:minimumAppVersion:protecting:run:)-9r5pb``. The
    /// closure runs on the caller's actor.
    @discardableResult
    nonisolated(nonsending) public func whenMigrating(
        toVersion: String,
        unlessRunBy old: LegacyManager,
        minimumAppVersion: String? = nil,
        protecting paths: [String] = [],
        run: nonisolated(nonsending) (MigrationContext) async throws -> Void
    ) async throws -> Bool {
        let didRun = try await whenMigrating(
            toVersion: toVersion,
            minimumAppVersion: minimumAppVersion,
            protecting: paths,
            unless: old.reasonNotToRun,
            run: run
        )
        try updateOldVersion(to: toVersion, in: old)
        return didRun
    }

    /// If the migration has run, raises the old library's version to the migration's version.
    ///
    /// Does nothing if this manager only plans or is read-only.
    ///
    /// If the keys can't be read, sends an event and changes no key. It doesn't throw, because the migration
    /// is recorded, and the keys decide nothing any more. For example, a hotfix of an old release may write a
    /// version above `lastRelease`. An error would then stop the app at every start, although its data is in
    /// order.
    private func updateOldVersion(to text: String, in old: LegacyManager) throws {
        let version = try AppVersion(parsing: text)
        guard recordsMigrations, lastRunVersion >= version else { return }
        do {
            // An older release would skip a version that was missed here, if the keys said that it has run.
            try old.raiseOldVersion(from: old.lastRunVersion, to: version, if: { try hasRun(version) })
        } catch let error as LegacyDefaultsError where error.code == .notSaved {
            throw error.afterRecord
        } catch {
            if old.reportOfUnreadableKeys.set() {
                send(.oldVersionNotRaised, version: version, note: "\(error)")
            }
        }
    }
}

extension LegacyManager {
    /// Returns the reason why a pending migration doesn't have to run; `nil` if it has to run.
    ///
    /// If it has to run, this also raises the old library's version to `previousVersion`, which is the last
    /// version that has run here. Otherwise an older release might find no version, if the closure fails and
    /// the user goes back. MFMigrationManager would then treat the data as new.
    ///
    /// If `isRestored` is true, a restore may have undone what an older release did to protected files. So
    /// the old library's version is set back to `previousVersion`, and the migration runs. The keys aren't
    /// read before that, because a text that can't be understood must not change this decision. Nothing is
    /// set if `previousVersion` is above `lastRelease`, because no old release knows such a version.
    fileprivate func reasonNotToRun(_ migration: PendingMigration) throws -> String? {
        let previous = migration.previousVersion
        if migration.isRestored {
            if !previous.exceeds(lastRelease) { try reset(to: previous.description) }
            return nil
        }
        let oldVersion = try lastRunVersion
        if let oldVersion, migration.version <= oldVersion {
            return "recorded without running: the old library has run it"
        }
        try raiseOldVersion(from: oldVersion, to: previous)
        return nil
    }
}
