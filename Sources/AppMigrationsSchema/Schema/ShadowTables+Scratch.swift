internal import AppMigrationsSQLite

extension ShadowTables {
    /// Finds the shadow tables with a scratch database in memory.
    init(
        among objects: [SchemaObject],
        of db: some SQLConnection,
        preparing preparation: ConnectionPreparation = .none
    ) throws(SQLError) {
        try self.init(among: objects, of: db) { () throws(SQLError) in try preparation.makeDatabase() }
    }
}
