-- A value in the new column is all that a user changed.
ALTER TABLE note RENAME TO note_bak;
CREATE TABLE note (id INTEGER PRIMARY KEY AUTOINCREMENT, folder INTEGER REFERENCES folder, title TEXT, color TEXT);
INSERT INTO note SELECT id, folder, title, NULL FROM note_bak;
UPDATE note SET color = 'red' WHERE id = 2;
