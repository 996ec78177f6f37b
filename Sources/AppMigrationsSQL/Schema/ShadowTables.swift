/// The tables in which the virtual tables of a database keep their rows.
///
/// SQLite treats a table as a shadow table because of its name alone. If there is a full-text index `notes`,
/// those are tables named `notes_content`, `notes_data` and a few more. But an app may have created a table
/// of such a name itself, for example one with the rows that `notes` indexes.
///
/// So this type runs the CREATE statement of each virtual table in a scratch database, after copying the
/// tables that the statement names. The tables that the module of the virtual table creates there are its
/// shadow tables.
package struct ShadowTables: Sendable {
    /// The virtual table that each shadow table belongs to.
    private var owners = [SQLName: SQLName]()
    /// The indexes, views and triggers that modules create.
    private var otherObjects = Set<SQLName>()

    /// Tables that SQLite treats as the shadow tables of a virtual table whose statement failed in the
    /// scratch database.
    ///
    /// They were found by their names only.
    ///
    /// Whether the module or the app created them isn't known, so nothing may change or drop them.
    package private(set) var assumed = [Assumed]()

    package struct Assumed: Sendable {
        package let table: SQLName
        package let virtualTable: SQLName
        /// SQLite's error for the statement of the virtual table.
        package let obstacle: String
    }

    /// Finds the shadow tables in a schema.
    ///
    /// - Parameters:
    ///   - objects: All objects of the schema `main`.
    ///   - db: The connection to the database.
    ///   - scratchSchema: The schema of the scratch database, on its connection.
    ///   - openScratch: Returns the connection to an empty scratch database. It is called only if there is a
    ///     virtual table.
    /// - Throws: `SQLError` of either connection, but not for a statement that the scratch database refuses.
    package init<Scratch: SQLConnection>(
        among objects: [SchemaObject],
        of db: some SQLConnection,
        scratchSchema: String = "main",
        openScratch: () throws(SQLError) -> Scratch
    ) throws(SQLError) {
        let virtualTables = objects.filter(\.isVirtual)
        if virtualTables.isEmpty { return }
        let trial = VirtualTableTrial(
            objects: objects,
            db: db,
            scratch: try openScratch(),
            schema: scratchSchema
        )
        var obstacles = [SQLName: String]()
        for virtualTable in virtualTables {
            switch try trial.create(virtualTable) {
            case .created(let created):
                for object in created {
                    if object.kind == .table {
                        owners[object.name] = virtualTable.name
                    } else {
                        otherObjects.insert(object.name)
                    }
                }
            case .failed(let message): obstacles[virtualTable.name] = message
            }
            // The scratch database doesn't show who created the table for statistics. FTS3 and FTS4 create it
            // only if it doesn't exist, and FTS3 creates it with its first `merge` or `automerge` command. So
            // the table belongs to the module if its CREATE statement is the one that FTS writes.
            if let name = virtualTable.statisticsTable {
                let isOfModule = objects.contains { $0.isStatisticsTable(named: name) }
                owners[name] = isOfModule ? virtualTable.name : nil
            }
        }
        if !obstacles.isEmpty { try assumeByName(obstacles, in: db) }
    }

    /// Adds to ``assumed`` the tables that SQLite lists as shadow tables of a virtual table whose statement
    /// failed.
    ///
    /// SQLite goes by the name: the name of the virtual table, an underscore, and a word that the module
    /// knows.
    private mutating func assumeByName(_ obstacles: [SQLName: String], in db: some SQLConnection)
        throws(SQLError)
    {
        for row in try db.rows("PRAGMA main.table_list") where row[2] == .text("shadow") {
            let table = SQLName(try row.text(1))
            guard owners[table] == nil, let underscore = table.text.lastIndex(of: "_") else { continue }
            let virtualTable = SQLName(String(table.text[..<underscore]))
            if let obstacle = obstacles[virtualTable] {
                assumed.append(Assumed(table: table, virtualTable: virtualTable, obstacle: obstacle))
            }
        }
    }

    /// The virtual table whose module created a table; `nil` for a table of the app.
    package func owner(of table: SQLName) -> SQLName? { owners[table] }

    /// The entry for a table in ``assumed``; `nil` if it is known who created the table.
    package func assumption(about table: SQLName) -> Assumed? { assumed.first { $0.table == table } }

    /// True if a module created the object, or if it is an assumed shadow table or one of its indexes or
    /// triggers.
    ///
    /// An index or a trigger that the app created on a module's table is the app's.
    package func contains(_ object: SchemaObject) -> Bool {
        if object.kind == .view { return otherObjects.contains(object.name) }
        if assumption(about: object.table) != nil { return true }
        if object.kind == .table { return owners[object.name] != nil }
        return otherObjects.contains(object.name)
    }
}

extension ShadowTables {
    /// Finds the shadow tables with a connection of any library.
    ///
    /// A database in memory is attached to it as the scratch database, and detached at the end.
    package init(among objects: [SchemaObject], attachingTo db: some SQLConnection) throws(SQLError) {
        var found: ShadowTables?
        if objects.contains(where: \.isVirtual) {
            let schema = "app_migrations_scratch"
            let conversation = SQLConversation(db)
            try conversation.query("ATTACH ':memory:' AS \(schema)")
            try conversation.withCleanup("detaching the scratch database") { () throws(SQLError) in
                try conversation.query("DETACH \(schema)")
            } _: { () throws(SQLError) in
                found = try ShadowTables(among: objects, of: db, scratchSchema: schema) { db }
            }
        }
        self = found ?? ShadowTables()
    }

    private init() {}
}

/// Runs the statements of virtual tables in a scratch database.
private struct VirtualTableTrial<Connection: SQLConnection, Scratch: SQLConnection> {
    enum Outcome {
        /// The objects that the module created, without the virtual table itself.
        case created([SchemaObject])
        /// SQLite's message.
        case failed(String)
    }

    let objects: [SchemaObject]
    let db: Connection
    let scratch: Scratch
    let schema: String

    func create(_ virtualTable: SchemaObject) throws(SQLError) -> Outcome {
        guard let statement = virtualTable.statement(in: schema) else {
            return .failed("its CREATE statement can't be read")
        }
        let copies = try copyTables(namedIn: virtualTable)
        var before = try namesInScratch()
        var failure = try message(ofFailing: statement)
        // A table is copied if any argument of the module has its name, even if the argument names a column
        // and not that table. So a copy may have the name of a table that the module itself creates. Then the
        // statement fails, and is run again without such copies.
        let ownNames = copies.filter { $0.hasShadowName(of: virtualTable.name) }
        if failure != nil, !ownNames.isEmpty {
            for table in ownNames { try scratch.rows("DROP TABLE \(schema).\(table.quoted)") }
            before = try namesInScratch()
            if try message(ofFailing: statement) == nil { failure = nil }
        }
        if let failure { return .failed(failure) }
        return .created(
            try SchemaObject.all(of: scratch, in: schema).filter {
                $0.name != virtualTable.name && !before.contains($0.name)
            }
        )
    }

    private func namesInScratch() throws(SQLError) -> Set<SQLName> {
        Set(try SchemaObject.all(of: scratch, in: schema).map(\.name))
    }

    /// Copies the tables and views whose names are arguments of a virtual table, without rows, and returns
    /// their names.
    ///
    /// FTS4 reads the columns of the table that `content` names, if its arguments name no column.
    private func copyTables(namedIn virtualTable: SchemaObject) throws(SQLError) -> [SQLName] {
        let arguments = virtualTable.moduleArguments
        let existing = try namesInScratch()
        var copies = [SQLName]()
        for object in objects where object.kind == .table || object.kind == .view {
            let name = object.name
            if object.isVirtual || !arguments.contains(name) || existing.contains(name) { continue }
            if try copy(object) { copies.append(name) }
        }
        return copies
    }

    /// Copies a table by its statement, and a view as a table with the same columns.
    ///
    /// A table is also copied by its columns if the scratch database refuses its statement, for example
    /// because the statement calls a function of the app.
    private func copy(_ object: SchemaObject) throws(SQLError) -> Bool {
        if object.kind == .table, let statement = object.statement(in: schema),
            try message(ofFailing: statement) == nil
        {
            return true
        }
        let columns: [String]
        do throws(SQLError) {
            let sql = "SELECT name FROM pragma_table_xinfo(?, 'main') WHERE hidden <> 1"
            columns = try db.rows(sql, [.text(object.name.text)]).map { row throws(SQLError) in
                SQLName(try row.text(0)).quoted
            }
        } catch  where error.code == .statementFailed {
            // A view that doesn't compile has no columns, so the virtual table can't read it either.
            return false
        }
        let name = "\(schema).\(object.name.quoted)"
        return try message(ofFailing: "CREATE TABLE \(name)(\(columns.joined(separator: ", ")))") == nil
    }

    /// Runs a statement in the scratch database.
    ///
    /// Returns SQLite's message if it fails, and `nil` if it succeeds.
    private func message(ofFailing statement: String) throws(SQLError) -> String? {
        do throws(SQLError) {
            try scratch.rows(statement)
            return nil
        } catch {
            // A module may return any error.
            if error.code == .cancelled { throw error }
            return error.message
        }
    }
}

extension SchemaObject {
    /// The statement of a table or a virtual table, for another schema; SQLite stores it without a schema.
    fileprivate func statement(in schema: String) -> String? {
        guard let sql else { return nil }
        let tokens = SQLTokens(sql)
        let nameIndex = isVirtual ? 3 : 2
        guard tokens.name(nameIndex) == name else { return nil }
        let head = isVirtual ? "CREATE VIRTUAL TABLE" : "CREATE TABLE"
        let start = tokens.tokens[nameIndex].range.lowerBound
        return "\(head) \(schema).\(tokens.text(in: start..<tokens.count))"
    }

    /// The names and strings among the arguments of a virtual table's module.
    fileprivate var moduleArguments: Set<SQLName> {
        let tokens = SQLTokens(sql ?? "")
        // The first six tokens are `CREATE VIRTUAL TABLE name USING module`. The arguments come after them.
        return Set(tokens.tokens.indices.dropFirst(6).compactMap { tokens.name($0) })
    }

    /// The name of a virtual table's module; `nil` for anything else.
    package var module: SQLName? {
        guard isVirtual, let sql else { return nil }
        let tokens = SQLTokens(sql)
        return tokens.isWord(4, "USING") ? tokens.name(5) : nil
    }

    /// The name of the table in which an FTS3 or FTS4 table keeps statistics; `nil` for other modules.
    fileprivate var statisticsTable: SQLName? {
        let isFTS = module == SQLName("fts3") || module == SQLName("fts4")
        return isFTS ? SQLName("\(name.text)_stat") : nil
    }

    /// True if this is the table `name`, and its CREATE statement is the one that FTS writes for its
    /// statistics.
    fileprivate func isStatisticsTable(named name: SQLName) -> Bool {
        guard kind == .table, self.name == name, let sql else { return false }
        let tokens = SQLTokens(sql)
        let columns = tokens.tokens.indices.dropFirst(3).map { SQLName(tokens.text($0)) }
        let words = ["(", "id", "INTEGER", "PRIMARY", "KEY", ",", "value", "BLOB", ")"]
        return columns == words.map { SQLName($0) }
    }
}

extension SQLName {
    /// True if this name begins with the name of a virtual table and an underscore.
    fileprivate func hasShadowName(of virtualTable: SQLName) -> Bool {
        key.starts(with: virtualTable.key + [UInt8(ascii: "_")])
    }
}
