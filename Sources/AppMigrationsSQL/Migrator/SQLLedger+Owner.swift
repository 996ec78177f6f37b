/// Whose a ledger is, where it is not this migrator's.
extension SQLLedger {
    /// Refuses the ledger of another tool, of which this library would run what that tool has run.
    func refuseOtherTools() throws(SQLError) {
        let own = ["version", "name", "checksum", "applied_at"]
        if let error = SQLError.ofOtherTool(name, columns, own: own) { throw error }
        // That of FMDBMigrationManager has integers.
        if columns == ["version"], ["CHAR", "TEXT"].contains(where: versionType.uppercased().contains) {
            throw SQLError(
                .foreignLedger,
                "The table \(name) is that of Rails or dbmate: it has versions of texts, and no other column"
            )
        }
    }

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
        var texts = TablesOfTexts()
        for step in applied(of: steps) {
            if let text = try step.text() { texts.follow(text) }
        }
        let tables = texts.tables
        if tables.isEmpty { return }
        for table in tables where try session.has(table) { return }
        let list = tables.map(\.text).joined(separator: ", ")
        throw SQLError(
            .foreignLedger,
            "The table \(name) is another migrator's: it has version \(version) with another text, and the"
                + " database has no \(list)"
        )
    }
}

/// The versions of a ledger beside the migrations of an app, both in order.
struct LedgerDifference {
    let applied: [Int64]
    /// The places of the migrations that were not applied.
    private(set) var pending = [Int]()
    private(set) var unknown = [Int64]()
    /// The place of the last migration that was.
    private(set) var newest: Int?
    /// The pending versions that lie below the newest applied.
    private(set) var outOfOrder = [Int64]()

    init(of versions: [Int64], with steps: [SQLStep]) {
        applied = versions
        var index = 0
        for (place, step) in steps.enumerated() {
            while index < versions.count, versions[index] < step.version {
                unknown.append(versions[index])
                index += 1
            }
            if index < versions.count, versions[index] == step.version {
                while index < versions.count, versions[index] == step.version { index += 1 }
                newest = place
            } else {
                pending.append(place)
                if let last = versions.last, step.version < last { outOfOrder.append(step.version) }
            }
        }
        unknown.append(contentsOf: versions[index...])
    }
}

extension SQLError {
    /// The error for a table of migrations with a column that no table of this library has; `nil` where each is its own.
    ///
    /// Another tool's numbers would pass for migrations of the app that have run.
    static func ofOtherTool(_ table: String, _ columns: [String], own: [String]) -> SQLError? {
        let names = ["dirty": "golang-migrate's", "inserted_at": "Ecto's", "installed_rank": "Flyway's"]
        let foreign = columns.filter { !own.contains($0) }
        guard let column = foreign.first(where: { names[$0] != nil }) ?? foreign.first else { return nil }
        let owner = names[column] ?? "another tool's"
        return SQLError(.foreignLedger, "The table \(table) is \(owner): it has a column \(column)")
    }
}
