/// What happens to a row whose key is taken, a primary key or a unique column, when rows are inserted.
///
/// It is about keys only. A row that breaks another constraint, `NOT NULL` or a `CHECK`, is an error under
/// every rule, while SQLite's `INSERT OR IGNORE` would leave it out.
public enum SQLConflictRule: Sendable, Hashable {
    /// An error, and none of the rows is inserted.
    case abort

    /// The row that is there stays as it is.
    case ignore

    /// The row that is there takes the new values, and keeps what the new row has no column for.
    ///
    /// It is updated, and not deleted and inserted again as by `INSERT OR REPLACE`, which also deletes the
    /// rows of other tables that refer to it with `ON DELETE CASCADE`.
    ///
    /// - Parameter keepingIfNull: Columns that keep their value where the new one is `NULL`.
    case update(keepingIfNull: [String] = [])

    /// The clause of an `INSERT` ("UPSERT"), empty for none.
    func clause(_ columns: [SQLName]) -> String {
        switch self {
        case .abort: return ""
        case .ignore: return " ON CONFLICT DO NOTHING"
        case .update(let kept):
            let kept = Set(kept.map { SQLName($0) })
            let changes = columns.map { name in
                let value = "excluded.\(name.quoted)"
                return kept.contains(name)
                    ? "\(name.quoted) = coalesce(\(value), \(name.quoted))" : "\(name.quoted) = \(value)"
            }
            return " ON CONFLICT DO UPDATE SET \(changes.joined(separator: ", "))"
        }
    }
}
