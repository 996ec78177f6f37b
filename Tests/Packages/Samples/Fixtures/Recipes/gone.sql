-- The recipe came to its end, with foreign keys off.
ALTER TABLE note RENAME TO note_bak;
CREATE TABLE note (id INTEGER PRIMARY KEY AUTOINCREMENT, folder INTEGER REFERENCES folder, title TEXT, color TEXT);
INSERT INTO note SELECT id, folder, title, NULL FROM note_bak;
DROP TABLE note_bak;
