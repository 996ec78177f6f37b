-- The schema of 2.1, created by its migrations in an empty database. Don't edit these statements.
-- You may add rows at the end, for later migrations to work on.
CREATE TABLE "schema_migrations" (
    version INTEGER UNIQUE NOT NULL,
    name TEXT,
    checksum TEXT,
    applied_at TEXT
);
CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT NOT NULL, color TEXT);
INSERT INTO "schema_migrations" ("version", "name", "checksum") VALUES (1, 'notes', 'fnv1a:ac85e1e4bd6510d0');
INSERT INTO "schema_migrations" ("version", "name", "checksum") VALUES (2, 'colors', 'fnv1a:cd978b8bd3df7157');
INSERT INTO note (title) VALUES ('one'), ('two');
