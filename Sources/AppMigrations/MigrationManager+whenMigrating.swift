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
    ///   - minimumAppVersion: The oldest app that can still use the data once this migration has begun. It is saved before the
    ///     closure runs, and apps below it have a ``requiredAppVersion`` from then on, whatever becomes of the closure. At
    ///     most `toVersion`. Where the version has run already, or belongs to the baseline, one that isn't in the state yet
    ///     is saved by itself. `nil` says nothing about older apps.
    ///   - paths: Files and folders that are put back to what they were if the closure throws or its process dies, and
    ///     synced to disk before the closure is recorded.
    ///   - run: What is to be done. It can be run again after a death or a throw, so make it repeatable, or name in
    ///     `protecting:` what it changes. A closure that writes to other files synchronizes them before it returns, with
    ///     ``MigrationContext/synchronize(_:)``: otherwise a power cut can leave the record and take the work.
    /// - Returns: Whether the closure ran. `false` means that the version has run already, or belongs to the baseline; in a start
    ///   whose ``launch-property`` is `downgrade(from:)`, that nothing runs.
    /// - Throws: ``MigrationError`` with the code `invalidVersion`, `newerThanCurrentVersion`, `outOfOrder`, `blocked`,
    ///   `nested`, `overtaken`, `tooOld`, `readOnly`, `attemptLimitReached`, `lockTimeout`, `cancelled`, `stateUnreadable`,
    ///   `stateCorrupted`, `stateFromNewerFormat`, `protectionFailed`, `stateNotSaved`, or `migrationFailed` with the
    ///   closure's error as ``MigrationError/underlyingError``. The manager is closed then.
    @discardableResult
    public func whenMigrating(
        toVersion: String,
        minimumAppVersion: String? = nil,
        protecting paths: [String] = [],
        run: () throws -> Void
    ) throws(MigrationError) -> Bool {
        guard let admission = try admit(toVersion, minimumAppVersion, isAsynchronous: false) else {
            return false
        }
        return try perform(admission, protecting: paths) { _ in try run() }
    }

    /// Runs `run` with its context, once in the life of this data, when the app moves past `toVersion`.
    ///
    /// The same as ``whenMigrating(toVersion:minimumAppVersion:protecting:run:)-7s1es``, for a closure that wants
    /// to know its attempt or report progress.
    @discardableResult
    public func whenMigrating(
        toVersion: String,
        minimumAppVersion: String? = nil,
        protecting paths: [String] = [],
        run: (MigrationContext) throws -> Void
    ) throws(MigrationError) -> Bool {
        guard let admission = try admit(toVersion, minimumAppVersion, isAsynchronous: false) else {
            return false
        }
        return try perform(admission, protecting: paths, run)
    }

    /// Decides about a declaration by what is known; `nil` when there is nothing to run.
    @inline(__always)
    func admit(
        _ text: String,
        _ minimumAppVersion: String?,
        isAsynchronous: Bool
    ) throws(MigrationError) -> Admission? {
        let version = UsualVersion.read(text)
        if let minimumAppVersion {
            if passes(version, minimumAppVersion) { return nil }
        } else if !version.isNone, declarations.withLock({ $0.passes(version) }) {
            return nil
        }
        return try admitClosely(text, minimumAppVersion, isAsynchronous)
    }

    /// Passes a version over that has run already, and whose floor stands in the state.
    @inline(never)
    private func passes(_ version: UsualVersion, _ minimumAppVersion: String) -> Bool {
        let floor = UsualVersion.read(minimumAppVersion)
        guard !version.isNone, !floor.isNone, floor.key <= version.key else { return false }
        return declarations.withLock { !$0.marks.minimumAppVersion.precedes(floor) && $0.passes(version) }
    }

    @inline(never)
    private func admitClosely(
        _ text: String,
        _ minimumAppVersion: String?,
        _ isAsynchronous: Bool
    ) throws(MigrationError) -> Admission? {
        let enclosing = try enclosing()
        let declared: DeclaredVersion
        do throws(MigrationError) {
            declared = try DeclaredVersion(text, minimumAppVersion: minimumAppVersion, file.location)
        } catch {
            throw declarations.withLock { declarations in
                if observer?.planner == nil { return declarations.closing(error, file.location) }
                return declarations.firstFailure.map { .blocked(nil, by: $0, file.location) } ?? error
            }
        }
        let version = declared.version
        if let enclosing, enclosing.isPlan { throw .nested(file.location, version) }
        if let planner = observer?.planner {
            try declarations.withLock { declarations throws(MigrationError) in
                try declarations.requireOpen(version, file.location)
            }
            planner.record(version, refusing: declared.refusal)
            return nil
        }
        guard try isRehearsed(version) else { return nil }
        let ticket = try declarations.withLock { declarations throws(MigrationError) in
            try declarations.admit(
                version,
                current: currentVersion,
                minimumAppVersion: declared.minimumAppVersion,
                isAsynchronous: isAsynchronous,
                file.location,
                refusing: enclosing == nil ? declared.refusal : .nested(file.location, version)
            )
        }
        guard let ticket else { return nil }
        let admission = Admission(
            version: version,
            minimumAppVersion: declared.minimumAppVersion,
            ticket: ticket
        )
        if !options.isReadOnly { return admission }
        try look(at: admission)
        return nil
    }

    /// The closure or plan of this state inside of which the caller stands; a plan's own manager is meant to be used there.
    private func enclosing() throws(MigrationError) -> RunToken? {
        if observer?.planner != nil { return nil }
        do throws(SystemCallError) {
            return try RunToken.enclosing(file.location)
        } catch {
            throw .unreadable(error, file.location)
        }
    }
}
