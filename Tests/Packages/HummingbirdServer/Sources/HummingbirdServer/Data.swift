import AppMigrations
import AppMigrationsFleet
import ServiceLifecycle

/// What the server knows of the fleet's data: it migrates them, and then looks whether a newer release shuts this one out.
struct Data: Service {
    let manager: FleetMigrationManager

    /// Whether the data are there for this release: migrated as far as it needs, and not too far for it.
    var isReady: Bool {
        get async throws {
            if try await isShutOut { return false }
            return try await manager.isMigrated { try await declare($0) }
        }
    }

    private var isShutOut: Bool {
        get async throws { try await manager.status.requiredAppVersion != nil }
    }

    func run() async throws {
        if try await !isShutOut { try await declare(manager) }
        try await cancelWhenGracefulShutdown {
            do {
                while try await !isShutOut { try await Task.sleep(for: .milliseconds(200)) }
            } catch {
                // A look that was cancelled since the server is asked to end is no failure.
                guard Task.isCancelled else { throw error }
            }
        }
    }

    private func declare(_ manager: FleetMigrationManager) async throws {
        try await manager.whenMigrating(toVersion: "1.0") {}
        if manager.currentVersion != AppVersion("1.0") {
            try await manager.whenMigrating(toVersion: "2.0", minimumAppVersion: "2.0") {}
        }
    }
}
