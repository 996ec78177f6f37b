import AppMigrationsSQL
import AppMigrationsSQLite
import Glibc
import PostgresConnection

/// One line, in one call, so that no buffer keeps it when the process is killed.
func say(_ line: String) {
    let bytes = Array("\(line.replacing("\n", with: " "))\n".utf8)
    _ = bytes.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
}

/// The numbered files of a folder, and how they are run.
struct History {
    let folder: String
    let settings: [String: String]

    private var target: Int64? { settings["to"].flatMap { Int64($0) } }
    private var isOnlyLooking: Bool { settings["looks"] != nil }

    func migrate(_ db: SQLiteConnection) throws {
        let migrator = try migrator(SQLiteMigration.files(in: folder))
        let report = isOnlyLooking ? nil : try migrator.migrate(db, to: target, progress: answer)
        tell(report, try migrator.status(db))
    }

    func migrate(_ db: AsyncPostgresConnection) async throws {
        let migrator = try migrator(SQLMigration<AsyncPostgresConnection>.files(in: folder))
        let report = isOnlyLooking ? nil : try await migrator.migrate(db, to: target, progress: answer)
        tell(report, try await migrator.status(db))
    }

    private func migrator<Connection>(_ migrations: [SQLMigration<Connection>]) throws(SQLError)
        -> SQLMigrator<Connection>
    {
        try SQLMigrator(migrations, editedVersions: settings["edited"] == "refused" ? .refused : .reported)
    }

    private func answer(_ progress: SQLMigrationProgress) -> SQLMigrationProgress.Answer {
        if settings["dies"] == "\(progress.version)" { kill(getpid(), SIGKILL) }
        say("ran \(progress.version)")
        return .continue
    }

    private func tell(_ report: SQLMigrationReport?, _ status: SQLMigrationStatus) {
        // Swift writes an array of numbers as JSON has it.
        let lists: [(String, [Int64])] = [
            ("applied", report?.applied ?? []),
            ("outOfOrder", report?.outOfOrder ?? []),
            ("edited", report?.editedVersions ?? []),
            ("ledger", status.applied),
            ("pending", status.pending),
            ("editedInStatus", status.editedVersions),
        ]
        let members = lists.map { "\"\($0)\": \($1)" }.joined(separator: ", ")
        say("{\(members)}")
    }
}
