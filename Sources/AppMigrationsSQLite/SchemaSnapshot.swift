/// The objects of a database's schema that have a text.
struct SchemaSnapshot {
    var objects: [SchemaObject]

    init(of db: some SQLConnection) throws(SQLError) {
        objects = try SchemaObject.all(of: db).filter { $0.sql != nil && !$0.name.isInternal }
        let isVirtual = objects.contains {
            $0.sql.map { CreateStatement($0)?.kind == .virtualTable } == true && $0.kind == .table
        }
        guard isVirtual else { return }
        // The tables in which a virtual one keeps its rows come and go with it.
        var shadows = Set<SQLName>()
        for row in try db.rows("PRAGMA main.table_list") where row.count > 2 && row[2] == "shadow" {
            if case .text(let name) = row[1] { shadows.insert(SQLName(name)) }
        }
        objects.removeAll { shadows.contains($0.table) }
    }

    /// Without the tables that a migrator keeps its records in, unless the target makes them.
    func leavingAlone(what target: SchemaSnapshot) -> SchemaSnapshot {
        var result = self
        for ledger in [SQLName("schema_migrations"), SQLName("app_migrations")]
        where target[.table, ledger] == nil {
            result.objects.removeAll { $0.table == ledger && $0.kind != .view }
        }
        return result
    }

    subscript(kind: SchemaObject.Kind, name: SQLName) -> SchemaObject? {
        objects.first { $0.kind == kind && $0.name == name }
    }

    /// Whether both have the same objects, to the last byte and in any order.
    func isWritten(like other: SchemaSnapshot) -> Bool {
        guard objects.count == other.objects.count else { return false }
        var texts = [String: [SchemaObject]]()
        for object in other.objects { texts[object.name.text, default: []].append(object) }
        return objects.allSatisfy { object in
            texts[object.name.text]?.contains { $0.kind == object.kind && $0.isWritten(like: object) } == true
        }
    }

    /// The first object that is not the same in both, in words.
    func difference(from target: SchemaSnapshot) -> String? {
        let form = SchemaForm(self, target)
        for object in target.objects {
            guard let mine = self[object.kind, object.name], form.areSame(mine, object) else {
                return "\(object.kind) \(object.name)"
            }
        }
        let further = objects.first { target[$0.kind, $0.name] == nil }
        return further.map { "\($0.kind) \($0.name)" }
    }
}

extension SchemaObject {
    func isWritten(like other: SchemaObject) -> Bool {
        guard let sql, let text = other.sql else { return false }
        return sql.utf8.elementsEqual(text.utf8)
    }
}
