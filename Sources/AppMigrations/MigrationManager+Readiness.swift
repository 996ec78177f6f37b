extension MigrationManager {
    /// Whether a process that runs no migrations may read the data.
    public enum Readiness: Sendable, Hashable {
        /// No declared migration is pending.
        case ready

        /// A declared migration is pending, or there is no state yet, or a process died while it replaced a
        /// folder.
        ///
        /// The process that runs the migrations has to be started.
        case needsMigration

        /// A process is running a migration now, or it can't be found out whether one is.
        case isMigrating

        /// The data belongs to a newer release of the app.
        ///
        /// Its version is the `minimumAppVersion:` that the newer release has set. If it has set none, and
        /// this app declares a migration that hasn't run, it is the newest version whose migration was begun.
        /// If it has set none, and nothing is pending, the data is ``ready``.
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
    /// `look` is a read-only manager. Any other manager would create a state, and a migration could then never
    /// run. To write, an extension makes a file of its own, and a tool uses ``withLock(_:)-919t3``: a migration
    /// may begin at any moment.
    ///
    /// The answer is what a start of the app at this moment would find, so pass the app's `currentVersion:`,
    /// options and declarations. This call changes nothing, and knows the state and not the data. So skip or
    /// refuse rows and files that you don't recognize:
    ///
    /// - A release without this library may have added data of an old form.
    /// - The data alone may have been restored from a backup.
    /// - A newer release without `minimumAppVersion:` may have changed data before it failed, while nothing is
    ///   pending for this one. An app of this version uses that data, too.
    /// - The app may still have to prepare the data of a new install, or be in
    ///   ``MigrationManager/withLock(_:)-919t3``.
    ///
    /// - Parameter declarations: Declares the same migrations as the process that runs them. No closure runs.
    /// - Returns: The answer, of this moment. The other process can begin to migrate right after it.
    /// - Throws: The errors of ``status`` and ``plan(_:)-9ywei``; `tooOld`. If a declaration would be refused
    ///   for another reason than an attempt limit or a newer release, its error.
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

    /// True if a process died while it replaced a file or a folder, and the next start has to finish that.
    private func hasUnsettledReplacement(_ versions: StateVersions) throws(MigrationError) -> Bool {
        guard let attempted = versions.attemptToSettle else { return false }
        do throws(SystemCallError) {
            let directory = try Platform.resolved(location.directory)
            let place = FilePaths.absolute(attempted.replacing ?? "", from: directory)
            return try Platform.exists(at: WorkingFolder(beside: place, of: location).path)
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
