-- The schema of 2.0, as its migrations made it in an empty database. Don't edit what stands here.
-- Rows may follow at the end, for the migrations to come.
CREATE TABLE "schema_migrations" (
    version INTEGER UNIQUE NOT NULL,
    name TEXT,
    checksum TEXT,
    applied_at TEXT
);
CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT NOT NULL);
INSERT INTO "schema_migrations" ("version", "name", "checksum") VALUES (1, 'notes', 'fnv1a:ac85e1e4bd6510d0');
