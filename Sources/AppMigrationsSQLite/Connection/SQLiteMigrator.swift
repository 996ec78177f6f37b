public import AppMigrationsSQL

/// A migrator of an SQLite database on a connection of this library.
public typealias SQLiteMigrator = SQLMigrator<SQLiteConnection>

/// A migration of an SQLite database on a connection of this library.
public typealias SQLiteMigration = SQLMigration<SQLiteConnection>
