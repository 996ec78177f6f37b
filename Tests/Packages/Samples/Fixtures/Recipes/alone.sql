-- The process died before the new table was made.
ALTER TABLE note RENAME TO note_bak;
