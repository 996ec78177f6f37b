internal import AppMigrationsSQLite

/// The objects of a database's schema that have a text.
struct SchemaSnapshot {
    let objects: [SchemaObject]
    private let places: [Key: Int]

    private struct Key: Hashable {
        let kind: SchemaObject.Kind
        let name: SQLName
    }

    init(_ objects: [SchemaObject]) {
        self.objects = objects
        places = Dictionary(
            objects.enumerated().map { (Key(kind: $1.kind, name: $1.name), $0) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    init(of db: some SQLConnection) throws(SQLError) {
        var objects = try SchemaObject.all(of: db).filter { $0.sql != nil && !$0.name.isInternal }
        let isVirtual = objects.contains(where: \.isVirtual)
        if isVirtual {
            // The tables in which a virtual one keeps its rows come and go with it.
            var shadows = Set<SQLName>()
            for row in try db.rows("PRAGMA main.table_list") where row.count > 2 && row[2] == "shadow" {
                if case .text(let name) = row[1] { shadows.insert(SQLName(name)) }
            }
            objects.removeAll { shadows.contains($0.table) }
        }
        self.init(objects)
    }

    /// Without the tables that a migrator keeps its records in, unless the target makes them.
    func leavingAlone(what target: SchemaSnapshot, ledger: String = "schema_migrations") -> SchemaSnapshot {
        let ledgers = [SQLName(ledger), SQLName("app_migrations")].filter {
            target[.table, $0] == nil && self[.table, $0] != nil
        }
        if ledgers.isEmpty { return self }
        return SchemaSnapshot(objects.filter { $0.kind == .view || !ledgers.contains($0.table) })
    }

    subscript(kind: SchemaObject.Kind, name: SQLName) -> SchemaObject? {
        places[Key(kind: kind, name: name)].map { objects[$0] }
    }

    /// Whether both have the same objects, in any order and however they are written.
    func isSame(as other: SchemaSnapshot) -> Bool {
        objects.count == other.objects.count && difference(from: other) == nil
    }

    /// Whether both have the same objects, to the last byte and in any order.
    func isWritten(like other: SchemaSnapshot) -> Bool {
        objects.count == other.objects.count
            && objects.allSatisfy { other[$0.kind, $0.name]?.isWritten(like: $0) == true }
    }

    /// The first object that is not the same in both, in words.
    func difference(from target: SchemaSnapshot) -> String? {
        // Most are the same to the last byte, and need no form.
        var form: SchemaForm?
        for object in target.objects {
            let mine = self[object.kind, object.name]
            if let mine, mine.isWritten(like: object) { continue }
            let needed = form ?? SchemaForm(self, target)
            form = needed
            guard let mine, needed.areSame(mine, object) else {
                return "\(object.kind) \(object.name)"
            }
        }
        let further = objects.first { target[$0.kind, $0.name] == nil }
        return further.map { "\($0.kind) \($0.name)" }
    }
}

extension SchemaObject {
    var isVirtual: Bool {
        // The words before the name are SQLite's own.
        kind == .table
            && sql?.utf8.prefix(24).map(SQLName.folded).starts(with: Array("create virtual".utf8)) == true
    }

    func isWritten(like other: SchemaObject) -> Bool {
        guard let sql, let text = other.sql else { return false }
        return sql.utf8.elementsEqual(text.utf8)
    }
}
