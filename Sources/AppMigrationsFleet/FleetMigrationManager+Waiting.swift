internal import AppMigrations

extension FleetMigrationManager {
    /// True if every declared version has run, or the data is newer.
    ///
    /// It reads the store once. Use it on hosts that leave the migrations to another host, and in a probe
    /// such as `/readyz`. Pass the function that declares the migrations on the hosts that run them.
    ///
    /// It is false if there is no state yet, or if a declared version is pending or running. If a newer
    /// release begins a later version while a declared version is pending, this app can't run its version any
    /// more, and the result is false until a newer release has run a version that is at least as high. It is
    /// true if a newer release has already migrated the data.
    /// ``requiredAppVersion`` says whether this app may use newer data.
    ///
    /// - Throws: `MigrationError` with the code `stateUnreadable`, `stateCorrupted`, `stateFromNewerFormat`
    ///   or `cancelled`; `attemptLimitReached` if no host will try again; the code of a wrong declaration,
    ///   such as `declaredOutOfOrder`; and the errors of `declarations` itself.
    nonisolated(nonsending) public func isMigrated(
        _ declarations: nonisolated(nonsending) (FleetMigrationManager) async throws -> Void
    ) async throws -> Bool {
        try await pending(of: declarations, in: repository.read())?.isEmpty == true
    }

    /// Waits until ``isMigrated(_:)`` is true, and writes nothing.
    ///
    /// Afterwards ``lastRunVersion`` is up to date.
    ///
    /// If the store can't be read during the wait, it is tried again for the length of a lease. After that
    /// the call throws the store's last error. If a migration fails, the wait continues, because another host
    /// may try again. If as many hosts have crashed in a migration as this manager's `attemptLimit` allows,
    /// the wait ends with `attemptLimitReached`.
    ///
    /// - Parameters:
    ///   - timeout: How long to wait; `nil` means without a limit.
    ///   - declarations: The function that declares the migrations on the hosts that run them.
    /// - Throws: The errors of ``isMigrated(_:)``, and `MigrationError` with the code `lockTimeout` or
    ///   `cancelled`. The text of `lockTimeout` names the host that is migrating, or says how the last
    ///   attempt ended.
    nonisolated(nonsending) public func untilMigrated(
        timeout: Duration? = nil,
        _ declarations: nonisolated(nonsending) (FleetMigrationManager) async throws -> Void
    ) async throws {
        var wait = LeaseWait(manager: self, version: nil, timeout: timeout)
        while true {
            let found = try await wait.read()
            let pending = try await pending(of: declarations, in: found)
            if pending?.isEmpty == true {
                if let state = found.state { update(from: state) }
                return
            }
            if found.isLeaseHeld {
                try await wait.pause(for: found.holderName)
            } else {
                let first = pending?.first?.version
                let end = timeout.map { timeout in
                    timeoutError(
                        after: timeout,
                        pending: first,
                        versions: found.state?.versions
                    )
                }
                let awaited = awaitedHost(pending: first, versions: found.state?.versions)
                try await wait.pause(for: awaited, orEndWith: end)
            }
        }
    }

    /// Describes, for messages, the host that has to act before the wait can end.
    ///
    /// Call it only if no host has the lease.
    private func awaitedHost(pending version: AppVersion?, versions: StateVersions?) -> String {
        let host: Message =
            if let newer = versions?.begun(above: currentVersion) {
                "app version \(newer) or later (it began to change the data and hasn't finished; start it again, or undo it)"
            } else if let version {
                "a host that runs migration \(version)"
            } else {
                "a host that creates the state"
            }
        return host.description
    }

    /// The rows of the declared versions that have not run; `nil` if there is no state yet.
    nonisolated(nonsending) func pending(
        of declarations: nonisolated(nonsending) (FleetMigrationManager) async throws -> Void,
        in found: StateRepository.Found
    ) async throws -> [PlannedMigration]? {
        guard let state = found.state else { return nil }
        let known = Declarations(state.versions, under: rules)
        let rows = try await plan(declarations, from: known, state: state, found: found)
        let refusal = rows.lazy.compactMap(\.error).first
        // If a newer release has begun a later version, this app can't run its own version any more. That
        // version stays pending until the newer release has run it.
        if let refusal, refusal.code != .usedByNewerApp { throw refusal }
        return rows.filter { $0.kind == .willRun || $0.error?.code == .usedByNewerApp }
    }

    private func timeoutError(
        after timeout: Duration,
        pending version: AppVersion?,
        versions: StateVersions?
    ) -> MigrationError {
        let reason: Message =
            if let last = versions?.latestAttempt {
                """
                the last attempt at migration \(last.version), number \(last.migration.attemptCount), \
                \(last.failure.map { "failed with \($0.quoted)" } ?? "ended without a saved result")
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
                this version (\(currentVersion)); the guide Operating a fleet has the SQL of a reset.
                """
            } else {
                "Restart the host that runs the migrations, and then this one."
            }
        return location.error(
            .lockTimeout,
            version: version,
            isTransient: true,
            """
            The \(location) waited \(timeout.description) for its declared migrations, but no host is running them: \(reason). \
            \(advice)
            """
        )
    }
}
