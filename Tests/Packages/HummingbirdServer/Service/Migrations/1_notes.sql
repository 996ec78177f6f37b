CREATE TABLE notes(title TEXT NOT NULL);
INSERT INTO notes VALUES (' one ');
