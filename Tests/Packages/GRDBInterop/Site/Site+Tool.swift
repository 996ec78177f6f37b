import AppMigrations
import GRDB

extension Site {
    /// Changes no data.
    func readiness() throws -> MigrationManager.Readiness {
        let readiness = try manager(isReadOnly: true)
            .readiness(migrate)
        // The state doesn't know GRDB's migrations.
        guard readiness == .ready else { return readiness }
        guard try hasTables() else { return .needsMigration }
        return try openQueue().read { db in
            try requireKnownMigrations(db)
            let isMigrated = try siteMigrator()
                .hasCompletedMigrations(db)
            return try isMigrated && !lacksUploads(db)
                ? .ready : .needsMigration
        }
    }

    /// Each command of the tool that writes calls it.
    ///
    /// Keep `body` shorter than `lockTimeout`, because a start waits
    /// for it.
    func write(_ body: (DatabasePool) throws -> Void) throws {
        // Before there is a state, a manager would create one.
        try requireReadiness()
        try manager().withLock {
            // A newer server may have migrated in between.
            try requireReadiness()
            let pool = try openPool()
            try body(pool)
            try pool.close()
        }
    }

    func requireReadiness() throws {
        let readiness = try readiness()
        if readiness == .ready { return }
        throw SiteError(
            description: "Nothing was done: \(readiness)"
        )
    }

    /// Runs all closures above `version` at the next start.
    func reset(to version: String) throws {
        try requireOwner()
        let migrations = try MigrationManager(
            named: "Site",
            currentVersion: self.version,
            // If there is no state, it is created at this version.
            firstRun: .existingData(at: version),
            stateDirectory: state
        )
        try migrations.reset(to: version)
    }

    /// Moves the state aside, and returns its new path.
    func forgetState() throws -> String? {
        try requireOwner()
        return try MigrationManager.forgetState(
            named: "Site",
            stateDirectory: state,
            lockTimeout: .seconds(10)
        )
    }
}
