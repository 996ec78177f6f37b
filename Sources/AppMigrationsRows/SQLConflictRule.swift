internal import AppMigrationsSQLite

/// A rule for a row whose key is taken, a primary key or a unique column, when rows are inserted.
///
/// It is about keys only. A row that breaks another constraint, `NOT NULL` or a `CHECK`, is an error under
/// every rule, while SQLite's `INSERT OR IGNORE` would leave it out.
public enum SQLConflictRule: Sendable, Hashable {
    /// An error, and none of the rows is inserted.
    case abort

    /// The row that is there stays as it is.
    case ignore

    /// The row that is there takes the new values, and keeps its primary key and what the new row has no column for.
    ///
    /// A new row that has no primary key, or `nil` for it, takes the one that is there. One that gives another
    /// key than the row whose unique column it shares is an error: other rows may refer to either.
    ///
    /// It is updated, and not deleted and inserted again as by `INSERT OR REPLACE`, which also deletes the
    /// rows of other tables that refer to it with `ON DELETE CASCADE`.
    ///
    /// - Parameter keepingIfNull: Columns that keep their value where the new one is `NULL`.
    case update(keepingIfNull: [String] = [])

    var isUpdate: Bool {
        if case .update = self { true } else { false }
    }

    /// The clause of an `INSERT` ("UPSERT"), empty for none.
    ///
    /// The columns are its parameters in order. `excluded` has the row id that SQLite made where the row gives `NULL`,
    /// so that only the parameter tells whether a key was given.
    func clause(_ columns: [SQLName], key: Set<SQLName>) -> String {
        switch self {
        case .abort: return ""
        case .ignore: return " ON CONFLICT DO NOTHING"
        case .update(let kept):
            let kept = Set(kept.map { SQLName($0) })
            var changes = columns.filter { !key.contains($0) }.map { name in
                let value = "excluded.\(name.quoted)"
                return kept.contains(name)
                    ? "\(name.quoted) = coalesce(\(value), \(name.quoted))" : "\(name.quoted) = \(value)"
            }
            // A row of keys alone changes nothing, and has to be found to be the one that is there.
            if changes.isEmpty { changes = columns.prefix(1).map { "\($0.quoted) = \($0.quoted)" } }
            let sameKey = zip(1..., columns).filter { key.contains($1) }.map { number, name in
                "(?\(number) IS NULL OR \(name.quoted) IS excluded.\(name.quoted))"
            }
            let condition = sameKey.isEmpty ? "" : " WHERE \(sameKey.joined(separator: " AND "))"
            return " ON CONFLICT DO UPDATE SET \(changes.joined(separator: ", "))\(condition)"
        }
    }
}
