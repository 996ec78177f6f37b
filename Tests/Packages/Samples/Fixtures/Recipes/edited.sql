-- The app counted it as migrated, and a user edited a note and made another one.
ALTER TABLE note RENAME TO note_bak;
CREATE TABLE note (id INTEGER PRIMARY KEY AUTOINCREMENT, folder INTEGER REFERENCES folder, title TEXT, color TEXT);
INSERT INTO note SELECT id, folder, title, NULL FROM note_bak;
UPDATE note SET title = 'edited' WHERE id = 2;
INSERT INTO note VALUES (3, 1, 'three', 'red');
