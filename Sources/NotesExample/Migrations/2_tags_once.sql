-- Release 2.1: each tag once, so that giving it another name is one change.
CREATE TABLE tag(
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);

INSERT INTO tag(name) SELECT DISTINCT name FROM note_tag ORDER BY name;

CREATE TABLE new_note_tag(
    note INTEGER NOT NULL REFERENCES note(id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    tag INTEGER NOT NULL REFERENCES tag(id),
    PRIMARY KEY (note, position)
) WITHOUT ROWID;

INSERT INTO new_note_tag SELECT note, position, id FROM note_tag JOIN tag USING (name);

DROP TABLE note_tag;
ALTER TABLE new_note_tag RENAME TO note_tag;
