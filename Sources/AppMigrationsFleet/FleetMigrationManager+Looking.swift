public import AppMigrations

extension FleetMigrationManager {
    /// The status that the store has now: read again at each call.
    ///
    /// It changes nothing, and works for a closed manager too. Of an attempt whose lease stands it can't be told at a glance
    /// whether its host is alive: `MigrationStatus.Attempt.isUnderWay` is `nil` then, and the attempt no death. A manager
    /// that is asked again and again, by a probe for instance, sees a lease that nobody renews for its whole length:
    /// `isUnderWay` is `false` then, and `deaths` counts the attempt.
    ///
    /// - Throws: `MigrationError` with the code `stateUnreadable`, `stateCorrupted`, `stateFromNewerFormat` or `cancelled`.
    public var status: MigrationStatus {
        get async throws(MigrationError) {
            let (found, isHeld) = try await look()
            return MigrationStatus(
                found.state,
                of: location,
                current: currentVersion,
                isUnderWay: isHeld ? nil : false
            )
        }
    }

    /// Reads the state, and says whether a lease stands in it, by all that this manager has seen.
    func look() async throws(MigrationError) -> (found: StoredState.Found, isHeld: Bool) {
        let asked = clock.awake()
        let found = try await stored.read()
        let answered = clock.awake()
        guard let lease = found.lease else { return (found, false) }
        let hasRunOut = calls.withLock { calls in
            calls.watch.hasRunOut(lease, at: found.revision, asked: asked, answered: answered)
        }
        return (found, !hasRunOut)
    }
}
