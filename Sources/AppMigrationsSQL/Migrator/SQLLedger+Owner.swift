/// The owner of a ledger, where it is not this migrator.
extension SQLLedger {
    /// Reads the ledger, and the files of every migration that is applied.
    func compare(with steps: [SQLStep]) throws(SQLError) {
        try read()
        try readVersions()
        try readChecksums()
        (changed, hasOwnRow) = ([], false)
        for step in applied(of: steps) {
            // A row without a checksum could be anybody's.
            guard let then = checksums[step.version] else { continue }
            if try step.checksum() == then { hasOwnRow = true } else { changed.append(step.version) }
        }
    }

    private func applied(of steps: [SQLStep]) -> [SQLStep] {
        let versions = Set(versions)
        return steps.filter { versions.contains($0.version) }
    }

    /// Refuses a ledger that another migrator wrote: its rows have none of the texts, and the database none of the
    /// tables that the texts make.
    ///
    /// A text that was edited after its release is another case: its table is there, or another row is as it should be.
    func refuseOtherOwner(than steps: [SQLStep]) throws(SQLError) {
        try compare(with: steps)
        guard let version = changed.first, !hasOwnRow else { return }
        var made = [SQLName]()
        for step in applied(of: steps) {
            if let text = try step.text() { Self.follow(text, &made) }
        }
        let tables = try session.db.query(session.tables)
        let isThere = tables.contains {
            if case .text(let name) = $0.first { made.contains(SQLName(name)) } else { false }
        }
        if made.isEmpty || isThere { return }
        let list = made.map(\.text).joined(separator: ", ")
        throw SQLError(
            .foreignLedger,
            "The table \(name) is another migrator's: it has version \(version) with another text, and the"
                + " database has no \(list)"
        )
    }

    /// Follows which tables may be there after a script, by every name that scripts give them.
    private static func follow(_ script: String, _ tables: inout [SQLName]) {
        let tokens = SQLTokens(script)
        for index in tokens.tokens.indices {
            func follows(_ keyword: StaticString) -> Bool { tokens.isWord(index - 1, keyword) }
            let isDropped = follows("DROP")
            let isTable =
                tokens.isWord(index, "TABLE") && (isDropped || follows("CREATE") || follows("VIRTUAL"))
            guard isTable || tokens.isWord(index, "TO") && follows("RENAME") else { continue }
            var place = index + 1
            if tokens.isWord(place, "IF") { place += tokens.isWord(place + 1, "NOT") ? 3 : 2 }
            if tokens.isSign(place + 1, ".") { place += 2 }
            guard let name = tokens.name(place) else { continue }
            tables.removeAll { $0 == name }
            if !isDropped { tables.append(name) }
        }
    }
}
