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
    /// the process dies in the closure, the user defaults don't say that the migration has run. If it dies
    /// directly after the record, the next start raises the version.
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
        run: () throws -> Void
    ) throws -> Bool {
        try whenMigrating(
            toVersion: toVersion,
            unlessRunBy: old,
            minimumAppVersion: minimumAppVersion
        ) { _ in try run() }
    }

    /// Calls the closure with its context, unless an older release of the app has run this migration with
    /// the old library.
    ///
    /// This is like ``whenMigrating(toVersion:unlessRunBy:minimumAppVersion:run:)-32eft``, for a
    /// closure that needs the context to read the number of the attempt, report progress or save checkpoints.
    @discardableResult
    public func whenMigrating(
        toVersion: String,
        unlessRunBy old: LegacyManager,
        minimumAppVersion: String? = nil,
        run: (MigrationContext) throws -> Void
    ) throws -> Bool {
        let declaration = Declaration(
            toVersion,
            minimumAppVersion: minimumAppVersion,
            otherRecord: old.record
        )
        let didRun = try perform(declaration, run)
        try updateOldVersion(to: toVersion, in: old)
        return didRun
    }

    /// Calls an asynchronous closure, unless an older release of the app has run this migration with the old
    /// library.
    ///
    /// This is like ``whenMigrating(toVersion:unlessRunBy:minimumAppVersion:run:)-32eft``. The
    /// closure runs on the caller's actor.
    @discardableResult
    nonisolated(nonsending) public func whenMigrating(
        toVersion: String,
        unlessRunBy old: LegacyManager,
        minimumAppVersion: String? = nil,
        run: nonisolated(nonsending) () async throws -> Void
    ) async throws -> Bool {
        try await whenMigrating(
            toVersion: toVersion,
            unlessRunBy: old,
            minimumAppVersion: minimumAppVersion
        ) { _ in try await run() }
    }

    /// Calls an asynchronous closure with its context, unless an older release of the app has run this
    /// migration with the old library.
    ///
    /// This is like ``whenMigrating(toVersion:unlessRunBy:minimumAppVersion:run:)-32eft``. The
    /// closure runs on the caller's actor.
    @discardableResult
    nonisolated(nonsending) public func whenMigrating(
        toVersion: String,
        unlessRunBy old: LegacyManager,
        minimumAppVersion: String? = nil,
        run: nonisolated(nonsending) (MigrationContext) async throws -> Void
    ) async throws -> Bool {
        let declaration = Declaration(
            toVersion,
            minimumAppVersion: minimumAppVersion,
            otherRecord: old.record
        )
        let didRun = try await perform(declaration, run)
        try updateOldVersion(to: toVersion, in: old)
        return didRun
    }

    /// Replaces a file or a folder by a copy on which the closure has worked, unless an older release of the
    /// app has run this migration with the old library.
    ///
    /// This does for the path what `whenMigrating(toVersion:replacing:run:)` does, and for the old library's
    /// version what ``whenMigrating(toVersion:unlessRunBy:minimumAppVersion:run:)-32eft`` does. So if the
    /// process dies in the closure, an older release finds the original. The version is raised before the
    /// original is removed, because it can take seconds to remove a large folder.
    ///
    /// - Parameters:
    ///   - toVersion: A version, or a sub-migration, as in `whenMigrating(toVersion:)`.
    ///   - old: The state that the old library recorded for the same data.
    ///   - minimumAppVersion: The oldest app that can still use the data, as in `whenMigrating(toVersion:)`.
    ///     Releases with the old library don't know it.
    ///   - path: The absolute path of the file or folder.
    ///   - run: The work, with the path of the copy, and the context.
    /// - Returns: True if the closure ran.
    /// - Throws: The errors of `whenMigrating(toVersion:replacing:run:)`, and those of
    ///   ``whenMigrating(toVersion:unlessRunBy:minimumAppVersion:run:)-32eft``.
    @discardableResult
    public func whenMigrating(
        toVersion: String,
        unlessRunBy old: LegacyManager,
        minimumAppVersion: String? = nil,
        replacing path: String,
        run: (String, MigrationContext) throws -> Void
    ) throws -> Bool {
        let declaration = Declaration(
            toVersion,
            minimumAppVersion: minimumAppVersion,
            replacing: path,
            otherRecord: old.record
        )
        let didRun = try perform(declaration) { context in try run(context.copy, context) }
        try updateOldVersion(to: toVersion, in: old)
        return didRun
    }

    /// Replaces a file or a folder by a copy on which an asynchronous closure has worked, unless an older
    /// release of the app has run this migration with the old library.
    ///
    /// The closure runs on the caller's actor. Making the copy blocks the calling thread.
    @discardableResult
    nonisolated(nonsending) public func whenMigrating(
        toVersion: String,
        unlessRunBy old: LegacyManager,
        minimumAppVersion: String? = nil,
        replacing path: String,
        run: nonisolated(nonsending) (String, MigrationContext) async throws -> Void
    ) async throws -> Bool {
        let declaration = Declaration(
            toVersion,
            minimumAppVersion: minimumAppVersion,
            replacing: path,
            otherRecord: old.record
        )
        let didRun = try await perform(declaration) { context in try await run(context.copy, context) }
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
    /// The keys, for the declaration of a migration.
    fileprivate var record: OtherRecord {
        OtherRecord(reasonNotToRun: reasonNotToRun, didRecord: didRecord)
    }

    /// Returns the reason why a pending migration doesn't have to run; `nil` if it has to run.
    ///
    /// If it has to run, this also raises the old library's version to the last version that has run here.
    /// Otherwise an older release might find no version, if the closure fails and the user goes back.
    /// MFMigrationManager would then treat the data as new.
    private func reasonNotToRun(_ pending: PendingMigration) throws -> String? {
        let oldVersion = try lastRunVersion
        if let oldVersion, pending.version <= oldVersion {
            return "recorded without running: the old library has run it"
        }
        try raiseOldVersion(from: oldVersion, to: pending.previousVersion)
        return nil
    }

    private func didRecord(_ version: AppVersion) {
        do {
            try raiseOldVersion(from: lastRunVersion, to: version)
        } catch {
            // The declaration tries it again when it has ended, and reports this error.
        }
    }
}

extension MigrationEvent.Kind {
    /// The version that an old library saved can't be read, so it was not raised.
    ///
    /// The app's start continues. It is sent for a declaration whose migration has already run. The event's
    /// note names the key and says what to do.
    public static var oldVersionNotRaised: MigrationEvent.Kind { MigrationEvent.Kind("oldVersionNotRaised") }
}
