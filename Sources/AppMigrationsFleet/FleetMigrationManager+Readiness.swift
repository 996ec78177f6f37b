public import AppMigrations

extension FleetMigrationManager {
    /// A probe that reads nothing before it is asked, so that a service can offer it while its store is down.
    ///
    /// ```swift
    /// let readiness = FleetMigrationManager.readiness(
    ///     named: "Notes",
    ///     currentVersion: "1.4",
    ///     store: store
    /// )
    /// let isReady = try await readiness.isMigrated(declare)
    /// ```
    ///
    /// The parameters are those of the managers that migrate; a probe writes nothing.
    public static func readiness(
        named name: String,
        currentVersion: String,
        store: any FleetStore,
        options: Options = Options()
    ) -> Readiness {
        var looking = options
        looking.isReadOnly = true
        let manager = Result { () throws(MigrationError) in
            let place = try FleetPlace(name, currentVersion, store, looking)
            let declarations = Declarations(StateVersions(), under: place.rules)
            return FleetMigrationManager(place, launch: .same, declarations)
        }
        return Readiness(manager)
    }

    /// A probe of a fleet's state.
    ///
    /// It is asked again and again, by several tasks too. One probe for the life of a process sees a lease
    /// that nobody renews.
    public final class Readiness: Sendable {
        private let manager: Result<FleetMigrationManager, MigrationError>

        fileprivate init(_ manager: Result<FleetMigrationManager, MigrationError>) { self.manager = manager }

        /// True if the data is at every version that is declared, or ahead of it, and this app may use it.
        ///
        /// - Throws: As ``FleetMigrationManager/isMigrated(_:)``; `tooOld`; `invalidName`, `invalidVersion`
        ///   or `newerThanCurrentVersion` where no manager could be made.
        nonisolated(nonsending) public func isMigrated(
            _ declarations: nonisolated(nonsending) (FleetMigrationManager) async throws -> Void
        ) async throws -> Bool {
            let manager = try manager.get()
            let found = try await manager.stored.read()
            guard let versions = found.state?.versions else { return false }
            try manager.rules.requireUpgradable(versions)
            if versions.minimumAppVersion.exceeds(manager.currentVersion) { return false }
            return try await manager.pending(of: declarations, in: found)?.isEmpty == true
        }

        /// The status that the store has now, as ``FleetMigrationManager/status``.
        nonisolated(nonsending) public var status: MigrationStatus {
            get async throws(MigrationError) { try await manager.get().status }
        }
    }
}
