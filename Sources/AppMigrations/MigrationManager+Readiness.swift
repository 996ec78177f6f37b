extension MigrationManager {
    /// Whether a process that runs no migrations may read the data.
    public enum Readiness: Sendable, Hashable {
        /// No declared migration is pending.
        case ready

        /// A declared migration is pending, or there is no state yet, or a process died while it was
        /// replacing a file or a folder.
        ///
        /// The process that runs the migrations has to be started.
        case needsMigration

        /// A process is running a migration now, or it can't be found out whether one is.
        case isMigrating

        /// The data belongs to a newer release of the app.
        ///
        /// The associated version is the one to which the app has to be updated. It is the
        /// `minimumAppVersion:` of the newer release, if that release declared one.
        ///
        /// Without a `minimumAppVersion:`, this case is returned only if a migration of this app is pending.
        /// The version is then that of the newest migration that the newer release has begun. If nothing is
        /// pending, ``ready`` is returned.
        case needsNewerApp(AppVersion)
    }

    /// Says whether a process that runs no migrations, such as an extension or a tool, may read the data.
    ///
    /// ```swift
    /// switch try look.readiness(declareAll) {
    /// case .ready:
    ///     return try readLibrary()
    /// case .needsMigration, .isMigrating:
    ///     return "Open the app first."
    /// case .needsNewerApp(let version):
    ///     return "Update the app to \(version)."
    /// }
    /// ```
    ///
    /// `look` is a read-only manager. Any other manager would create a state if there is none, and could
    /// record the data of an old release as a fresh install.
    ///
    /// The answer is for reading, because the app may begin a migration right after it. If an extension has
    /// to add something, let it write a file that the app collects. A tool that writes uses
    /// ``withLock(_:)-919t3``.
    ///
    /// Pass the same `currentVersion:`, options and declarations as the app, because the answer says what a
    /// start of the app would do now. This call changes nothing.
    ///
    /// The answer depends on the state alone, and the data can still be in another form. So skip or refuse
    /// rows and files that you don't recognize:
    ///
    /// - A release without this library may have added data of an old form.
    /// - The data alone may have been restored from a backup.
    /// - A newer release without `minimumAppVersion:` may have changed some of the data before it failed. If
    ///   nothing is pending for this release, the answer is ``Readiness/ready``, and the app uses that data
    ///   too.
    /// - On a new install, the app may not have created its first files yet.
    /// - The app may be changing data in the closure of ``withLock(_:)-919t3`` at this moment.
    ///
    /// - Parameter declarations: Declares the same migrations as the process that runs them. No closure runs.
    /// - Returns: What is true when this call reads the state.
    /// - Throws: The errors of ``status`` and ``plan(_:)-9ywei``, and ``MigrationError`` with the code
    ///   `tooOld`. If the app would refuse a declaration, that error, unless it is `attemptLimitReached` or
    ///   `usedByNewerApp`, for which there is an answer.
    public func readiness(_ declarations: (MigrationManager) throws -> Void) throws -> Readiness {
        let found = try readStateAndLock()
        if let readiness = try readiness(of: found) { return readiness }
        return try readiness(of: found, planning: plan(found, isFresh: true, declarations))
    }

    /// Says whether a process that runs no migrations may read the data, for asynchronous declarations.
    ///
    /// It does the same as ``readiness(_:)-5xrq6``, on the caller's actor.
    nonisolated(nonsending) public func readiness(
        _ declarations: nonisolated(nonsending) (MigrationManager) async throws -> Void
    ) async throws -> Readiness {
        let found = try readStateAndLock()
        if let readiness = try readiness(of: found) { return readiness }
        return try readiness(of: found, planning: await plan(found, isFresh: true, declarations))
    }

    /// What the state alone says; `nil` if it depends on the declarations.
    private func readiness(of found: FoundState) throws(MigrationError) -> Readiness? {
        guard let versions = found.state?.versions else { return .needsMigration }
        try rules.requireUpgradable(versions)
        if let minimum = versions.minimumAppVersion(above: currentVersion) { return .needsNewerApp(minimum) }
        do throws(SystemCallError) {
            if try found.isUnderWay.get() { return .isMigrating }
        } catch _ {
            // It can't be found out.
            return .isMigrating
        }
        return try hasUnsettledReplacement(versions) ? .needsMigration : nil
    }

    /// True if a process died while it was replacing a file or a folder, and no start has put that in order
    /// yet.
    private func hasUnsettledReplacement(_ versions: StateVersions) throws(MigrationError) -> Bool {
        guard let attempted = versions.attemptToSettle else { return false }
        do throws(SystemCallError) {
            let directory = try Platform.resolved(location.directory)
            return try Platform.exists(at: WorkingFolder(of: attempted, from: directory, in: location).path)
        } catch {
            throw .unreadable(error, at: location)
        }
    }

    private func readiness(
        of found: FoundState,
        planning plan: [PlannedMigration]
    ) throws(MigrationError) -> Readiness {
        for row in plan {
            if row.kind == .willRun { return .needsMigration }
            guard let error = row.error else { continue }
            switch error.code {
            case .usedByNewerApp: return .needsNewerApp(newestApp(in: found))
            case .attemptLimitReached: return .needsMigration
            default: throw error
            }
        }
        return .ready
    }

    /// The newest release above this one that has begun or recorded a migration.
    private func newestApp(in found: FoundState) -> AppVersion {
        guard let versions = found.state?.versions else { return currentVersion }
        let begun = versions.begun(above: currentVersion) ?? currentVersion
        return max(begun, versions.recorded(above: currentVersion) ?? currentVersion)
    }
}
