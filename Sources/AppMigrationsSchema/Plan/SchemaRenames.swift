internal import AppMigrationsSQLite

/// The renames of hints that a database still needs.
///
/// Hints stay in the code, and a database may come from any release. So a table or column is renamed through
/// all names that the database doesn't have yet: from `a` to `b` to `c`. If the database has `b`, too, that
/// is another table or column with renames of its own.
struct SchemaRenames {
    typealias Rename = (old: SQLName, new: SQLName)

    /// In an order in which each new name is free.
    private(set) var pending = [Rename]()
    /// The old names whose renames lead to a name that may be dropped.
    private(set) var gone = Set<SQLName>()

    init(
        _ hints: [Rename],
        from exists: (SQLName) -> Bool,
        to isWanted: (SQLName) -> Bool,
        mayGo: (SQLName) -> Bool,
        contradiction: (_ old: SQLName, _ new: SQLName, _ reason: String) -> SQLError
    ) throws(SQLError) {
        var moves = [Rename]()
        for old in hints.map(\.old) where exists(old) {
            let names = Self.names(after: old, in: hints, exists: exists)
            guard let last = names.last else { continue }
            if let new = names.last(where: isWanted) {
                moves.append((old, new))
            } else if exists(last) || isWanted(old) && hints.contains(where: { $0 == (last, old) }) {
                // It was renamed already, or renamed and renamed back.
                continue
            } else if names.contains(where: mayGo) {
                gone.insert(old)
            } else {
                throw contradiction(old, last, "which the target does not have")
            }
        }
        // If the new name exists and isn't renamed, the rename was done already. The old name is that of
        // something new.
        while let done = moves.firstIndex(where: { move in
            exists(move.new) && !moves.contains { $0.old == move.new }
        }) {
            moves.remove(at: done)
        }
        for (index, move) in moves.enumerated() {
            if let other = moves[..<index].first(where: { $0.new == move.new }) {
                throw contradiction(move.old, move.new, "and \(other.old), too")
            }
        }
        while !moves.isEmpty {
            guard let next = moves.firstIndex(where: { move in !moves.contains { $0.old == move.new } })
            else {
                // This is refused, because a later plan couldn't tell whether the names were exchanged
                // already.
                throw contradiction(
                    moves[0].old,
                    moves[0].new,
                    "and the other way round; exchange them in a migration"
                )
            }
            pending.append(moves.remove(at: next))
        }
    }

    /// The names that the hints give a table or column, one after another, up to one that the database has.
    private static func names(
        after old: SQLName,
        in hints: [Rename],
        exists: (SQLName) -> Bool
    ) -> [SQLName] {
        var names = [SQLName]()
        var name = old
        while let next = hints.first(where: { $0.old == name })?.new, next != old, !names.contains(next) {
            names.append(next)
            if exists(next) { break }
            name = next
        }
        return names
    }

    /// The new name of a table or column that is renamed.
    subscript(old: SQLName) -> SQLName? { pending.first { $0.old == old }?.new }
}
