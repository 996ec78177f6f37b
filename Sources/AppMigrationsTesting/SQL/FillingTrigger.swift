import AppMigrationsSQL

/// A trigger that writes to a virtual table, directly or through a view.
struct FillingTrigger {
    /// The `CREATE` statement, with only those statements of the trigger that write to such a table or view,
    /// and the queries.
    let sql: String
    /// True if all statements of the trigger are in ``sql``.
    let isComplete: Bool

    /// The virtual tables, and the views whose INSTEAD OF triggers write to one of them or to such a view.
    static func destinations(among objects: [SchemaObject]) -> Set<SQLName> {
        var destinations = Set(objects.filter(\.isVirtual).map(\.name))
        let views = Set(objects.filter { $0.kind == .view }.map(\.name))
        let triggers = objects.filter { $0.kind == .trigger && views.contains($0.table) }
        // A view may write to a view that is found after it, so repeat this until no view is added.
        var count = 0
        while destinations.count > count {
            count = destinations.count
            for trigger in triggers where FillingTrigger(trigger, filling: destinations) != nil {
                destinations.insert(trigger.table)
            }
        }
        return destinations
    }

    /// - Returns: `nil` if no statement of the trigger writes to one of the destinations.
    init?(_ trigger: SchemaObject, filling destinations: Set<SQLName>) {
        guard trigger.kind == .trigger, let sql = trigger.sql else { return nil }
        let tokens = SQLTokens(sql)
        let statements = tokens.statementsOfTrigger
        let targets = statements.map(tokens.target)
        if !targets.contains(where: { $0.map(destinations.contains) == true }) { return nil }
        // A statement without a target is a query. Keep it, because it may end the trigger with
        // RAISE(IGNORE).
        let kept = zip(statements, targets).filter { $1.map(destinations.contains) ?? true }.map(\.0)
        isComplete = kept.count == statements.count
        if isComplete {
            self.sql = sql
        } else {
            let head = tokens.text(in: 0..<tokens.tokens[statements[0].lowerBound].range.lowerBound)
            let texts = kept.map { range in
                let first = tokens.tokens[range.lowerBound].range.lowerBound
                return tokens.text(in: first..<tokens.tokens[range.upperBound - 1].range.upperBound)
            }
            self.sql = head + texts.joined(separator: " ") + " END"
        }
    }
}

extension SQLTokens {
    /// The statements of a trigger with their semicolons, as ranges of tokens.
    ///
    /// SQLite stores a trigger from `CREATE TRIGGER name` to `END`.
    fileprivate var statementsOfTrigger: [Range<Int>] {
        // The name of the trigger, after `CREATE TRIGGER`, may be BEGIN. Other names may be BEGIN too, but
        // none of them is followed by the first word of a statement.
        let begin = tokens.indices.dropFirst(3).first { index in
            let verbs: [StaticString] = ["INSERT", "REPLACE", "UPDATE", "DELETE", "SELECT", "WITH", "VALUES"]
            return isWord(index, "BEGIN") && verbs.contains { isWord(index + 1, $0) }
        }
        guard let begin else { return [] }
        var statements = [Range<Int>]()
        var start = begin + 1
        for index in start..<tokens.count where isSign(index, ";") {
            statements.append(start..<index + 1)
            start = index + 1
        }
        return statements
    }

    /// The table or view that a statement of a trigger writes to; `nil` for a query.
    ///
    /// The statement begins like `INSERT OR IGNORE INTO name`, `REPLACE INTO name`, `UPDATE OR FAIL name` or
    /// `DELETE FROM name`. In a trigger, the name has no schema. Only a query can begin with WITH.
    fileprivate func target(ofStatement range: Range<Int>) -> SQLName? {
        let verbs: [StaticString] = ["INSERT", "REPLACE", "UPDATE", "DELETE"]
        guard verbs.contains(where: { isWord(range.lowerBound, $0) }) else { return nil }
        var index = range.lowerBound + 1
        if isWord(index, "OR") { index += 2 }
        if isWord(index, "INTO") || isWord(index, "FROM") { index += 1 }
        return name(index)
    }
}
