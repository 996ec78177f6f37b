import AppMigrations
import GRDB

extension Site {
    enum Readiness {
        case ready
        case startServer
        /// A process migrates now.
        case wait
        case updateTool
    }

    /// Changes no data.
    func readiness() throws -> Readiness {
        let migrations = try manager(isReadOnly: true)
        if migrations.requiredAppVersion != nil {
            return .updateTool
        }
        let status = try migrations.status
        guard status.hasState else { return .startServer }
        if status.latestAttempt?.isUnderWay == true { return .wait }
        for migration in try migrations.plan(migrate) {
            if migration.kind == .willRun { return .startServer }
            guard let error = migration.error else { continue }
            if error.code == .usedByNewerApp { return .updateTool }
            throw error
        }
        // The plan doesn't know GRDB's migrations.
        guard try hasTables() else { return .startServer }
        return try openQueue().read { db in
            let migrator = siteMigrator()
            if try isNewer(db, than: migrator) {
                return .updateTool
            }
            let isMigrated = try migrator.hasCompletedMigrations(db)
            return try isMigrated && !lacksUploads(db)
                ? .ready : .startServer
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
