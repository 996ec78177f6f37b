#!/usr/bin/env bash
# SQLite changesets: applied to another version of the schema they skip rows or mix up columns, silently.
#
# Expected: a changeset recorded by one release either fits the other release's tables or fails. With
#   columns of the same names it is applied by name. What can't be applied comes to the conflict handler.
# What happens: a changeset holds positions, not names. Applying it
#   1. to a table with fewer columns, with another primary key, or to a database without the table does
#      nothing for that table: no error, and the conflict handler isn't called. Only SQLite's global log,
#      which is off unless an app installs a function for it, says "expected 3 or more" and the like;
#   2. to a table with the same columns in another order puts the values in by position;
#   3. to a table with one column more behind the others works, and fills in the default.
# Seen on 2026-11-28 with apsw 3.54.1.0 from PyPI (SQLite 3.54.1), a row id 1, a "A", b "B" in table t:
#     same schema: 1|A|B            one column less: (no row)       no such table: (no row)
#     other primary key: (no row)   a and b exchanged: a "B", b "A"   one column more: 1|A|B|9
#     errors: 0, calls of the conflict handler: 0
# Why it matters to a migration: sync between two releases, or an undo log that outlives a migration, loses
#   rows on the older side and exchanges values after a table was rebuilt with its columns in another
#   order. Write the schema's version into the changeset's envelope and refuse any other; never let a
#   migration reorder columns of a table that is synced.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet apsw==3.54.1.0
cd "$work"

cat > run.py <<'PYTHON'
import apsw

print("apsw", apsw.apsw_version(), "SQLite", apsw.sqlite_lib_version())
log, conflicts = [], []
apsw.config(apsw.SQLITE_CONFIG_LOG, lambda code, text: log.append(text))


def database(schema):
    connection = apsw.Connection(":memory:")
    connection.execute(schema)
    return connection


source = database("CREATE TABLE t (id INTEGER PRIMARY KEY, a, b)")
session = apsw.Session(source, "main")
session.attach()
source.execute("INSERT INTO t VALUES (1, 'A', 'B')")
changes = session.changeset()


def conflict(reason, change):
    conflicts.append(reason)
    return apsw.SQLITE_CHANGESET_OMIT


def apply(label, schema):
    """The rows as dictionaries after the changeset was applied; an error would end the script."""
    target = database(schema)
    apsw.Changeset.apply(changes, target, conflict=conflict)
    if not target.execute("SELECT count(*) FROM sqlite_schema WHERE name = 't'").get:
        rows = []
    else:
        rows = [dict(zip([c[0] for c in cursor.description], row))
                for cursor in [target.cursor()] for row in cursor.execute("SELECT * FROM t")]
    print("%s: %s" % (label, rows or "(no row)"))
    return rows


assert apply("same schema", "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b)") == [{"id": 1, "a": "A", "b": "B"}]
assert apply("one column less", "CREATE TABLE t (id INTEGER PRIMARY KEY, a)") == []
assert apply("no such table", "CREATE TABLE other (x)") == []
assert apply("other primary key", "CREATE TABLE t (id, a INTEGER PRIMARY KEY, b)") == []
assert apply("a and b exchanged", "CREATE TABLE t (id INTEGER PRIMARY KEY, b, a)") == [{"id": 1, "b": "A", "a": "B"}]
assert apply("one column more", "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b, c DEFAULT 9)") == [
    {"id": 1, "a": "A", "b": "B", "c": 9}]
print("errors: 0, calls of the conflict handler: %d, lines in the log: %d" % (len(conflicts), len(log)))
assert conflicts == [] and len(log) == 3
PYTHON
venv/bin/python run.py
echo "as described: a changeset for another schema succeeds and does nothing, or the wrong thing"
