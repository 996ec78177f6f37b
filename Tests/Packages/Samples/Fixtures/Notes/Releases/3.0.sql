-- The schema of 3.0, created by its migrations in an empty database. Don't edit these statements.
-- You may add rows at the end, for later migrations to work on.
CREATE TABLE "schema_migrations" (
    version INTEGER UNIQUE NOT NULL,
    name TEXT,
    checksum TEXT,
    applied_at TEXT
);
CREATE TABLE note (title TEXT, stars INTEGER, folded TEXT);
CREATE INDEX note_by_title ON note (title);
INSERT INTO "schema_migrations" ("version", "name", "checksum") VALUES (1, 'sModel', NULL);
INSERT INTO "schema_migrations" ("version", "name", "checksum") VALUES (2, 'sModel', NULL);
INSERT INTO "schema_migrations" ("version", "name", "checksum") VALUES (3, 'sModel', NULL);
INSERT INTO "schema_migrations" ("version", "name", "checksum") VALUES (4, 'index', 'fnv1a:c9ec7f5c0c50d89e');
