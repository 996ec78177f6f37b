extension MigrationManager {
    /// Runs `run`, once in the life of this data, when the app moves past `toVersion`.
    ///
    /// The closure runs before the call returns, on the caller's thread. Where the version has run already, the call
    /// costs some nanoseconds and makes no system call. In asynchronous code a closure without `await` takes this
    /// entry, which waits for another process on the calling thread.
    ///
    /// - Parameters:
    ///   - toVersion: The version, or the sub-migration of one (`1.1-2`); strictly after the one declared before it, and
    ///     not after the app's. A sub-migration counts by its release.
    ///   - outOfOrder: True if the version also runs below the last-run version, once, where it hasn't run: for one that a hotfix
    ///     brought after a later version was released. If it lies above the baseline, each start reads the whole state. The guide
    ///     *Writing migrations* has the rules.
    ///   - minimumAppVersion: The oldest app that can still use the data once this migration has begun. It is saved before the
    ///     closure runs, and apps below it have a ``requiredAppVersion`` from then on, whatever becomes of the closure. At
    ///     most `toVersion`. Where the version has run already, or belongs to the baseline, one that isn't in the state yet
    ///     is saved by itself. `nil` says nothing about older apps.
    ///   - paths: Files and folders that are put back to what they were if the closure throws or its process dies, and
    ///     synced to disk before the closure is recorded. Each file in them is another one after a restore, so nobody may have
    ///     one open: name the files that the closure changes, or, where these are hundreds, their folder.
    ///   - run: The work. It can be run again after a death or a throw, so make it repeatable, or name in
    ///     `protecting:` what it changes. A closure that writes to other files synchronizes them before it returns, with
    ///     ``MigrationContext/synchronize(_:)-([String])``: otherwise a power cut can leave the record and take the work.
    /// - Returns: True if the closure ran. `false` means that the version has run already, belongs to the baseline, or was
    ///   missed: it lies below the last-run version, never ran here, and isn't declared with `outOfOrder: true`.
    ///   ``plan(_:)-9ywei`` says which. It never means that a newer app keeps the version from running, which is the error
    ///   `usedByNewerApp`.
    /// - Throws: ``MigrationError`` with the code `invalidVersion`, `newerThanCurrentVersion`, `declaredOutOfOrder`, `managerClosed`,
    ///   `nested`, `usedByNewerApp`, `tooOld`, `readOnly`, `attemptLimitReached`, `lockTimeout`, `cancelled`, `stateUnreadable`,
    ///   `stateCorrupted`, `stateFromNewerFormat`, `protectionFailed`, `stateNotSaved`, or `migrationFailed` with the
    ///   closure's error as ``MigrationError/underlyingError``. The manager is closed then, unless the error is the `nested` of a
    ///   plan, or of a second declaration while one of this manager is under way.
    @discardableResult
    public func whenMigrating(
        toVersion: String,
        outOfOrder: Bool = false,
        minimumAppVersion: String? = nil,
        protecting paths: [String] = [],
        run: () throws -> Void
    ) throws(MigrationError) -> Bool {
        guard let declaration = try declare(toVersion, outOfOrder, minimumAppVersion) else { return false }
        return try perform(declaration, protecting: paths) { _ in try run() }
    }

    /// Runs `run` with its context, once in the life of this data, when the app moves past `toVersion`.
    ///
    /// Declares as ``whenMigrating(toVersion:outOfOrder:minimumAppVersion:protecting:run:)-9skx9`` does, for a closure that wants
    /// to know its attempt or report progress.
    @discardableResult
    public func whenMigrating(
        toVersion: String,
        outOfOrder: Bool = false,
        minimumAppVersion: String? = nil,
        protecting paths: [String] = [],
        run: (MigrationContext) throws -> Void
    ) throws(MigrationError) -> Bool {
        guard let declaration = try declare(toVersion, outOfOrder, minimumAppVersion) else { return false }
        return try perform(declaration, protecting: paths, run)
    }

    /// Runs an asynchronous closure, once in the life of this data, when the app moves past `toVersion`.
    ///
    /// Declares as ``whenMigrating(toVersion:outOfOrder:minimumAppVersion:protecting:run:)-9skx9`` does; the closure runs on the caller's actor,
    /// waiting for another process suspends the task, and cancelling the task ends the wait with the code `cancelled`.
    ///
    /// Name the manager first: Swift 6.3 can crash in a release build of `try await make().whenMigrating(…)` where `make()` throws.
    @discardableResult
    nonisolated(nonsending) public func whenMigrating(
        toVersion: String,
        outOfOrder: Bool = false,
        minimumAppVersion: String? = nil,
        protecting paths: [String] = [],
        run: nonisolated(nonsending) () async throws -> Void
    ) async throws(MigrationError) -> Bool {
        guard let declaration = try declare(toVersion, outOfOrder, minimumAppVersion) else { return false }
        return try await perform(declaration, protecting: paths) { _ in try await run() }
    }

    /// Runs an asynchronous closure with its context, once in the life of this data, when the app moves past `toVersion`.
    ///
    /// Declares as ``whenMigrating(toVersion:outOfOrder:minimumAppVersion:protecting:run:)-6x6tk`` does, on the caller's actor.
    @discardableResult
    nonisolated(nonsending) public func whenMigrating(
        toVersion: String,
        outOfOrder: Bool = false,
        minimumAppVersion: String? = nil,
        protecting paths: [String] = [],
        run: nonisolated(nonsending) (MigrationContext) async throws -> Void
    ) async throws(MigrationError) -> Bool {
        guard let declaration = try declare(toVersion, outOfOrder, minimumAppVersion) else { return false }
        return try await perform(declaration, protecting: paths, run)
    }

    /// Decides about a declaration by what is known; `nil` when there is nothing to run.
    @inline(__always)
    private func declare(
        _ text: String,
        _ outOfOrder: Bool,
        _ floor: String?
    ) throws(MigrationError) -> Declarations.Declaration? {
        if floor == nil, !outOfOrder, let version = AppVersion(text),
            declarations.withLock({ $0.passes(version) })
        {
            return nil
        }
        return try declareClosely(text, outOfOrder: outOfOrder, minimumAppVersion: floor)
    }

    private func declareClosely(
        _ text: String,
        outOfOrder: Bool,
        minimumAppVersion: String?
    ) throws(MigrationError) -> Declarations.Declaration? {
        let isPlanned = try declarations.withLock { declarations throws(MigrationError) in
            try declarations.plan(text, outOfOrder: outOfOrder, minimumAppVersion: minimumAppVersion)
        }
        if isPlanned { return nil }
        let enclosing: RunToken?
        do throws(MigrationError) {
            enclosing = try RunToken.enclosing(file.location)
        } catch {
            let refusal = error.completed(declaring: AppVersion(text))
            declarations.withLock { $0.close(refusal) }
            throw refusal
        }
        if let enclosing, enclosing.isPlan {
            let version = AppVersion(text)
            throw .nested(file.location, version).completed(declaring: version)
        }
        guard try isRehearsed(text, outOfOrder: outOfOrder) else { return nil }
        if outOfOrder { try readWholeState(for: text) }
        return try declarations.withLock { declarations throws(MigrationError) in
            try declarations.declare(
                text,
                outOfOrder: outOfOrder,
                minimumAppVersion: minimumAppVersion,
                isNested: enclosing != nil
            )
        }
    }

    /// Reads the whole state, if only its history says whether a version that is declared out of order has run.
    private func readWholeState(for text: String) throws(MigrationError) {
        guard declarations.withLock({ $0.needsState(for: text) }) else { return }
        do throws(MigrationError) {
            let state = try known(file.readState())
            declarations.withLock { $0.know(state) }
        } catch {
            let refusal = error.completed(declaring: AppVersion(text))
            declarations.withLock { $0.close(refusal) }
            throw refusal
        }
    }

    /// Asks the rehearsal, if there is one, whether a declaration is to be decided about.
    private func isRehearsed(_ text: String, outOfOrder: Bool) throws(MigrationError) -> Bool {
        guard let rehearsal, let version = AppVersion(text) else { return true }
        switch rehearsal.declared(version, outOfOrder: outOfOrder) {
        case .continue: return true
        case .passOver: return false
        case .stop:
            throw declarations.withLock { $0.stop(before: version) }
        }
    }
}
