public import AppMigrations

extension FleetMigrationManager {
    /// What the store says now: read again at each call.
    ///
    /// It changes nothing, and works for a closed manager too. Of an attempt whose lease stands it can't be told at a
    /// glance whether its host is alive: `MigrationStatus.Attempt.isUnderWay` is `nil` then.
    ///
    /// - Throws: `MigrationError` with the code `stateUnreadable`, `stateCorrupted`, `stateFromNewerFormat` or `cancelled`.
    public var status: MigrationStatus {
        get async throws(MigrationError) {
            let found = try await stored.read()
            return MigrationStatus(
                found.state,
                of: location,
                current: currentVersion,
                isUnderWay: found.lease == nil ? false : nil
            )
        }
    }
}
