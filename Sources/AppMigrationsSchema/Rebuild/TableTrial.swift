internal import AppMigrationsSQLite

/// The shape of a new table, read from a temporary table that is created for this purpose and dropped again.
struct TableTrial {
    let shape: TableShape
    /// The names of columns of the old table that no column of the new one has.
    let removedColumnNames: Set<SQLName>
    /// The first index of the old table that doesn't compile for the new one.
    var broken: (index: SchemaObject, complaint: String)?
}

extension TableRebuild {
    /// Creates the new table as a temporary table, tries the indexes on it, and rolls everything back.
    func trial(
        of statement: CreateStatement,
        replacing old: TableShape,
        indexes: [SchemaObject],
        on db: some SQLConnection
    ) throws(SQLError) -> TableTrial {
        try db.inRolledBackSavepoint { () throws(SQLError) -> TableTrial in
            // The app may have a temporary table or view of the same name.
            for object in try SchemaObject.all(of: db, in: "temp")
            where object.name == statement.name && (object.kind == .table || object.kind == .view) {
                try db.rows("DROP \(object.kind) \(object.qualifiedName)")
            }
            try db.rows(statement.text(in: "temp"))
            let shape = try TableShape(of: statement, in: "temp", on: db)
            var trial = TableTrial(shape: shape, removedColumnNames: old.names.subtracting(shape.names))
            for index in indexes where trial.broken == nil && !trial.removedColumnNames.isEmpty {
                let statement = try index.statement()
                // SQLite would treat the double-quoted name of a dropped column as a string literal, without
                // an error.
                let occurrences = statement.doubleQuotedOccurrences(of: trial.removedColumnNames)
                let text = statement.text(naming: "temp.app_migrations_trial", replacing: occurrences)
                trial.broken = try db.complaint(about: text).map { (index, $0) }
            }
            return trial
        }
    }
}
