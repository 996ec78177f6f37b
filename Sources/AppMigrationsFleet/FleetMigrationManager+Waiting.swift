internal import AppMigrations

extension FleetMigrationManager {
    /// True if the data is at every version that is declared, or ahead of it; reads the store once.
    ///
    /// It is for hosts that leave the migrations to another one, and for a probe such as `/readyz`. Hand in the
    /// function that also declares the migrations where they run. `false` where there is no state yet, while a migration is
    /// under way, and where a newer release was started before everything had run that is declared here. `true` where the data
    /// is ahead: whether this app may still use it then is for ``requiredAppVersion`` to say.
    ///
    /// - Throws: `MigrationError` with the code `stateUnreadable`, `stateCorrupted`, `stateFromNewerFormat` or `cancelled`,
    ///   `attemptLimitReached` where no host goes on, that of a declaration which no data could satisfy, `outOfOrder` for
    ///   instance, and what `declarations` throws itself.
    nonisolated(nonsending) public func isMigrated(
        _ declarations: nonisolated(nonsending) (FleetMigrationManager) async throws -> Void
    ) async throws -> Bool {
        let (found, isHeld) = try await look()
        return try await missing(of: declarations, in: found, isHeld: isHeld) == .nothing
    }

    /// Waits until ``isMigrated(_:)``, without writing anything.
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
        var wait = wait(for: nil, timeout: timeout)
        while true {
            let found = try await wait.read(stored)
            let isHeld = wait.isHeld(found)
            let missing = try await missing(of: declarations, in: found, isHeld: isHeld)
            if missing == .nothing { return }
            if Task.isCancelled {
                throw MigrationError.cancelledWaiting(location, nil, holder: "the migrations")
            }
            if isHeld, let lease = found.lease {
                try await wait.pause(for: lease.owner)
            } else {
                let end = timeout.map {
                    MigrationError.notMigrated($0, missing.version, found, current: currentVersion, location)
                }
                try await wait.pause(for: "the host that migrates", orEndWith: end)
            }
        }
    }

    /// The distance between the data and the declarations of this release.
    private enum Missing: Equatable {
        case nothing
        case state
        /// The first version that has not run.
        case version(AppVersion)

        var version: AppVersion? { if case .version(let first) = self { first } else { nil } }
    }

    nonisolated(nonsending) private func missing(
        of declarations: nonisolated(nonsending) (FleetMigrationManager) async throws -> Void,
        in found: StoredState.Found,
        isHeld: Bool
    ) async throws -> Missing {
        guard let state = found.state else { return .state }
        let rows = try await plan(declarations, by: state, isHeld: isHeld, Declarations(state.marks, release))
        for row in rows { if let error = row.error { throw error } }
        // A newer release that was started holds an older one back, but may have run nothing yet.
        let first = rows.first { $0.kind == .willRun || $0.kind == .heldByDowngrade }
        return first.map { .version($0.version) } ?? .nothing
    }
}
