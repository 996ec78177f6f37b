import AppMigrationsSQLite
import AppMigrationsSchema
import Testing

@Suite struct SchemaPlanPropertyTests {
    /// A schema as the pragmas tell it: the library reads and compares none of them.
    private func facts(of db: SQLiteConnection) throws -> [[SQLValue]] {
        try db.query(
            "SELECT type, name, tbl_name FROM sqlite_master WHERE name NOT LIKE 'sqlite_s%' ORDER BY type, name"
        )
            + db.query(
                """
                SELECT m.name, x.* FROM sqlite_master AS m, pragma_table_xinfo(m.name) AS x
                WHERE m.type IN ('table', 'view') AND m.name NOT LIKE 'sqlite_s%' ORDER BY m.name, x.cid
                """
            )
            + db.query(
                """
                SELECT m.name, l.name, l."unique", l.origin, l.partial, x.* FROM sqlite_master AS m,
                pragma_index_list(m.name) AS l, pragma_index_xinfo(l.name) AS x
                WHERE m.type = 'table' ORDER BY m.name, l.name, x.seqno
                """
            )
            + db.query(
                "SELECT name, wr, strict FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite_s%' ORDER BY name"
            )
    }

    /// Answers every question, with a rename here and there.
    private func answer(
        _ questions: [SchemaPlan.Question],
        _ target: RandomSchema,
        _ random: inout SeededGenerator
    ) throws -> SchemaPlan.Hints {
        var hints = SchemaPlan.Hints()
        var taken = Set<String>()
        for question in questions {
            let (table, column) = (question.table, question.column ?? "")
            let type =
                target.tables.first { $0.name == table }?.columns.first { $0.name == column }?.type ?? ""
            switch question.kind {
            case .droppedColumn:
                let free = question.candidates.filter { !taken.contains("\(table).\($0)") }
                if !free.isEmpty, random.hits(oneIn: 2) {
                    let new = random.element(of: free)
                    taken.insert("\(table).\(new)")
                    hints.renamedColumns[table, default: [:]][column] = new
                } else {
                    hints.droppedColumns[table, default: []].insert(column)
                }
            case .missingValue: hints.values[table, default: [:]][column] = "CAST(id AS \(type))"
            case .emptyValues, .convertedValues:
                hints.values[table, default: [:]][column] = "CAST(coalesce(`\(column)`, -id) AS \(type))"
            case .generatedColumn: hints.droppedColumns[table, default: []].insert(column)
            default: hints.droppedTables.insert(table)
            }
        }
        return hints
    }

    /// The values of the columns that come over, each with the row's key.
    private func data(
        _ db: SQLiteConnection,
        _ columns: [(table: String, old: String, new: String)],
        isNew: Bool
    ) throws -> [[SQLValue]] {
        try columns.flatMap { column in
            try db.query("SELECT id, \"\(isNew ? column.new : column.old)\" FROM \(column.table) ORDER BY id")
        }
    }

    private func shared(
        _ before: RandomSchema,
        _ after: RandomSchema,
        _ hints: SchemaPlan.Hints
    ) -> [(table: String, old: String, new: String)] {
        var shared = [(table: String, old: String, new: String)]()
        for table in before.tables {
            guard let other = after.tables.first(where: { $0.name == table.name }) else { continue }
            shared.append((table.name, "id", "id"))
            for column in table.columns where !column.isGenerated {
                let name = hints.renamedColumns[table.name]?[column.name] ?? column.name
                guard hints.values[table.name]?[name] == nil else { continue }
                if other.columns.contains(where: { $0.name == name && !$0.isGenerated }) {
                    shared.append((table.name, column.name, name))
                }
            }
        }
        return shared
    }

    @Test(arguments: 0..<60 as Range<UInt64>)
    func `random schemas become others with their rows`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let before = RandomSchema.random(&random)
        let after = random.hits(oneIn: 3) ? RandomSchema.random(&random) : before.changed(&random)
        let db = try database(before.sql)
        for table in before.tables {
            try table.insert(Int.random(in: 0...6, using: &random), into: db, &random)
        }

        var hints = try answer(SchemaPlan(from: db, to: after.sql).questions, after, &random)
        // A rename can raise further questions: the renamed column may need another type.
        for _ in 0..<2 {
            let more = try answer(SchemaPlan(from: db, to: after.sql, hints: hints).questions, after, &random)
            for (table, columns) in more.values {
                for (column, value) in columns {
                    let old = hints.renamedColumns[table]?.first { $0.value == column }?.key ?? column
                    let expression = value.replacing("`\(column)`", with: "`\(old)`")
                    hints.values[table, default: [:]][column] = expression
                }
            }
            hints.droppedTables.formUnion(more.droppedTables)
            hints.droppedColumns.merge(more.droppedColumns) { $0.union($1) }
        }
        let plan = try SchemaPlan(from: db, to: after.sql, hints: hints)
        try #require(plan.questions == [])
        let columns = shared(before, after, hints)
        let rows = try data(db, columns, isNew: false)
        do { try plan.apply(db) } catch {
            Issue.record("\(error)\n\(before.sql)\n\(after.sql)\n\(hints)\n\(plan.steps.map(\.description))")
            return
        }
        #expect(try data(db, columns, isNew: true) == rows)
        #expect(try facts(of: db) == facts(of: database(after.sql)), "\(before.sql)\n\(after.sql)")
        let second = try SchemaPlan(from: db, to: after.sql, hints: hints)
        #expect(second.steps.map(\.description) == [] && second.questions == [])
        #expect(try db.query("PRAGMA integrity_check") == [["ok"]])
    }
}
