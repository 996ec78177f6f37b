/// The ledger of another tool: the statements with which the tool creates it, and a row.
package struct OtherLedger: Sendable, CustomStringConvertible {
    /// The name of the tool in an error.
    package let tool: String
    package let script: String

    package var description: String { "\(tool): \(table)" }

    /// The name of the table, the first word after CREATE TABLE.
    package var table: String {
        let head = script.dropFirst("CREATE TABLE ".count).prefix { $0 != "(" && $0 != " " }
        return head.filter { !"\"[]".contains($0) }
    }

    private init(_ tool: String, _ script: String) {
        self.tool = tool
        self.script = script
    }

    package static let all = [
        OtherLedger(
            "Rails or dbmate",
            "CREATE TABLE schema_migrations (version varchar NOT NULL PRIMARY KEY); INSERT INTO schema_migrations VALUES ('1')"
        ),
        OtherLedger(
            "Rails",
            """
            CREATE TABLE ar_internal_metadata (key varchar NOT NULL PRIMARY KEY, value varchar,
                created_at datetime(6) NOT NULL, updated_at datetime(6) NOT NULL);
            INSERT INTO ar_internal_metadata VALUES ('environment', 'production', datetime('now'), datetime('now'))
            """
        ),
        OtherLedger(
            "golang-migrate",
            """
            CREATE TABLE schema_migrations (version uint64,dirty bool);
            CREATE UNIQUE INDEX version_unique ON schema_migrations (version);
            INSERT INTO schema_migrations VALUES (1, 0)
            """
        ),
        OtherLedger(
            "Ecto",
            """
            CREATE TABLE schema_migrations (version INTEGER PRIMARY KEY, inserted_at TEXT);
            INSERT INTO schema_migrations VALUES (20261101000000, datetime('now'))
            """
        ),
        OtherLedger(
            "alembic",
            """
            CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num));
            INSERT INTO alembic_version VALUES ('f34cc5f82835')
            """
        ),
        OtherLedger(
            "aerich",
            """
            CREATE TABLE "aerich" ("id" INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, "version" VARCHAR(255) NOT NULL,
                "app" VARCHAR(100) NOT NULL, "content" JSON NOT NULL);
            INSERT INTO aerich VALUES (1, '0_init.py', 'models', '{}')
            """
        ),
        OtherLedger(
            "caribou",
            "CREATE TABLE migration_version (version text); INSERT INTO migration_version VALUES ('20261101')"
        ),
        OtherLedger(
            "Django",
            """
            CREATE TABLE "django_migrations" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "app" varchar(255) NOT NULL,
                "name" varchar(255) NOT NULL, "applied" datetime NOT NULL);
            INSERT INTO django_migrations VALUES (1, 'notes', '0001_initial', datetime('now'))
            """
        ),
        OtherLedger(
            "fastmigrate",
            """
            CREATE TABLE _meta (id INTEGER PRIMARY KEY CHECK (id = 1), version INTEGER NOT NULL DEFAULT 0);
            INSERT INTO _meta VALUES (1, 7)
            """
        ),
        OtherLedger(
            "GRDB",
            "CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY); INSERT INTO grdb_migrations VALUES ('v1')"
        ),
        OtherLedger(
            "peewee-migrate",
            """
            CREATE TABLE "migratehistory" ("id" INTEGER NOT NULL PRIMARY KEY, "name" VARCHAR(255) NOT NULL,
                "migrated_at" DATETIME NOT NULL);
            INSERT INTO migratehistory VALUES (1, '001_one', datetime('now'))
            """
        ),
        OtherLedger(
            "piccolo",
            """
            CREATE TABLE "migration" ("id" INTEGER PRIMARY KEY NOT NULL, "name" VARCHAR(200) NOT NULL DEFAULT '',
                "app_name" VARCHAR(200) NOT NULL DEFAULT '', "ran_on" TIMESTAMP NOT NULL DEFAULT current_timestamp);
            INSERT INTO migration (name, app_name) VALUES ('2026-11-28T23:18:37:961950', 'home')
            """
        ),
        OtherLedger(
            "sqitch",
            """
            CREATE TABLE releases (version FLOAT PRIMARY KEY, installed_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
                installer_name TEXT NOT NULL, installer_email TEXT NOT NULL);
            INSERT INTO releases VALUES (1.1, datetime('now'), 'Ann', 'ann@example.com')
            """
        ),
        OtherLedger(
            "sqitch",
            """
            CREATE TABLE projects (project TEXT PRIMARY KEY, uri TEXT NULL UNIQUE,
                created_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP, creator_name TEXT NOT NULL,
                creator_email TEXT NOT NULL);
            INSERT INTO projects VALUES ('app', NULL, datetime('now'), 'Ann', 'ann@example.com')
            """
        ),
        OtherLedger(
            "sqitch",
            """
            CREATE TABLE changes (change_id TEXT PRIMARY KEY, script_hash TEXT NULL, change TEXT NOT NULL,
                project TEXT NOT NULL, note TEXT NOT NULL DEFAULT '', committed_at DATETIME NOT NULL,
                committer_name TEXT NOT NULL, committer_email TEXT NOT NULL, planned_at DATETIME NOT NULL,
                planner_name TEXT NOT NULL, planner_email TEXT NOT NULL, UNIQUE(project, script_hash));
            INSERT INTO changes VALUES ('1', 'x', 'one', 'app', '', datetime('now'), 'A', 'a', datetime('now'), 'A', 'a')
            """
        ),
        OtherLedger(
            "sqitch",
            """
            CREATE TABLE tags (tag_id TEXT PRIMARY KEY, tag TEXT NOT NULL, project TEXT NOT NULL, change_id TEXT NOT NULL,
                note TEXT NOT NULL DEFAULT '', committed_at DATETIME NOT NULL, committer_name TEXT NOT NULL,
                committer_email TEXT NOT NULL, planned_at DATETIME NOT NULL, planner_name TEXT NOT NULL,
                planner_email TEXT NOT NULL, UNIQUE(project, tag));
            INSERT INTO tags VALUES ('1', '@one', 'app', '1', '', datetime('now'), 'A', 'a', datetime('now'), 'A', 'a')
            """
        ),
        OtherLedger(
            "sqitch",
            """
            CREATE TABLE dependencies (change_id TEXT NOT NULL, type TEXT NOT NULL, dependency TEXT NOT NULL,
                dependency_id TEXT NULL, PRIMARY KEY (change_id, dependency));
            INSERT INTO dependencies VALUES ('2', 'require', 'one', '1')
            """
        ),
        OtherLedger(
            "sqitch",
            """
            CREATE TABLE events (event TEXT NOT NULL, change_id TEXT NOT NULL, change TEXT NOT NULL, project TEXT NOT NULL,
                note TEXT NOT NULL DEFAULT '', requires TEXT NOT NULL DEFAULT '', conflicts TEXT NOT NULL DEFAULT '',
                tags TEXT NOT NULL DEFAULT '', committed_at DATETIME NOT NULL, committer_name TEXT NOT NULL,
                committer_email TEXT NOT NULL, planned_at DATETIME NOT NULL, planner_name TEXT NOT NULL,
                planner_email TEXT NOT NULL, PRIMARY KEY (change_id, committed_at));
            INSERT INTO events
            VALUES ('deploy', '1', 'one', 'app', '', '', '', '', datetime('now'), 'A', 'a', datetime('now'), 'A', 'a')
            """
        ),
        OtherLedger(
            "sqlite-migrate",
            """
            CREATE TABLE "_sqlite_migrations" ("id" INTEGER PRIMARY KEY, "migration_set" TEXT, "name" TEXT, "applied_at" TEXT);
            INSERT INTO _sqlite_migrations VALUES (1, 'notes', 'one', datetime('now'))
            """
        ),
        OtherLedger(
            "sqlite-migrate",
            """
            CREATE TABLE [_sqlite_migrations] ([migration_set] TEXT, [name] TEXT, [applied_at] TEXT,
                PRIMARY KEY ([migration_set], [name]));
            INSERT INTO _sqlite_migrations VALUES ('notes', 'one', datetime('now'))
            """
        ),
        OtherLedger(
            "tortoise",
            """
            CREATE TABLE "tortoise_migrations" ("id" INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, "app" VARCHAR(255) NOT NULL,
                "name" VARCHAR(255) NOT NULL, "applied_at" TIMESTAMP NOT NULL, UNIQUE ("app", "name"));
            INSERT INTO tortoise_migrations VALUES (1, 'm', '0001_initial', datetime('now'))
            """
        ),
        OtherLedger(
            "yoyo",
            """
            CREATE TABLE "_yoyo_migration" ("migration_hash" VARCHAR(64), "migration_id" VARCHAR(255), "applied_at_utc" TIMESTAMP,
                PRIMARY KEY ("migration_hash"));
            INSERT INTO _yoyo_migration VALUES ('x', '0001_a', datetime('now'))
            """
        ),
        OtherLedger(
            "yoyo",
            """
            CREATE TABLE "_yoyo_log" ("id" VARCHAR(36), "migration_hash" VARCHAR(64), "migration_id" VARCHAR(255),
                "operation" VARCHAR(10), "username" VARCHAR(255), "hostname" VARCHAR(255), "comment" VARCHAR(255),
                "created_at_utc" TIMESTAMP, PRIMARY KEY ("id"));
            INSERT INTO _yoyo_log VALUES ('1', 'x', '0001_a', 'apply', 'ann', 'host', '', datetime('now'))
            """
        ),
        OtherLedger(
            "yoyo",
            """
            CREATE TABLE "_yoyo_version" ("version" INT NOT NULL PRIMARY KEY, "installed_at_utc" TIMESTAMP);
            INSERT INTO _yoyo_version VALUES (2, datetime('now'))
            """
        ),
        OtherLedger(
            "yoyo",
            """
            CREATE TABLE "yoyo_lock" ("locked" INT DEFAULT 1, "ctime" TIMESTAMP,"pid" INT NOT NULL,PRIMARY KEY ("locked"));
            INSERT INTO yoyo_lock VALUES (1, datetime('now'), 42)
            """
        ),
        OtherLedger(
            "diesel",
            """
            CREATE TABLE __diesel_schema_migrations (version VARCHAR(50) PRIMARY KEY NOT NULL,
                run_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP);
            INSERT INTO __diesel_schema_migrations (version) VALUES ('20261101')
            """
        ),
        OtherLedger(
            "EF Core",
            """
            CREATE TABLE "__EFMigrationsHistory" ("MigrationId" TEXT NOT NULL CONSTRAINT "PK___EFMigrationsHistory" PRIMARY KEY,
                "ProductVersion" TEXT NOT NULL);
            INSERT INTO __EFMigrationsHistory VALUES ('20261101000000_One', '9.0.0')
            """
        ),
        OtherLedger(
            "EF Core",
            """
            CREATE TABLE "__EFMigrationsLock" ("Id" INTEGER NOT NULL CONSTRAINT "PK___EFMigrationsLock" PRIMARY KEY,
                "Timestamp" TEXT NOT NULL);
            INSERT INTO __EFMigrationsLock VALUES (1, datetime('now'))
            """
        ),
        OtherLedger(
            "Flyway",
            """
            CREATE TABLE "flyway_schema_history" ("installed_rank" INT NOT NULL PRIMARY KEY, "version" VARCHAR(50),
                "description" VARCHAR(200) NOT NULL, "type" VARCHAR(20) NOT NULL, "script" VARCHAR(1000) NOT NULL,
                "checksum" INT, "installed_by" VARCHAR(100) NOT NULL, "installed_on" TEXT NOT NULL,
                "execution_time" INT NOT NULL, "success" BOOLEAN NOT NULL);
            INSERT INTO flyway_schema_history
            VALUES (1, '1', 'one', 'SQL', 'V1__one.sql', 42, 'ann', datetime('now'), 3, 1)
            """
        ),
        OtherLedger(
            "goose",
            """
            CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY AUTOINCREMENT, version_id INTEGER NOT NULL,
                is_applied INTEGER NOT NULL, tstamp TIMESTAMP DEFAULT (datetime('now')));
            INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, 1)
            """
        ),
        OtherLedger(
            "refinery",
            """
            CREATE TABLE refinery_schema_history(version INT4 PRIMARY KEY, name VARCHAR(255), applied_on VARCHAR(255),
                checksum VARCHAR(255));
            INSERT INTO refinery_schema_history VALUES (1, 'one', datetime('now'), '42')
            """
        ),
        OtherLedger(
            "Room",
            """
            CREATE TABLE room_master_table (id INTEGER PRIMARY KEY,identity_hash TEXT);
            INSERT INTO room_master_table VALUES (42, '53db508c5248423325bd5393a1c88c03')
            """
        ),
        OtherLedger(
            "sqlx",
            """
            CREATE TABLE _sqlx_migrations (version BIGINT PRIMARY KEY, description TEXT NOT NULL,
                installed_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, success BOOLEAN NOT NULL, checksum BLOB NOT NULL,
                execution_time BIGINT NOT NULL);
            INSERT INTO _sqlx_migrations VALUES (1, 'one', datetime('now'), 1, x'00', 3)
            """
        ),
    ]
}
