internal import AppMigrationsSQLite

/// The renames of hints that a database still needs.
///
/// Hints are written for good, so that a database of any release is led along the names that it has not seen: from `a`
/// to `b` to `c`. A name that the database has as well is a thing of its own, and its renames are its own.
struct SchemaRenames {
    typealias Rename = (old: SQLName, new: SQLName)

    /// In an order in which each new name is free.
    private(set) var pending = [Rename]()
    /// The names that were to become one that may go.
    private(set) var gone = Set<SQLName>()

    init(
        _ hints: [Rename],
        from isThere: (SQLName) -> Bool,
        to isWanted: (SQLName) -> Bool,
        mayGo: (SQLName) -> Bool,
        contradiction: (_ old: SQLName, _ new: SQLName, _ reason: String) -> SQLError
    ) throws(SQLError) {
        var moves = [Rename]()
        for old in hints.map(\.old) where isThere(old) {
            let names = Self.names(after: old, hints, isThere)
            guard let last = names.last else { continue }
            if let new = names.last(where: isWanted) {
                moves.append((old, new))
            } else if isThere(last) || isWanted(old) && hints.contains(where: { $0 == (last, old) }) {
                // Done already, or renamed and renamed back.
                continue
            } else if names.contains(where: mayGo) {
                gone.insert(old)
            } else {
                throw contradiction(old, last, "which the target does not have")
            }
        }
        // Where the new name is there and stays, the rename was done, and another thing came under the old name.
        while let done = moves.firstIndex(where: { move in
            isThere(move.new) && !moves.contains { $0.old == move.new }
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
                // Refused, because afterwards nothing tells whether the exchange was done.
                throw contradiction(
                    moves[0].old,
                    moves[0].new,
                    "and the other way round; exchange them in a migration"
                )
            }
            pending.append(moves.remove(at: next))
        }
    }

    /// The names that the hints give a thing, one after the other.
    private static func names(
        after old: SQLName,
        _ hints: [Rename],
        _ isThere: (SQLName) -> Bool
    ) -> [SQLName] {
        var names = [SQLName]()
        var name = old
        while let next = hints.first(where: { $0.old == name })?.new, next != old, !names.contains(next) {
            names.append(next)
            if isThere(next) { break }
            name = next
        }
        return names
    }

    /// The new name of a thing that gets one.
    subscript(old: SQLName) -> SQLName? { pending.first { $0.old == old }?.new }
}
