public import AppMigrations

extension FleetMigrationManager {
    /// A probe that reads nothing before it is asked, so that a service can offer it while its store is down.
    ///
    /// ```swift
    /// let readiness = FleetMigrationManager.readiness(
    ///     named: "Data",
    ///     currentVersion: "1.4",
    ///     store: store
    /// )
    /// let isReady = try await readiness.isMigrated(declare)
    /// ```
    ///
    /// The parameters are those of the managers that migrate; a probe writes nothing.
    public static func readiness(
        named name: String = "default",
        currentVersion: String,
        store: any FleetStore,
        options: Options = Options()
    ) -> Readiness {
        var looking = options
        looking.isReadOnly = true
        return Readiness { [looking] () async throws(MigrationError) in
            try await FleetMigrationManager(
                named: name,
                currentVersion: currentVersion,
                firstRun: .everything,
                store: store,
                options: looking
            )
        }
    }

    /// A probe of a fleet's state.
    ///
    /// It is asked again and again, by several tasks too. One probe for the life of a process sees a lease that nobody renews.
    public final class Readiness: Sendable {
        private let manager: @Sendable () async throws(MigrationError) -> FleetMigrationManager
        private let made = Guarded<FleetMigrationManager?>(nil)

        fileprivate init(
            _ manager: @escaping @Sendable () async throws(MigrationError) -> FleetMigrationManager
        ) {
            self.manager = manager
        }

        /// True if the data is at every version that is declared, or ahead of it, and this app may use it.
        ///
        /// - Throws: As ``FleetMigrationManager/isMigrated(_:)``; `invalidName`, `invalidVersion` or `tooOld` where no manager could be
        ///   made.
        nonisolated(nonsending) public func isMigrated(
            _ declarations: nonisolated(nonsending) (FleetMigrationManager) async throws -> Void
        ) async throws -> Bool {
            let manager = try await known()
            if try await manager.status.requiredAppVersion != nil { return false }
            return try await manager.isMigrated(declarations)
        }

        /// The status that the store has now, as ``FleetMigrationManager/status``.
        nonisolated(nonsending) public var status: MigrationStatus {
            get async throws(MigrationError) { try await known().status }
        }

        private nonisolated(nonsending) func known() async throws(MigrationError) -> FleetMigrationManager {
            if let manager = made.withLock({ $0 }) { return manager }
            let manager = try await manager()
            return made.withLock { made in
                let first = made ?? manager
                made = first
                return first
            }
        }
    }
}
