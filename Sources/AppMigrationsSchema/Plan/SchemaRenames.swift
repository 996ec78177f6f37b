internal import AppMigrationsSQLite

/// The rename hints that still apply to a database.
///
/// Hints stay in the code for good, and a database may come from any release. So hints form chains: `a` to
/// `b`, and `b` to `c`. A chain is followed up to a name that the database already has. If the database has
/// both `a` and `b`, then `b` is another table or column with renames of its own.
struct SchemaRenames {
    typealias Rename = (old: SQLName, new: SQLName)

    /// The renames, in an order in which each new name is free.
    private(set) var pending = [Rename]()
    /// The old names whose chain leads to a name that the hints allow to drop.
    private(set) var droppedNames = Set<SQLName>()

    /// Finds the renames that a database still needs.
    ///
    /// - Parameters:
    ///   - hints: The renames that the hints ask for.
    ///   - exists: True for a name that the database has.
    ///   - isWanted: True for a name that the target has.
    ///   - mayDrop: True for a name that the hints allow to drop.
    ///   - contradiction: Makes the error for a rename that can't be done, with the reason.
    /// - Throws: The error of `contradiction`.
    init(
        _ hints: [Rename],
        from exists: (SQLName) -> Bool,
        to isWanted: (SQLName) -> Bool,
        mayDrop: (SQLName) -> Bool,
        contradiction: (_ old: SQLName, _ new: SQLName, _ reason: String) -> SQLError
    ) throws(SQLError) {
        var moves = [Rename]()
        for old in hints.map(\.old) where exists(old) {
            let names = Self.names(after: old, in: hints, exists: exists)
            guard let last = names.last else { continue }
            if let new = names.last(where: isWanted) {
                moves.append((old, new))
            } else if exists(last) || isWanted(old) && hints.contains(where: { $0 == (last, old) }) {
                // The table or column was already renamed, or it was renamed and renamed back.
                continue
            } else if names.contains(where: mayDrop) {
                droppedNames.insert(old)
            } else {
                throw contradiction(old, last, "which the target does not have")
            }
        }
        // If the new name exists and isn't itself renamed, an earlier release has done this rename. The table
        // or column that has the old name now is a new one.
        while let done = moves.firstIndex(where: { move in
            exists(move.new) && !moves.contains { $0.old == move.new }
        }) {
            moves.remove(at: done)
        }
        for (index, move) in moves.enumerated() {
            if let other = moves[..<index].first(where: { $0.new == move.new }) {
                throw contradiction(move.old, move.new, "to which they also rename \(other.old)")
            }
        }
        while !moves.isEmpty {
            guard let next = moves.firstIndex(where: { move in !moves.contains { $0.old == move.new } })
            else {
                // This is refused, because a later plan couldn't tell whether the names were already swapped.
                throw contradiction(
                    moves[0].old,
                    moves[0].new,
                    "and the other way round; exchange them in a migration"
                )
            }
            pending.append(moves.remove(at: next))
        }
    }

    /// The chain of names that the hints give a table or column, up to a name that the database has.
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
