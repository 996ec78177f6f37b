internal import AppMigrationsSQLite

/// The objects of a database's schema that have a `CREATE` statement.
///
/// Shadow tables aren't among them: the modules of virtual tables create and drop those.
struct SchemaSnapshot {
    let objects: [SchemaObject]
    let shadowTables: ShadowTables
    /// The tables in which other migration tools, such as Alembic, keep their records.
    private let ledgersOfOtherTools: Set<SQLName>
    private var positions = [SchemaObject.Kind: [SQLName: Int]]()

    private init(
        _ objects: [SchemaObject],
        shadowTables: ShadowTables,
        ledgersOfOtherTools: Set<SQLName>
    ) {
        self.objects = objects
        self.shadowTables = shadowTables
        self.ledgersOfOtherTools = ledgersOfOtherTools
        for (position, object) in objects.enumerated() {
            positions[object.kind, default: [:]][object.name] = position
        }
    }

    init(
        of db: some SQLConnection,
        preparing preparation: ConnectionPreparation = .none
    ) throws(SQLError) {
        let all = try SchemaObject.all(of: db)
        let shadowTables = try ShadowTables(among: all, of: db, preparing: preparation)
        self.init(
            all.filter { $0.sql != nil && !$0.name.isInternal && !shadowTables.contains($0) },
            shadowTables: shadowTables,
            ledgersOfOtherTools: try LedgerTable.ledgersOfOtherTools(among: all, in: db)
        )
    }

    /// Returns this snapshot without the ledgers: the tables in which this library and other migration tools
    /// record what has run.
    ///
    /// A ledger that the target creates is kept.
    func withoutLedgers(
        unlessIn target: SchemaSnapshot,
        ledger: String = "schema_migrations"
    ) -> SchemaSnapshot {
        leavingOut(ledgersOfOtherTools.union([SQLName(ledger), SQLName("app_migrations")]), unlessIn: target)
    }

    /// This snapshot without the ledgers of other migration tools.
    var withoutLedgersOfOtherTools: SchemaSnapshot { leavingOut(ledgersOfOtherTools) }

    /// This snapshot without tables that may be shadow tables, unless the target creates them.
    ///
    /// After its virtual table is dropped, such a table looks like an ordinary table.
    func leavingOut(_ tables: [ShadowTables.Assumed], unlessIn target: SchemaSnapshot) -> SchemaSnapshot {
        leavingOut(Set(tables.map(\.table)), unlessIn: target)
    }

    private func leavingOut(_ tables: Set<SQLName>, unlessIn target: SchemaSnapshot? = nil) -> SchemaSnapshot
    {
        let names = tables.filter { target?[.table, $0] == nil && self[.table, $0] != nil }
        if names.isEmpty { return self }
        return SchemaSnapshot(
            objects.filter { $0.kind == .view || !names.contains($0.table) },
            shadowTables: shadowTables,
            ledgersOfOtherTools: ledgersOfOtherTools
        )
    }

    subscript(kind: SchemaObject.Kind, name: SQLName) -> SchemaObject? {
        positions[kind]?[name].map { objects[$0] }
    }

    /// True if both have the same objects with byte-identical `CREATE` statements, in any order.
    func isWritten(like other: SchemaSnapshot) -> Bool {
        objects.count == other.objects.count
            && objects.allSatisfy { other[$0.kind, $0.name]?.isWritten(like: $0) == true }
    }

    /// The objects that differ.
    ///
    /// Their order and the formatting of their statements don't matter.
    func differences(from target: SchemaSnapshot) -> [SchemaDifference] {
        // Lazy, because most statements are byte-identical, and then no form is needed.
        lazy var form = SchemaForm(self, target)
        var differences = [SchemaDifference]()
        for object in target.objects {
            guard let mine = self[object.kind, object.name] else {
                differences.append(.missing(object))
                continue
            }
            if mine.isWritten(like: object) || form.areSame(mine, object) { continue }
            differences.append(.different(mine, wanted: object))
        }
        return differences + objects.filter { target[$0.kind, $0.name] == nil }.map { .unexpected($0) }
    }
}

extension SchemaObject {
    func isWritten(like other: SchemaObject) -> Bool {
        guard let sql, let text = other.sql else { return false }
        return sql.utf8.elementsEqual(text.utf8)
    }
}

extension SchemaSnapshot {
    /// The schema that a target creates, and the database in memory in which the target was run.
    ///
    /// `preparation` is called with that database's connection before the target runs.
    static func made(
        by target: String,
        preparing preparation: ConnectionPreparation = .none
    ) throws(SQLError) -> (schema: SchemaSnapshot, db: SQLiteConnection) {
        let db = try preparation.makeDatabase()
        // In a transaction, SQLite refuses a script that attaches a file or begins a transaction.
        try db.query("BEGIN")
        do throws(SQLError) { try db.execute(script: target) } catch {
            guard let advice = error.registrationAdvice else { throw error }
            throw error.with { $0.outcome = "Nothing was changed. \(advice)" }
        }
        let schema = try SchemaSnapshot(of: db, preparing: preparation)
        try schema.checkContainsOnlySchema(in: db)
        return (schema, db)
    }

    /// Refuses a target that creates more than a schema, because a plan would not create the rest.
    private func checkContainsOnlySchema(in db: SQLiteConnection) throws(SQLError) {
        if let object = try SchemaObject.all(of: db, in: "temp").first {
            throw SQLError(
                .refusedSchemaChange,
                "The target makes the temporary \(object.kind) \(object.name), which exists only on its own connection."
                    + " Nothing was changed. Remove it from the target"
            )
        }
        for table in objects where table.kind == .table && !table.isVirtual {
            if try db.query("SELECT 1 FROM main.\(table.name.quoted) LIMIT 1").isEmpty { continue }
            throw SQLError(
                .refusedSchemaChange,
                "The target puts rows into the table \(table.name), but a plan creates only the schema."
                    + " Nothing was changed. Insert them in a migration"
            )
        }
    }
}
