internal import AppMigrationsSQLite

extension ShadowTables {
    /// Finds the shadow tables with a scratch database in memory.
    init(among objects: [SchemaObject], of db: some SQLConnection) throws(SQLError) {
        try self.init(among: objects, of: db) { () throws(SQLError) in
            try SQLiteConnection(path: ":memory:")
        }
    }
}
