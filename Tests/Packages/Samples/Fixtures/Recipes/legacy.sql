-- The same, where SQLite leaves the names in other texts alone.
PRAGMA legacy_alter_table = ON;
ALTER TABLE note RENAME TO note_bak;
PRAGMA legacy_alter_table = OFF;
