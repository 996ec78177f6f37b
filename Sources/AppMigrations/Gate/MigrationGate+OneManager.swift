extension MigrationGate {
    /// Creates a gate for an app with one manager.
    ///
    /// ```swift
    /// let gate = MigrationGate(
    ///     named: "Library",
    ///     currentVersion: "1.4",
    ///     firstRun: { try libraryVersion(in: folder) },
    ///     stateDirectory: folder
    ///         .path(percentEncoded: false)
    /// ) { migrations in
    ///     try declareLibrary(migrations, in: folder)
    /// } afterMigrating: { migrations in
    ///     try prepareLibrary(migrations, in: folder)
    /// }
    /// ```
    ///
    /// The start does this, in this order:
    ///
    /// 1. It creates the manager.
    /// 2. If the user asked for another try, it calls `resetAttempts()`. So a migration that was refused
    ///    because of `attemptLimit` runs again.
    /// 3. It plans the declarations, which provides the number of pending migrations. If a newer release has
    ///    set a minimum app version that is above this app, it throws ``RequiresAppVersion``.
    /// 4. It runs the declarations.
    /// 5. It calls `afterMigrating`.
    ///
    /// If an app has several managers, or a start of its own, use ``init(_:)``.
    ///
    /// - Parameters:
    ///   - name: The name of the manager.
    ///   - currentVersion: The app's version. If it is `nil`, `CFBundleShortVersionString` of the main bundle
    ///     is used.
    ///   - firstRun: Says which data already exists. It is called only if there is no state.
    ///   - isUnlocked: Says whether the files that `firstRun` looks for can be read. It is called in each
    ///     start. If it returns `false` and there is no state, `firstRun` isn't called: the gate waits, and
    ///     tries again. If there is a state, the answer doesn't matter.
    ///   - stateDirectory: The absolute path of the folder for the state. `nil` means the default of
    ///     ``MigrationManager``.
    ///   - options: The options of the manager.
    ///   - weights: The shares of long migrations in the progress bar, as in
    ///     ``Attempt/plan(_:weights:_:)-4gor0``.
    ///   - declarations: Declares the migrations. It is called twice in each start: the first call is for the
    ///     plan, in which no closure runs.
    ///   - prepare: Creates the first files or tables, and opens the database. It is called in every start,
    ///     and also on a new install, on which no migration runs. Several processes can call it at the same
    ///     moment. If they must not, use ``MigrationManager/withLock(_:)-919t3`` of the manager that is
    ///     passed to it.
    public convenience init(
        named name: String,
        currentVersion: String? = nil,
        firstRun: @escaping @Sendable () throws -> MigrationManager.FirstRun = { .freshInstall },
        isUnlocked: @escaping @Sendable () async -> Bool = { true },
        stateDirectory: String? = nil,
        options: MigrationManager.Options = .init(),
        weights: [String: UInt] = [:],
        _ declarations: @escaping @Sendable (MigrationManager) async throws -> Void,
        afterMigrating prepare: @escaping @Sendable (MigrationManager) async throws -> Void = { _ in }
    ) {
        self.init { start in
            let isUnlocked = await isUnlocked()
            func knownData() throws -> MigrationManager.FirstRun {
                guard isUnlocked else { throw RequiresUnlock() }
                return try firstRun()
            }
            let migrations = try MigrationManager(
                named: name,
                currentVersion: currentVersion,
                firstRun: knownData(),
                stateDirectory: stateDirectory,
                options: start.options(options)
            )
            if start.isRetry { try migrations.resetAttempts() }
            try await start.migrate(migrations, weights: weights) { try await declarations($0) }
            try await prepare(migrations)
        }
    }
}
