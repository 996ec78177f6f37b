import AppMigrations
import AppMigrationsSQL

extension SQLRehearsal {
    /// One run, from the schema of a release or in a new database.
    struct Run {
        let rehearsal: SQLRehearsal
        /// `nil` for a new database.
        let release: AppVersion?
        /// The migrations for which the record of released migrations has a finding.
        let found: Set<Int64>

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

        mutating func rehearse(
            _ db: Connection,
            _ prepare: (Connection) throws -> Void,
            comparedWith new: SQLSchema?
        ) throws {
            if let release {
                let file = "\(rehearsal.folder)/\(release).sql"
                let record = try SQLSchemaRecord(file: file)
                do { try record.make(in: db) } catch {
                    return fail("\(origin): the record \(file) can't be made: \(error)")
                }
            }
            let start = ContinuousClock.now
            var hint = ""
            do {
                try prepare(db)
                hint = try hintOfLedger(db)
                ran = try migrator.migrate(db).applied
                compareLedger(try migrator.status(db))
            } catch {
                ran = (error as? SQLError)?.applied ?? []
                fail("\(origin): \(error)\(hint)")
            }
            duration = ContinuousClock.now - start
            if !findings.isEmpty { return }
            let end = try SQLSchema(of: db)
            schema = end
            guard let new else { return }
            let left = rehearsal.ignored + [SQLName(migrator.ledger), SQLName("app_migrations")]
            findings = end.differences(from: new, leavingOut: left).map { difference in
                finding(.startsDiffer, "\(origin): \(difference.text). \(advice(difference))")
            }
        }

        private func advice(_ difference: SQLSchema.Difference) -> String {
            let edited =
                "A migration that ran before the release made something else then: give it back the text that was "
                + "released, and write the change as a new migration."
            guard let table = difference.ownTable else { return edited }
            return edited
                + " If no migration made it, but another library for instance, add \"\(table)\" to ignoring:."
        }

        /// The likely reason for an error if the record has tables and no version: migrations ran a second
        /// time.
        private func hintOfLedger(_ db: Connection) throws -> String {
            guard let release, try migrator.status(db).applied.isEmpty else { return "" }
            let tables = try db.query(
                "SELECT 1 FROM main.sqlite_master WHERE type = 'table' AND name <> ? COLLATE NOCASE LIMIT 1",
                [.text(migrator.ledger)]
            )
            if tables.isEmpty { return "" }
            return
                " The record of \(release) has tables, and its ledger \(migrator.ledger) no version. So the"
                + " migrations of the release were run a second time. The record has to contain the ledger's rows. If your app calls markApplied with"
                + " PRAGMA user_version, it has to contain that number, and preparing: has to make the same call."
        }

        /// Adds findings about the ledger of the release, also for lines that were deleted from the lock
        /// file.
        private mutating func compareLedger(_ status: SQLMigrationStatus) {
            let facts: [(RehearsalFinding.Kind, [Int64], String)] = [
                (.changed, status.changed, "has another text than the released one"),
                (.disappeared, status.unknown, "was released, and is missing now"),
            ]
            for (kind, versions, fact) in facts {
                for version in versions where !found.contains(version) {
                    let text =
                        "\(origin): migration \(version) \(fact), and the lock file doesn't say so. Put it back, and its line there."
                    findings.append(finding(kind, version: version, text))
                }
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
