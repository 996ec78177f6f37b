extension MigrationManager {
    /// Whether a process that runs no migrations may use the data.
    public enum Readiness: Sendable, Hashable {
        /// Every declared migration has run, or belongs to what was there before.
        case ready

        /// A migration is pending, or has failed, or there is no state yet.
        ///
        /// The process that runs the migrations has to be started.
        case needsMigration

        /// A process is running a migration now, or it can't be found out whether one is.
        case isMigrating

        /// The data belongs to a newer release of the app.
        ///
        /// Its version is the `minimumAppVersion:` that the newer release has set. If it has set none, and
        /// this app declares a migration that hasn't run, it is the newest version that was started on the
        /// data. If it has set none, and nothing is pending, the data is ``ready``.
        case needsNewerApp(AppVersion)
    }

    /// Says whether a process that runs no migrations, such as an extension or a tool, may use the data.
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
    /// `look` is a read-only manager. Any other manager would create a state.
    ///
    /// This call reads the state, changes nothing, and doesn't lock the data. It knows the state and not the
    /// data: a user who went back to a release without this library may have added data of an old form, and
    /// the data alone may have been restored from a backup. So skip or refuse what you don't recognize.
    ///
    /// - Parameter declarations: Declares the same migrations as the process that runs them. No closure runs.
    /// - Returns: The answer, of this moment. The other process can begin to migrate right after it.
    /// - Throws: The errors of ``status`` and ``plan(_:)-9ywei``. If a declaration would be refused for another
    ///   reason than an attempt limit or a newer release, its error.
    public func readiness(_ declarations: (MigrationManager) throws -> Void) throws -> Readiness {
        let status = try status
        if let readiness = readiness(in: status) { return readiness }
        return try readiness(in: status, planning: plan(declarations))
    }

    /// Says whether a process that runs no migrations may use the data, for asynchronous declarations.
    ///
    /// It does the same as ``readiness(_:)-5xrq6``, on the caller's actor.
    nonisolated(nonsending) public func readiness(
        _ declarations: nonisolated(nonsending) (MigrationManager) async throws -> Void
    ) async throws -> Readiness {
        let status = try status
        if let readiness = readiness(in: status) { return readiness }
        return try readiness(in: status, planning: await plan(declarations))
    }

    /// What the status alone says; `nil` if it depends on the declarations.
    private func readiness(in status: MigrationStatus) -> Readiness? {
        if !status.hasState { return .needsMigration }
        if let minimum = status.minimumAppVersion, minimum.exceeds(currentVersion) {
            return .needsNewerApp(minimum)
        }
        if let attempt = status.latestAttempt, attempt.isUnderWay != false { return .isMigrating }
        return nil
    }

    private func readiness(in status: MigrationStatus, planning plan: [PlannedMigration]) throws -> Readiness
    {
        for row in plan {
            if row.kind == .willRun { return .needsMigration }
            guard let error = row.error else { continue }
            switch error.code {
            case .usedByNewerApp: return .needsNewerApp(status.launchedVersion ?? currentVersion)
            case .attemptLimitReached: return .needsMigration
            default: throw error
            }
        }
        return .ready
    }
}
