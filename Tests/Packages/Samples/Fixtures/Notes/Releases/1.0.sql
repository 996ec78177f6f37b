CREATE TABLE note (title TEXT, stars INTEGER);
INSERT INTO note VALUES ('one', 5);
PRAGMA user_version = 1;
