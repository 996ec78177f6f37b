import AppMigrationsSQLite
import GRDB

// The sample of "Writing SQL migrations" that calls GRDB, as it stands there; the extension is in the file beside it.

func migrate(_ queue: DatabaseQueue, with migrator: SQLMigrator<Database>) throws {
    try queue.writeWithoutTransaction { db in try migrator.migrate(db) }
}
