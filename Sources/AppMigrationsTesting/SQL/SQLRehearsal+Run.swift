import AppMigrations
import AppMigrationsSQL

extension SQLRehearsal {
    /// One run, from the schema of a release or in a new database.
    struct Run {
        let migrator: SQLMigrator<Connection>
        let folder: String
        /// `nil` for a new database.
        let release: AppVersion?

        /// The schema at the end; `nil` where the run failed.
        private(set) var schema: SQLSchema?
        private var ran = [Int64]()
        private var findings = [SQLRehearsalFinding]()
        private var duration = Duration.zero

        init(migrator: SQLMigrator<Connection>, folder: String, release: AppVersion?) {
            self.migrator = migrator
            self.folder = folder
            self.release = release
        }

        var row: SQLRehearsedRun {
            SQLRehearsedRun(
                start: release?.description ?? "new database",
                ran: ran,
                duration: duration,
                findings: findings
            )
        }

        private var origin: String { release.map { "From \($0)" } ?? "In a new database" }

        mutating func rehearse(
            _ db: Connection,
            _ prepare: (Connection) throws -> Void,
            comparedWith new: SQLSchema?
        ) throws {
            let record = try release.map { try SQLSchemaRecord(file: "\(folder)/\($0).sql") }
            do {
                try record?.make(in: db)
            } catch {
                return fail(
                    "\(origin): the record \(folder)/\(release?.description ?? "").sql can't be made: \(error)"
                )
            }
            let start = ContinuousClock.now
            do {
                try prepare(db)
                ran = try migrator.migrate(db).applied
            } catch {
                ran = (error as? SQLError)?.applied ?? []
                fail("\(origin): \(error)")
            }
            duration = ContinuousClock.now - start
            if !findings.isEmpty { return }
            let end = try SQLSchema(of: db)
            schema = end
            guard let new else { return }
            let ledgers = [SQLName(migrator.ledger), SQLName("app_migrations")]
            findings = end.differences(from: new, leavingOut: ledgers).map { difference in
                finding(
                    .startsDiffer,
                    "\(origin): \(difference). A migration that ran before the release made something else then: give it back "
                        + "the text that was released, and write the change as a new migration."
                )
            }
        }

        private mutating func fail(_ text: String) { findings = [finding(.failed, text)] }

        private func finding(_ kind: SQLRehearsalFinding.Kind, _ text: String) -> SQLRehearsalFinding {
            SQLRehearsalFinding(kind, release: release?.description, text)
        }
    }
}
