/// A table in which another tool records what it has done in a database.
///
/// An app that moved from such a tool to this library may still have the table. If its rows are deleted, the
/// tool runs every migration again. And if this library used it, its versions would count as applied.
package struct KnownLedger: Sendable {
    /// The tool.
    package let tool: String

    /// The version of the tool that created the table when it was run; `nil` if the table is known only from
    /// the tool's source or documentation.
    package let version: String?

    /// The name of the table.
    package let table: String

    /// The names of its columns.
    package let columns: Set<SQLName>

    private init(_ tool: String, version: String? = nil, table: String, columns: String) {
        self.tool = tool
        self.version = version
        self.table = table
        self.columns = Set(columns.split(separator: " ").map { SQLName(String($0)) })
    }

    /// The tool whose table has exactly these columns, in any order; `nil` if none is known.
    ///
    /// Only the columns are compared, because most tools let their users choose another name. If tables of
    /// several tools have these columns, one with this name comes first.
    static func tool(of columns: Set<SQLName>, in table: String) -> String? {
        let same = all.filter { $0.columns == columns }
        return (same.first { SQLName($0.table) == SQLName(table) } ?? same.first)?.tool
    }

    /// The names of the tables.
    static let tables = Set(all.map { SQLName($0.table) })

    /// True if this is the table of a tool, by its name and its columns.
    static func contains(_ table: SQLName, columns: Set<SQLName>) -> Bool {
        all.contains { SQLName($0.table) == table && $0.columns == columns }
    }

    /// The tables of the tools that were looked at in November 2026.
    package static let all = created + read

    /// These tables were looked at in an SQLite database, in which the tool had created them.
    private static let created = [
        // dbmate was not run. Its table has the same column.
        KnownLedger("Rails or dbmate", version: "6.1.7.10", table: "schema_migrations", columns: "version"),
        KnownLedger(
            "Rails",
            version: "6.1.7.10",
            table: "ar_internal_metadata",
            columns: "key value created_at updated_at"
        ),
        KnownLedger("alembic", version: "1.20.1", table: "alembic_version", columns: "version_num"),
        KnownLedger("aerich", version: "0.10.1", table: "aerich", columns: "id version app content"),
        KnownLedger("caribou", version: "0.6.0", table: "migration_version", columns: "version"),
        KnownLedger("Django", version: "5.2.19", table: "django_migrations", columns: "id app name applied"),
        KnownLedger("fastmigrate", version: "0.5.3", table: "_meta", columns: "id version"),
        KnownLedger("GRDB", version: "7.10.0", table: "grdb_migrations", columns: "identifier"),
        KnownLedger(
            "peewee-migrate",
            version: "2.3.0",
            table: "migratehistory",
            columns: "id name migrated_at"
        ),
        KnownLedger("piccolo", version: "1.38.0", table: "migration", columns: "id name app_name ran_on"),
        KnownLedger(
            "sqitch",
            version: "1.3.1",
            table: "releases",
            columns: "version installed_at installer_name installer_email"
        ),
        KnownLedger(
            "sqitch",
            version: "1.3.1",
            table: "projects",
            columns: "project uri created_at creator_name creator_email"
        ),
        KnownLedger(
            "sqitch",
            version: "1.3.1",
            table: "changes",
            columns:
                "change_id script_hash change project note committed_at committer_name committer_email planned_at"
                + " planner_name planner_email"
        ),
        KnownLedger(
            "sqitch",
            version: "1.3.1",
            table: "tags",
            columns:
                "tag_id tag project change_id note committed_at committer_name committer_email planned_at planner_name"
                + " planner_email"
        ),
        KnownLedger(
            "sqitch",
            version: "1.3.1",
            table: "dependencies",
            columns: "change_id type dependency dependency_id"
        ),
        KnownLedger(
            "sqitch",
            version: "1.3.1",
            table: "events",
            columns: "event change_id change project note requires conflicts tags committed_at committer_name"
                + " committer_email planned_at planner_name planner_email"
        ),
        KnownLedger(
            "sqlite-migrate",
            version: "0.2",
            table: "_sqlite_migrations",
            columns: "id migration_set name applied_at"
        ),
        KnownLedger(
            "tortoise",
            version: "1.1.9",
            table: "tortoise_migrations",
            columns: "id app name applied_at"
        ),
        KnownLedger(
            "yoyo",
            version: "9.0.0",
            table: "_yoyo_migration",
            columns: "migration_hash migration_id applied_at_utc"
        ),
        KnownLedger(
            "yoyo",
            version: "9.0.0",
            table: "_yoyo_log",
            columns: "id migration_hash migration_id operation username hostname comment created_at_utc"
        ),
        KnownLedger("yoyo", version: "9.0.0", table: "_yoyo_version", columns: "version installed_at_utc"),
        KnownLedger("yoyo", version: "9.0.0", table: "yoyo_lock", columns: "locked ctime pid"),
    ]

    /// These tables are known only from the source or the documentation of a tool that was not run.
    private static let read = [
        KnownLedger("diesel", table: "__diesel_schema_migrations", columns: "version run_on"),
        KnownLedger("Ecto", table: "schema_migrations", columns: "version inserted_at"),
        KnownLedger("EF Core", table: "__EFMigrationsHistory", columns: "MigrationId ProductVersion"),
        KnownLedger("EF Core", table: "__EFMigrationsLock", columns: "Id Timestamp"),
        KnownLedger(
            "Flyway",
            table: "flyway_schema_history",
            columns:
                "installed_rank version description type script checksum installed_by installed_on execution_time success"
        ),
        KnownLedger("golang-migrate", table: "schema_migrations", columns: "version dirty"),
        KnownLedger("goose", table: "goose_db_version", columns: "id version_id is_applied tstamp"),
        KnownLedger(
            "refinery",
            table: "refinery_schema_history",
            columns: "version name applied_on checksum"
        ),
        KnownLedger("Room", table: "room_master_table", columns: "id identity_hash"),
        KnownLedger("sqlite-migrate", table: "_sqlite_migrations", columns: "migration_set name applied_at"),
        KnownLedger(
            "sqlx",
            table: "_sqlx_migrations",
            columns: "version description installed_on success checksum execution_time"
        ),
    ]
}
