CREATE INDEX note_by_title ON note (title);
