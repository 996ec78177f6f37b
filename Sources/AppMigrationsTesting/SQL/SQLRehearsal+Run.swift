import AppMigrations
import AppMigrationsSQL

extension SQLRehearsal {
    /// One run, from the schema of a release or in a new database.
    struct Run {
        let rehearsal: SQLRehearsal
        /// `nil` for a new database.
        let release: AppVersion?
        /// The versions for which the lock file has a finding, so that they aren't reported twice.
        let alreadyReported: Set<Int64>

        /// The schema at the end; `nil` if the run failed.
        var schema: SQLSchema?
        /// A sentence for each view and trigger that doesn't compile at the end.
        var brokenObjects = [String]()
        var inventedRows: InventedRows?
        var ran = [Int64]()
        var findings = [RehearsalFinding]()
        var duration = Duration.zero

        var row: RehearsedRun {
            var row = RehearsedRun(
                start: release?.description ?? "new database",
                title: "migrate",
                appVersions: [],
                ran: ran.map(\.description),
                duration: duration,
                findings: findings
            )
            row.tablesWithInventedRow = inventedRows?.tables.map(\.text) ?? []
            row.tablesWithoutRow = inventedRows?.failures.map { "\($0.table) (\($0.message))" } ?? []
            return row
        }

        private var migrator: SQLMigrator<Connection> { rehearsal.migrator }
        private var origin: String { release.map { "From \($0)" } ?? "In a new database" }

        /// The tables whose rows and schema belong to migrators, to other tools or to other libraries.
        private var ignoredTables: [SQLName] {
            rehearsal.ignored + [SQLName(migrator.ledger), SQLName("app_migrations")]
        }

        /// Creates the release's schema, runs the migrations, and compares the ledger and the schema.
        ///
        /// `new` is the run in a new database. It is `nil` in that run itself.
        mutating func rehearse(
            in db: Connection,
            preparing prepare: (Connection) throws -> Void,
            after new: Run?
        ) throws {
            if let release {
                let file = "\(rehearsal.folder)/\(release).sql"
                let record = try SQLSchemaRecord(file: file)
                do { try record.run(in: db) } catch {
                    return fail("\(origin): the database can't be created from \(file): \(error)")
                }
                inventedRows = try InventedRows(in: db, ignoring: ignoredTables)
            }
            let start = ContinuousClock.now
            var hint = ""
            do {
                try prepare(db)
                hint = try hintAboutLedger(of: db)
                ran = try migrator.migrate(db).applied
                compareLedger(try migrator.status(db))
            } catch {
                ran = (error as? SQLError)?.applied ?? []
                fail("\(origin): \(error)\(hint.isEmpty ? hintAboutInventedRows : hint)")
            }
            duration = ContinuousClock.now - start
            if !findings.isEmpty { return }
            let upgraded = try SQLSchema(of: db)
            schema = upgraded
            brokenObjects = try BrokenObjects(in: upgraded, of: db).sentences
            findings = brokenObjects.filter { new?.brokenObjects.contains($0) != true }.map { sentence in
                let advice = "Drop it, or create it again, in the migration that changes what it uses."
                return finding(.failed, "\(origin): \(sentence) \(advice)")
            }
            guard let expected = new?.schema else { return }
            findings += upgraded.differences(from: expected, ignoring: ignoredTables).map { difference in
                finding(.startsDiffer, "\(origin): \(difference.text). \(advice(difference))")
            }
        }

        /// A text to add to an error of the migrations if rows were invented; otherwise empty.
        private var hintAboutInventedRows: String {
            guard let release, let tables = inventedRows?.tables, !tables.isEmpty else { return "" }
            let names = tables.map(\.text).joined(separator: ", ")
            return
                " The record of \(release) has no row in \(names), so the rehearsal has invented one. If no user can have"
                + " such a row, add a real row to the record."
        }

        private func advice(_ difference: SQLSchema.Difference) -> String {
            let edited =
                "A migration of the release created something different at the time. Restore its released text, and "
                + "put the change in a new migration."
            guard let table = difference.extraTable else { return edited }
            return edited
                + " If it wasn't created by a migration but, for example, by another library, add \"\(table)\" to "
                + "ignoring:. If a migration has moved rows into it, test the rows too: a rehearsal doesn't compare them."
        }

        /// A text to add to an error of the migrations if the recorded schema has tables but an empty ledger.
        ///
        /// In that case, the likely reason for the error is that the migrations of the release ran a second
        /// time. In any other case, the text is empty.
        private func hintAboutLedger(of db: Connection) throws -> String {
            guard let release, try migrator.status(db).applied.isEmpty else { return "" }
            let tables = try db.query(
                "SELECT 1 FROM main.sqlite_master WHERE type = 'table' AND name <> ? COLLATE NOCASE LIMIT 1",
                [.text(migrator.ledger)]
            )
            if tables.isEmpty { return "" }
            return
                " The schema recorded for \(release) has tables, but no row in its ledger \(migrator.ledger). So the"
                + " migrations of the release were run a second time. Record the rows of the ledger, too. If your app"
                + " calls markApplied with PRAGMA user_version, record that number, and make the same call in"
                + " preparing:."
        }

        /// Compares the migrations with the ledger of the release.
        ///
        /// This also finds migrations whose line was deleted from the lock file.
        private mutating func compareLedger(_ status: SQLMigrationStatus) {
            for version in status.editedVersions where !alreadyReported.contains(version) {
                let text =
                    "\(origin): migration \(version) was edited after its release, and migrations.lock doesn't list it "
                    + "with its released text. Restore the text of the migration, and its line in migrations.lock."
                findings.append(finding(.changed, version: version, text))
            }
            for version in status.unknownVersions where !alreadyReported.contains(version) {
                let text =
                    "\(origin): migration \(version) was released and is missing now, and migrations.lock has no line "
                    + "for it. Restore the migration and its line."
                findings.append(finding(.disappeared, version: version, text))
            }
        }

        private mutating func fail(_ text: String) { findings = [finding(.failed, text)] }

        private func finding(
            _ kind: RehearsalFinding.Kind,
            version: Int64? = nil,
            _ text: String
        ) -> RehearsalFinding {
            RehearsalFinding(kind, version: version, release: release?.description, text)
        }
    }
}
