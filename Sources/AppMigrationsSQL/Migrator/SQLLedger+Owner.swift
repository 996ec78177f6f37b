/// Whose a ledger is, where it is not this migrator's.
extension SQLLedger {
    /// Refuses the ledger of another tool, of which this library would run what that tool has run.
    func refuseOtherTools() throws(SQLError) {
        // A row of one of these needs columns that this library doesn't fill, or means something else.
        if let tool = OtherTool(columns: columns) { throw tool.error(of: name) }
        if columns.contains("manager") {
            throw SQLError(
                .foreignLedger,
                "The table \(name) is that of whenMigrating(toVersion:in:): it has a column manager"
            )
        }
        // That of FMDBMigrationManager has integers.
        if columns == ["version"], ["CHAR", "TEXT"].contains(where: versionType.uppercased().contains) {
            throw SQLError(
                .foreignLedger,
                "The table \(name) is that of Rails or dbmate: it has versions of texts, and no other column"
            )
        }
    }
}

/// The migrations of a migrator beside the texts that its ledger knows.
struct LedgerComparison {
    let ledger: SQLLedger

    /// The versions whose SQL is another one than when it was applied.
    private(set) var changed = [Int64]()

    /// Whether any row is what this migrator would have written.
    private var hasOwnRow = false

    private let applied: [SQLStep]

    /// Reads the files of every migration that is applied.
    static func reading(_ ledger: SQLLedger, beside steps: [SQLStep]) -> SQLWork<LedgerComparison> {
        ledger.versions().then { versions in
            ledger.checksums().map { try LedgerComparison(ledger, steps, Set(versions), recorded: $0) }
        }
    }

    private init(
        _ ledger: SQLLedger,
        _ steps: [SQLStep],
        _ versions: Set<Int64>,
        recorded: [Int64: String]
    ) throws(SQLError) {
        self.ledger = ledger
        applied = steps.filter { versions.contains($0.version) }
        for step in applied {
            let now = try step.checksum()
            let then = recorded[step.version]
            if now == then { hasOwnRow = true }
            if let now, let then, now != then { changed.append(step.version) }
        }
    }

    /// Refuses a ledger that another migrator wrote: its rows have none of the texts, and the database none of the
    /// tables that the texts make.
    ///
    /// A text that was edited after its release is another case: its table is there, or another row is as it should be.
    func refusingOtherOwner() -> SQLWork<LedgerComparison> {
        .trying {
            guard let version = changed.first, !hasOwnRow else { return .done(self) }
            var texts = TablesOfTexts()
            for step in applied {
                if let text = try step.text() { texts.follow(text) }
            }
            let tables = texts.tables
            if tables.isEmpty { return .done(self) }
            return hasAny(of: tables[...]).map { isThere in
                if isThere { return self }
                let list = tables.map(\.text).joined(separator: ", ")
                throw SQLError(
                    .foreignLedger,
                    "The table \(ledger.name) is another migrator's: it has version \(version) with another text, and the"
                        + " database has no \(list)"
                )
            }
        }
    }

    private func hasAny(of tables: ArraySlice<TablesOfTexts.Table>) -> SQLWork<Bool> {
        guard let table = tables.first else { return .done(false) }
        return ledger.session.has(table).then { $0 ? .done(true) : hasAny(of: tables.dropFirst()) }
    }
}
