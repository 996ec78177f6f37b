internal import AppMigrations

extension FleetMigrationManager {
    /// True if the data is at every version that is declared, or ahead of it; reads the store once.
    ///
    /// It is for hosts that leave the migrations to another one, and for a probe such as `/readyz`. Hand in the
    /// function that also declares the migrations where they run. `false` where there is no state yet, while a migration is
    /// under way, and where a newer release has begun to go beyond what is declared here and has not run. `true` where the data
    /// is ahead: whether this app may still use it then is for ``requiredAppVersion`` to say.
    ///
    /// - Throws: `MigrationError` with the code `stateUnreadable`, `stateCorrupted`, `stateFromNewerFormat` or `cancelled`,
    ///   `attemptLimitReached` where no host goes on, that of a declaration which no data could satisfy, `declaredOutOfOrder` for
    ///   instance, and what `declarations` throws itself.
    nonisolated(nonsending) public func isMigrated(
        _ declarations: nonisolated(nonsending) (FleetMigrationManager) async throws -> Void
    ) async throws -> Bool {
        try await pending(of: declarations, in: stored.read())?.isEmpty == true
    }

    /// Waits until ``isMigrated(_:)``, without writing anything.
    ///
    /// ``lastRunVersion`` is up to date then.
    ///
    /// A store that can't be read meanwhile is asked again for the length of a lease, and what it threw last comes out then. After
    /// a migration that failed the wait goes on, since another host may try again. Where as many hosts died in it as this
    /// manager's `attemptLimit` allows, the wait ends with `attemptLimitReached`.
    ///
    /// - Parameters:
    ///   - timeout: How long to wait; `nil` waits as long as it takes.
    ///   - declarations: The function that also declares the migrations where they run.
    /// - Throws: As ``isMigrated(_:)``, and `MigrationError` with the code `lockTimeout` or `cancelled`. The text of `lockTimeout`
    ///   names the host at work, or how the last attempt ended.
    nonisolated(nonsending) public func untilMigrated(
        timeout: Duration? = nil,
        _ declarations: nonisolated(nonsending) (FleetMigrationManager) async throws -> Void
    ) async throws {
        var wait = LeaseWait(manager: self, version: nil, timeout: timeout)
        while true {
            let found = try await wait.read()
            let pending = try await pending(of: declarations, in: found)
            if pending?.isEmpty == true {
                if let state = found.state { know(state) }
                return
            }
            if found.isHeld {
                try await wait.pause(for: found.holder)
            } else {
                let end = timeout.map { notMigrated($0, pending?.first?.version, found.state?.versions) }
                try await wait.pause(for: "the host that migrates", orEndWith: end)
            }
        }
    }

    /// The rows of what is declared by this release and has not run; `nil` where there is no state yet.
    nonisolated(nonsending) func pending(
        of declarations: nonisolated(nonsending) (FleetMigrationManager) async throws -> Void,
        in found: StoredState.Found
    ) async throws -> [PlannedMigration]? {
        guard let state = found.state else { return nil }
        let known = Declarations(state.versions, under: rules)
        let rows = try await plan(declarations, by: state, in: found, known)
        let refusal = rows.lazy.compactMap(\.error).first
        // What a newer release has begun to go beyond is pending until that release has run it.
        if let refusal, refusal.code != .usedByNewerApp { throw refusal }
        return rows.filter { $0.kind == .willRun || $0.error?.code == .usedByNewerApp }
    }

    private func notMigrated(
        _ timeout: Duration,
        _ version: AppVersion?,
        _ versions: StateVersions?
    ) -> MigrationError {
        let reason: Message =
            if let last = versions?.interruption {
                """
                the last attempt at migration \(last.version), number \(last.attempt.attempts), \
                \(last.failure.map { "failed with \($0.quoted)" } ?? "ended with its host")
                """
            } else if let version {
                "migration \(version) was not begun"
            } else {
                "there is no state yet"
            }
        let advice: Message =
            if let newer = versions?.begun(above: currentVersion) {
                """
                Version \(newer) of the app has begun to change the data. Let it finish. If it is rolled back, call reset(to:) in \
                this version (\(currentVersion)); the guide Running a fleet has the SQL of a reset.
                """
            } else {
                "Let the host that migrates start again, and then this one."
            }
        return location.error(
            .lockTimeout,
            version: version,
            isTransient: true,
            """
            The \(location) waited \(timeout.description) for the migrations that it declares, and no host runs them: \(reason). \
            \(advice)
            """
        )
    }
}
