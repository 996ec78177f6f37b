CREATE TABLE note (title TEXT, stars INTEGER, folded TEXT);
CREATE TABLE "_sModel_DBDefTracker" (
    "namespace" TEXT PRIMARY KEY, "version" INTEGER,
    "lastUpdated" REAL, lastHash TEXT
);
INSERT INTO "_sModel_DBDefTracker" VALUES ('', 3, 0, '');
PRAGMA user_version = 1002;
