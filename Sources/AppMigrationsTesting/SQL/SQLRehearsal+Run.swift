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
        var ran = [Int64]()
        var findings = [RehearsalFinding]()
        var duration = Duration.zero

        var row: RehearsedRun {
            RehearsedRun(
                start: release?.description ?? "new database",
                title: "migrate",
                appVersions: [],
                ran: ran.map(\.description),
                duration: duration,
                findings: findings
            )
        }

        private var migrator: SQLMigrator<Connection> { rehearsal.migrator }
        private var origin: String { release.map { "From \($0)" } ?? "In a new database" }

        /// Creates the release's schema, runs the migrations, and compares the ledger and the schema.
        ///
        /// `expected` is the schema at the end of the run in a new database. It is `nil` in that run itself,
        /// and if that run failed.
        mutating func rehearse(
            in db: Connection,
            preparing prepare: (Connection) throws -> Void,
            expecting expected: SQLSchema?
        ) throws {
            if let release {
                let file = "\(rehearsal.folder)/\(release).sql"
                let record = try SQLSchemaRecord(file: file)
                do { try record.run(in: db) } catch {
                    return fail("\(origin): the database can't be created from \(file): \(error)")
                }
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
                fail("\(origin): \(error)\(hint)")
            }
            duration = ContinuousClock.now - start
            if !findings.isEmpty { return }
            let upgraded = try SQLSchema(of: db)
            schema = upgraded
            guard let expected else { return }
            let ignored = rehearsal.ignored + [SQLName(migrator.ledger), SQLName("app_migrations")]
            findings = upgraded.differences(from: expected, ignoring: ignored).map { difference in
                finding(.startsDiffer, "\(origin): \(difference.text). \(advice(difference))")
            }
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
