public import AppMigrations

/// Tells a service whether the data of its fleet is migrated, without migrating anything.
///
/// ```swift
/// let probe = FleetProbe(
///     named: "Notes",
///     currentVersion: "1.4",
///     store: store,
///     options: .init(attemptLimit: 3)
/// )
/// let isReady = try await probe.isMigrated(declare)
/// ```
///
/// Create one probe for the life of the process. Several tasks may share it. Only a probe that is asked
/// repeatedly notices that nobody renews a lease any more. A probe never writes.
public final class FleetProbe: Sendable {
    private let manager: Result<FleetMigrationManager, MigrationError>

    /// Creates a probe, and reads nothing yet, so that a service can create it while its store is down.
    ///
    /// Pass the same values that you pass to the managers that run the migrations.
    public init(
        named name: String,
        currentVersion: String,
        store: any FleetStore,
        options: FleetMigrationManager.Options = .init()
    ) {
        var readOnlyOptions = options
        readOnlyOptions.isReadOnly = true
        manager = Result { () throws(MigrationError) in
            let configuration = try FleetConfiguration(
                name: name,
                currentVersion: currentVersion,
                store: store,
                options: readOnlyOptions
            )
            let declarations = Declarations(StateVersions(), under: configuration.rules)
            return FleetMigrationManager(configuration, launch: .same, declarations: declarations)
        }
    }

    /// True if every declared version has run, or the data is newer, and this app may use the data.
    ///
    /// - Throws: The errors of ``FleetMigrationManager/isMigrated(_:)``, and `MigrationError` with the code
    ///   `tooOld`. With the code `invalidName`, `invalidVersion` or `newerThanCurrentVersion`, a value that
    ///   was passed to ``init(named:currentVersion:store:options:)`` is wrong.
    nonisolated(nonsending) public func isMigrated(
        _ declarations: nonisolated(nonsending) (FleetMigrationManager) async throws -> Void
    ) async throws -> Bool {
        let manager = try manager.get()
        let found = try await manager.repository.read()
        guard let versions = found.state?.versions else { return false }
        try manager.rules.requireUpgradable(versions)
        if versions.minimumAppVersion.exceeds(manager.currentVersion) { return false }
        return try await manager.pending(of: declarations, in: found)?.isEmpty == true
    }

    /// The current status in the store, as ``FleetMigrationManager/status`` returns it.
    nonisolated(nonsending) public var status: MigrationStatus {
        get async throws(MigrationError) { try await manager.get().status }
    }

    /// Waits until it is clear whether the host of an attempt is still alive, and returns the status.
    ///
    /// It works as ``FleetMigrationManager/observedStatus()`` does.
    nonisolated(nonsending) public func observedStatus() async throws(MigrationError) -> MigrationStatus {
        try await manager.get().observedStatus()
    }
}
