extension MigrationManager {
    /// Runs `run` once for this data, when the app is updated to `toVersion` or a later version.
    ///
    /// The closure runs before the call returns, on the caller's thread. If the migration has run already,
    /// the call takes a few nanoseconds and makes no system call. In asynchronous code, Swift selects this
    /// overload if the closure has no `await`. This overload blocks the calling thread while another process
    /// is migrating.
    ///
    /// - Parameters:
    ///   - toVersion: A version (`1.1`), or one of several migrations in a version (`1.1-2`, a
    ///     sub-migration). It has to be above the version declared before it. It can't be above the app's
    ///     version; for this rule, `1.1-2` counts as `1.1`.
    ///   - addedIn: Pass it if a hotfix of an older release line brought the migration. It is the first
    ///     release of the main line that has the migration too. For example, the hotfix 1.4.1 was released
    ///     after 1.5, so 1.5.1 declares `toVersion: "1.4.1", addedIn: "1.5.1"`. The migration then runs once
    ///     even if its version is below the last-run version, unless a release that has it made or migrated
    ///     the data. **If the library can't tell whether it has run, it runs. So its closure has to check
    ///     whether its work is already done.** It has to be above `toVersion`, and not above the app's
    ///     version. If the data was made by an older release, each start reads the whole state file, history
    ///     included. The guide *Writing migrations* has the rules.
    ///   - minimumAppVersion: The oldest version of the app that can still use the data once this migration
    ///     has begun. It can't be above `toVersion` or `addedIn`, whichever is higher. It is saved before the
    ///     closure runs. From then on, an older app gets it as its `requiredAppVersion`, even if the closure
    ///     fails. If the migration has already run, or its version isn't above the baseline, its closure
    ///     doesn't run. The minimum is still saved if the state doesn't have it yet. If it is `nil`, older
    ///     apps aren't limited.
    ///   - run: The work. It runs again if it throws or its process crashes, so make it repeatable. A closure
    ///     that writes to files has to synchronize them before it returns, with
    ///     ``MigrationContext/synchronize(_:)``. Otherwise a power failure can lose its changes although the
    ///     migration is recorded as done.
    /// - Returns: True if the closure ran. `false` means that the migration has run already, that its version
    ///   isn't above the baseline, or that it was missed: its version is below the last-run version, it never
    ///   ran on this data, and it isn't declared with `addedIn:`. ``plan(_:)-9ywei`` says which. `false`
    ///   never means that a newer app keeps the migration from running: in that case, the call throws
    ///   `usedByNewerApp`.
    /// - Throws: ``MigrationError`` with the code `invalidVersion`, `newerThanCurrentVersion`,
    ///   `declaredOutOfOrder`, `managerClosed`, `nested`, `usedByNewerApp`, `tooOld`, `readOnly`,
    ///   `attemptLimitReached`, `lockTimeout`, `cancelled`, `stateUnreadable`, `stateCorrupted`,
    ///   `stateFromNewerFormat`, `stateNotSaved`, `replacementFailed` (a process died while it was replacing
    ///   a file or a folder, and its work can't be finished), or `migrationFailed` with the closure's error
    ///   as ``MigrationError/underlyingError``. Each of these errors closes the manager. The exception is
    ///   `nested`, if it is thrown in a plan, or because another declaration of this manager is still
    ///   running.
    @discardableResult
    public func whenMigrating(
        toVersion: String,
        addedIn: String? = nil,
        minimumAppVersion: String? = nil,
        run: () throws -> Void
    ) throws(MigrationError) -> Bool {
        let declaration = Declaration(toVersion, addedIn: addedIn, minimumAppVersion: minimumAppVersion)
        return try perform(declaration) { _ in try run() }
    }

    /// Runs `run`, which gets a context, once for this data, when the app is updated to `toVersion` or later.
    ///
    /// It does the same as ``whenMigrating(toVersion:addedIn:minimumAppVersion:run:)-6u8kp``.
    /// Use it for a closure that needs the number of its attempt, reports progress or saves checkpoints.
    @discardableResult
    public func whenMigrating(
        toVersion: String,
        addedIn: String? = nil,
        minimumAppVersion: String? = nil,
        run: (MigrationContext) throws -> Void
    ) throws(MigrationError) -> Bool {
        try perform(
            Declaration(toVersion, addedIn: addedIn, minimumAppVersion: minimumAppVersion),
            run
        )
    }

    /// Runs an asynchronous closure once for this data, when the app is updated to `toVersion` or later.
    ///
    /// It does the same as ``whenMigrating(toVersion:addedIn:minimumAppVersion:run:)-6u8kp``,
    /// and the closure runs on the caller's actor. While another process is migrating, the task is suspended.
    /// If the task is cancelled during that time, the call throws the code `cancelled`.
    ///
    /// Assign the manager to a constant first: with Swift 6.3, a release build of `try await
    /// make().whenMigrating(…)` can crash if `make()` throws.
    @discardableResult
    nonisolated(nonsending) public func whenMigrating(
        toVersion: String,
        addedIn: String? = nil,
        minimumAppVersion: String? = nil,
        run: nonisolated(nonsending) () async throws -> Void
    ) async throws(MigrationError) -> Bool {
        let declaration = Declaration(toVersion, addedIn: addedIn, minimumAppVersion: minimumAppVersion)
        return try await perform(declaration) { _ in try await run() }
    }

    /// Runs an asynchronous closure, which gets a context, once for this data, when the app is updated to
    /// `toVersion` or later.
    ///
    /// It does the same as ``whenMigrating(toVersion:addedIn:minimumAppVersion:run:)-8cnrq``.
    /// Use it for a closure that needs the number of its attempt, reports progress or saves checkpoints.
    @discardableResult
    nonisolated(nonsending) public func whenMigrating(
        toVersion: String,
        addedIn: String? = nil,
        minimumAppVersion: String? = nil,
        run: nonisolated(nonsending) (MigrationContext) async throws -> Void
    ) async throws(MigrationError) -> Bool {
        try await perform(
            Declaration(toVersion, addedIn: addedIn, minimumAppVersion: minimumAppVersion),
            run
        )
    }
}

// Declarations that replace a file or a folder.
extension MigrationManager {
    /// Replaces a file or a folder by a copy on which `run` has worked: all or nothing, and exactly once.
    ///
    /// ```swift
    /// try migrations.whenMigrating(
    ///     toVersion: "2.0",
    ///     replacing: library
    /// ) { copy, context in
    ///     // `library` is untouched until this returns.
    ///     try convertNotes(in: copy)
    /// }
    /// ```
    ///
    /// When the closure returns, the copy takes the place of the original, by renaming. If it throws, or its
    /// process dies, or the power fails, the original is as it was, for this release and for every other one.
    /// (A folder is missing for the moment between two renames. If a process dies there, the next start puts
    /// it back.) The closure works on another path than the rest of the app, so nobody sees half of its work.
    ///
    /// Nobody may write to the path meanwhile, no other process and no other thread of the app: what is
    /// written there is removed with the original. Copy into the copy, and never move: what is in it is
    /// removed if the closure throws or its process dies. It costs a copy, or a clone where the file system
    /// can make clones. It can't be used for a path whose folder this user can't write to, for a mount point,
    /// or for a database that is open: name a folder inside it, or migrate the database with SQL. The guide
    /// *Replacing a file or a folder* has what to do instead.
    ///
    /// - Parameters:
    ///   - toVersion: The version, as in ``whenMigrating(toVersion:addedIn:minimumAppVersion:run:)-6u8kp``.
    ///   - addedIn: The first release of the main line that has this migration, if a hotfix brought it.
    ///   - minimumAppVersion: The oldest version of the app that can use the data afterwards. It is saved
    ///     together with the record of the migration: until then, the data is unchanged.
    ///   - path: The absolute path of the file or folder. A link is followed: it stays, and what it leads to
    ///     is replaced. If nothing exists there, the closure may make something at the path that it gets.
    ///   - run: The work, with the path of the copy, and the context. It has to leave one item at that path,
    ///     of the same kind, and nothing beside it. Close databases before it returns.
    /// - Returns: True if the closure ran.
    /// - Throws: The errors of ``whenMigrating(toVersion:addedIn:minimumAppVersion:run:)-6u8kp``, and
    ///   ``MigrationError`` with the code `replacementFailed`, if the path can't be replaced. The original is
    ///   then in its place, unless the error's description says otherwise. In that case, the next start
    ///   finishes the work.
    @discardableResult
    public func whenMigrating(
        toVersion: String,
        addedIn: String? = nil,
        minimumAppVersion: String? = nil,
        replacing path: String,
        run: (String, MigrationContext) throws -> Void
    ) throws(MigrationError) -> Bool {
        let declaration = Declaration(
            toVersion,
            addedIn: addedIn,
            minimumAppVersion: minimumAppVersion,
            replacing: path
        )
        return try perform(declaration) { context in try run(context.copy, context) }
    }

    /// Replaces a file or a folder by a copy on which an asynchronous closure has worked.
    ///
    /// It does the same as ``whenMigrating(toVersion:addedIn:minimumAppVersion:replacing:run:)-3pz6k``, and
    /// the closure runs on the caller's actor. Making the copy blocks the calling thread.
    @discardableResult
    nonisolated(nonsending) public func whenMigrating(
        toVersion: String,
        addedIn: String? = nil,
        minimumAppVersion: String? = nil,
        replacing path: String,
        run: nonisolated(nonsending) (String, MigrationContext) async throws -> Void
    ) async throws(MigrationError) -> Bool {
        let declaration = Declaration(
            toVersion,
            addedIn: addedIn,
            minimumAppVersion: minimumAppVersion,
            replacing: path
        )
        return try await perform(declaration) { context in try await run(context.copy, context) }
    }
}

// The one entry of all declarations.
extension MigrationManager {
    /// Runs a declaration on this thread.
    @inline(__always)
    package func perform(
        _ declaration: Declaration,
        _ body: (MigrationContext) throws -> Void
    ) throws(MigrationError) -> Bool {
        guard var runner = try begin(declaration, blocksThread: true) else { return false }
        return try runner.run(body)
    }

    /// Runs a declaration on the caller's actor.
    @inline(__always)
    nonisolated(nonsending) package func perform(
        _ declaration: Declaration,
        _ body: nonisolated(nonsending) (MigrationContext) async throws -> Void
    ) async throws(MigrationError) -> Bool {
        guard var runner = try begin(declaration, blocksThread: false) else { return false }
        return try await runner.run(body)
    }

    /// Decides from the state that the manager has already read whether the closure may have to run.
    ///
    /// For a version that has run, this makes no system call and allocates nothing, unless `addedIn:` or a
    /// `minimumAppVersion:` has to be looked at.
    ///
    /// - Returns: The runner of the declaration; `nil` if its closure doesn't run.
    @inline(__always)
    private func begin(
        _ declaration: Declaration,
        blocksThread: Bool
    ) throws(MigrationError) -> Runner? {
        if declaration.isDecidedByVersion, let version = declaration.version,
            declarations.withLock({ $0.takeShortcut(for: version) })
        {
            return nil
        }
        guard let declared = try declare(declaration) else { return nil }
        return Runner(
            declared,
            from: declaration,
            of: self,
            blocksThread: blocksThread
        )
    }

    private func declare(_ declaration: Declaration) throws(MigrationError) -> DeclaredMigration? {
        let isPlanned = try declarations.withLock { declarations throws(MigrationError) in
            try declarations.addRow(for: declaration)
        }
        if isPlanned { return nil }
        let version = declaration.version
        let enclosing = try closing(declaration) { () throws(MigrationError) in
            try RunToken.enclosing(location)
        }
        if enclosing?.isPlan == true { throw .nested(version, in: location).leaving(.migration(version)) }
        if let observer, let version {
            let addedIn = declaration.addedIn.flatMap(AppVersion.init)
            switch observer.observe(ObservedMoment(place: .declared(addedIn: addedIn), version: version)) {
            case .skip: return nil
            case .stop: throw declarations.withLock { $0.closeForRehearsal(before: version) }
            case .continue, .fail: break
            }
        }
        if declarations.withLock({ $0.needsHistory(for: declaration) }) {
            let applied = try closing(declaration) { () throws(MigrationError) in
                try stateOrAssumed(file.readState()).appliedVersions(at: location)
            }
            declarations.withLock { $0.keepHistory(applied) }
        }
        let declared = try declarations.withLock { declarations throws(MigrationError) in
            try declarations.declare(declaration, isNested: enclosing != nil)
        }
        guard let declared, options.isReadOnly else { return declared }
        let state = try closing(declaration) { () throws(MigrationError) in
            try stateOrAssumed(file.readState())
        }
        try declarations.withLock { declarations throws(MigrationError) in
            try declarations.endReadOnly(declared, in: state)
        }
        return nil
    }

    /// Closes the manager if `body` throws, before it could decide whether the migration has to run.
    private func closing<Value>(
        _ declaration: Declaration,
        _ body: () throws(MigrationError) -> Value
    ) throws(MigrationError) -> Value {
        do throws(MigrationError) {
            return try body()
        } catch {
            throw declarations.withLock { $0.close(error.leaving(.migration(declaration.version))) }
        }
    }

    /// True if the migration of a version up to the last-run version has run, or counts as having run.
    ///
    /// It is false for a version that was missed: it is below the last-run version, and never ran on this
    /// data. Reads the whole state.
    package func hasRun(_ version: AppVersion) throws(MigrationError) -> Bool {
        let applied = try stateOrAssumed(file.readState()).appliedVersions(at: location)
        return version <= applied.versions.baseline || applied.hasRun(version)
    }
}
