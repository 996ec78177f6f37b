-- The app counted it as migrated, and a user deleted a note.
ALTER TABLE note RENAME TO note_bak;
CREATE TABLE note (id INTEGER PRIMARY KEY AUTOINCREMENT, folder INTEGER REFERENCES folder, title TEXT, color TEXT);
INSERT INTO note SELECT id, folder, title, NULL FROM note_bak;
DELETE FROM note WHERE id = 1;
DELETE FROM attachment WHERE note = 1;
