-- Release 2.0: what the files of the notes had.
CREATE TABLE note(
    id INTEGER PRIMARY KEY,
    created TEXT NOT NULL,
    title TEXT NOT NULL,
    text TEXT NOT NULL
);

CREATE TABLE note_tag(
    note INTEGER NOT NULL REFERENCES note(id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (note, position)
) WITHOUT ROWID;
