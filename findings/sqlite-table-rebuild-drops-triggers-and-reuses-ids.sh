#!/usr/bin/env bash
# Four migration tools for SQLite: changing one column takes the table's triggers and its id counter.
#
# Expected: a tool that changes a column by building the table anew brings back all that hung on the table:
#   triggers, indexes, collations, and the counter by which AUTOINCREMENT promises that no id is given twice.
#   At least it warns of what it leaves out.
# What happens: the trigger is gone with each of the four tools, in silence. Three of them give the id of a
#   deleted row to the next row: the new table's counter is set by the rows that were copied. Alembic leaves
#   out AUTOINCREMENT and the collation, sqlite-utils the collation, Django the index on an expression that
#   a migration had made with SQL. Each tool loses another set. ALTER TABLE DROP COLUMN loses nothing.
# Seen on 2026-11-28 with Django 5.2.19, alembic 1.20.1 (SQLAlchemy 2.1.9), peewee 4.5.3, sqlite-utils 4.2.1
#   from PyPI; ids 1 to 3 were given and 3 was deleted:
#     sqlite (DROP COLUMN): trigger kept, next id 4, collation kept, index kept
#     django:               trigger LOST, next id 3 AGAIN, collation kept, index LOST
#     alembic:              trigger LOST, next id 3 AGAIN, collation LOST, index kept
#     peewee:               trigger LOST, next id 3 AGAIN, collation kept, index kept
#     sqlite-utils:         trigger LOST, next id 4, collation LOST, index kept
# Why it matters to a migration: triggers keep search indexes and change logs up to date, so the app seems to
#   work and finds nothing new; and an id that was deleted on one device and given anew here joins two
#   different things in a sync. A rebuild must copy sqlite_sequence and compare sqlite_schema afterwards.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet Django==5.2.19 alembic==1.20.1 SQLAlchemy==2.1.9 peewee==4.5.3 sqlite-utils==4.2.1
cd "$work"

cat > run.py <<'PYTHON'
import importlib.metadata, sqlite3

for name in ("Django", "alembic", "SQLAlchemy", "peewee", "sqlite-utils"):
    print(name, importlib.metadata.version(name), end="; ")
print("SQLite", sqlite3.sqlite_version)

# An index on an expression stops sqlite-utils with an error, and SQLAlchemy warns that it leaves it out;
# so these two get a plain one.
SCHEMA = """
    CREATE TABLE note (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL %s, gone INTEGER NOT NULL);
    CREATE TABLE log (note INTEGER);
    CREATE INDEX by_title ON note (%s);
    CREATE TRIGGER logging AFTER INSERT ON note BEGIN INSERT INTO log VALUES (new.id); END;
    INSERT INTO note (title, gone) VALUES ('a', 0), ('b', 0), ('c', 0);
    DELETE FROM note WHERE id = 3;
"""


def by_sqlite(path):
    sqlite3.connect(path).execute("ALTER TABLE note DROP COLUMN gone")


def by_django(path):
    import django
    from django.conf import settings
    settings.configure(DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": path}}, INSTALLED_APPS=[])
    django.setup()
    from django.db import connection, models

    class Note(models.Model):
        id = models.AutoField(primary_key=True)
        title = models.TextField(db_collation="NOCASE")
        gone = models.IntegerField()

        class Meta:
            app_label = "app"
            db_table = "note"

    changed = models.BigIntegerField(null=True)
    changed.set_attributes_from_name("gone")
    changed.model = Note
    with connection.schema_editor() as editor:
        editor.alter_field(Note, Note._meta.get_field("gone"), changed)
    connection.close()


def by_alembic(path):
    import sqlalchemy
    from alembic.migration import MigrationContext
    from alembic.operations import Operations
    with sqlalchemy.create_engine("sqlite:///" + path).begin() as connection:
        with Operations(MigrationContext.configure(connection)).batch_alter_table("note") as batch:
            batch.drop_column("gone")


def by_peewee(path):
    import peewee
    from playhouse.migrate import SqliteMigrator, migrate
    database = peewee.SqliteDatabase(path)
    migrate(SqliteMigrator(database).drop_not_null("note", "gone"))
    database.close()


def by_sqlite_utils(path):
    import sqlite_utils
    sqlite_utils.Database(path)["note"].transform(drop=["gone"])


def after(tool, index):
    """What is left after the tool changed the column: the trigger, the next id, the collation, the index."""
    path = tool.__name__ + ".sqlite"
    database = sqlite3.connect(path)
    database.executescript(SCHEMA % ("COLLATE NOCASE", index))
    database.close()
    tool(path)
    database = sqlite3.connect(path)
    names = {row[0] for row in database.execute("SELECT name FROM sqlite_master")}
    columns = [row[1] for row in database.execute("PRAGMA table_info(note)")]
    database.execute("INSERT INTO note (title%s) VALUES ('d'%s)" % ((", gone", ", 0") if "gone" in columns else ("", "")))
    found = ("logging" in names, database.execute("SELECT max(id) FROM note").fetchone()[0],
             database.execute("SELECT count(*) FROM note WHERE title = 'A'").fetchone()[0] == 1, "by_title" in names)
    kept = {True: "kept", False: "LOST"}
    print("%-21s trigger %s, next id %s, collation %s, index %s" % (
        tool.__name__[3:] + ":", kept[found[0]], "3 AGAIN" if found[1] == 3 else found[1], kept[found[2]], kept[found[3]]))
    return found


assert after(by_sqlite, "lower(title)") == (True, 4, True, True)
assert after(by_django, "lower(title)") == (False, 3, True, False)
assert after(by_alembic, "title") == (False, 3, False, True)
assert after(by_peewee, "lower(title)") == (False, 3, True, True)
assert after(by_sqlite_utils, "title") == (False, 4, False, True)
PYTHON
venv/bin/python run.py
echo "as described: each tool loses the trigger, three give an id twice"
