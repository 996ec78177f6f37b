CREATE TABLE folder (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE note (
    id INTEGER PRIMARY KEY AUTOINCREMENT, folder INTEGER REFERENCES folder, title TEXT
);
CREATE TABLE attachment (
    id INTEGER PRIMARY KEY, note INTEGER NOT NULL REFERENCES note ON DELETE CASCADE
);
CREATE TABLE log (title TEXT);
CREATE INDEX note_by_folder ON note (folder);
CREATE VIEW note_titles AS SELECT id, title FROM note;
CREATE TRIGGER note_logged AFTER UPDATE ON note BEGIN INSERT INTO log SELECT title FROM note WHERE id = new.id; END;
INSERT INTO folder VALUES (1, 'home');
INSERT INTO note VALUES (1, 1, 'one'), (2, 1, 'two'), (100, NULL, 'gone');
DELETE FROM note WHERE id = 100;
INSERT INTO attachment VALUES (10, 1), (20, 2);
