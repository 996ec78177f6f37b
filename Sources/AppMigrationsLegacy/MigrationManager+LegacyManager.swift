@_exported public import AppMigrations

extension MigrationManager {
    /// Runs `run` once for this data, unless an older release of the app has run this migration with the old
    /// library.
    ///
    /// A user may go back to an older release after this one was started. If that release runs the migration,
    /// this one finds its version in the user defaults, and records the migration without calling `run`.
    ///
    /// The user defaults also learn what has run here, so that an older release doesn't repeat it: at each
    /// start, the call raises the old library's version to `toVersion` if that has run or belongs to a fresh
    /// install. It does so after the record. So a migration that dies, or whose protected files are restored,
    /// leaves no trace in the user defaults.
    ///
    /// Declare every migration this way that the old releases have, with the text that they use: the old
    /// libraries treat `3.1` and `3.1.0` as two versions. Newer migrations are declared with
    /// `whenMigrating(toVersion:)`.
    ///
    /// - Parameters:
    ///   - toVersion: A version, or a sub-migration, as in `whenMigrating(toVersion:)`.
    ///   - old: What the old library recorded for the same data.
    ///   - minimumAppVersion: The oldest app that can still use the data, as in `whenMigrating(toVersion:)`.
    ///     Releases with the old library don't know it.
    ///   - paths: Files and folders that are restored if the closure throws or its process dies, as in
    ///     `whenMigrating(toVersion:)`. If the process died in the closure, `run` is called again even if an
    ///     older release has run the migration after that: the restore has undone its work.
    ///   - run: The work.
    /// - Returns: True if the closure ran.
    /// - Throws: The errors of `whenMigrating(toVersion:)`. A ``LegacyDefaultsError`` is the
    ///   `underlyingError` of the code `migrationFailed` if the old version can't be read while the migration
    ///   is pending. After that, it is thrown as it is, and the migration is recorded.
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

    /// Runs `run` with its context, unless an older release of the app has run this migration with the old
    /// library.
    ///
    /// Declares as ``whenMigrating(toVersion:unlessRunBy:minimumAppVersion:protecting:run:)-9r5pb``
    /// does, for a closure that uses its attempt, reports progress or saves checkpoints.
    @discardableResult
    public func whenMigrating(
        toVersion: String,
        unlessRunBy old: LegacyManager,
        minimumAppVersion: String? = nil,
        protecting paths: [String] = [],
        run: (MigrationContext) throws -> Void
    ) throws -> Bool {
        var didRun = false
        try whenMigrating(
            toVersion: toVersion,
            minimumAppVersion: minimumAppVersion,
            protecting: paths
        ) { context in
            guard try old.mustRun(context, isProtecting: !paths.isEmpty) else { return }
            try run(context)
            didRun = true
        }
        try leave(toVersion, to: old)
        return didRun
    }

    /// Runs an asynchronous closure, unless an older release of the app has run this migration with the old
    /// library.
    ///
    /// Declares as ``whenMigrating(toVersion:unlessRunBy:minimumAppVersion:protecting:run:)-9r5pb``
    /// does. The closure runs on the caller's actor.
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

    /// Runs an asynchronous closure with its context, unless an older release of the app has run this
    /// migration with the old library.
    ///
    /// Declares as ``whenMigrating(toVersion:unlessRunBy:minimumAppVersion:protecting:run:)-9r5pb``
    /// does, on the caller's actor.
    @discardableResult
    nonisolated(nonsending) public func whenMigrating(
        toVersion: String,
        unlessRunBy old: LegacyManager,
        minimumAppVersion: String? = nil,
        protecting paths: [String] = [],
        run: nonisolated(nonsending) (MigrationContext) async throws -> Void
    ) async throws -> Bool {
        var didRun = false
        try await whenMigrating(
            toVersion: toVersion,
            minimumAppVersion: minimumAppVersion,
            protecting: paths
        ) { context in
            guard try old.mustRun(context, isProtecting: !paths.isEmpty) else { return }
            try await run(context)
            didRun = true
        }
        try leave(toVersion, to: old)
        return didRun
    }

    /// Raises the old library's version to the declared one, if that has run.
    ///
    /// A plan and a read-only manager change nothing.
    private func leave(_ text: String, to old: LegacyManager) throws {
        let version = try AppVersion(parsing: text)
        guard recordsMigrations, lastRunVersion >= version else { return }
        try old.leave(version)
    }
}

extension LegacyManager {
    /// True if the closure has to be called.
    ///
    /// If so, the old library's version is first raised to the one that has run here, which the closure's own
    /// migration comes after. Otherwise, if the closure fails and the user goes back, an older release might
    /// find no version at all: MFMigrationManager then counts the data as new.
    fileprivate func mustRun(_ context: MigrationContext, isProtecting: Bool) throws -> Bool {
        if try hasRun(context, isProtecting: isProtecting) { return false }
        try leave(context.previousVersion)
        return true
    }
}
