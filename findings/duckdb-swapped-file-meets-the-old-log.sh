#!/usr/bin/env bash
# DuckDB: a new database renamed over the old one gets the old one's log, as wrong rows or as a closed door.
#
# Expected: a log belongs to its database. A log that an app left behind when it was killed, beside a
#   database file that has been replaced since, is recognized as foreign and ignored.
# What happens: NAME.wal is found by its name. DuckDB 1.5.6 applies it to the new file without a question:
#   what was inserted in the old database appears in the new one, and a deletion, which the log keeps as row
#   numbers, deletes ANOTHER row, one that no user has ever deleted. Then the log is removed, so nothing is left
#   to see it by. DuckDB 2.0.1 recognizes the log, but doesn't pass it over: the new and sound database can't be
#   opened, until somebody deletes the log by hand. This is so for a new file and for a migrated copy of the old.
# Seen on 2026-11-28 with duckdb 1.5.6 and 2.0.1 from PyPI; killed after: insert id 4, delete id 1; the new file
#   holds 30, 20, 10:
#     1.5.6: 20, 10, 4 (30 deleted, 4 from the old file), log gone
#     2.0.1: IOException, log still there; after removing the log: 30, 20, 10
# Why it matters to a migration: the app that was killed (an update does that) is the one that is migrated at its
#   next start. Before a copy or a swap, open the old database once and close it, so that its log is applied;
#   swap only if no file NAME.* is left beside it. A test that always closes properly has never had a log.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for version in 1.5.6 2.0.1; do
    python3 -m venv "$version"
    "$version/bin/pip" install --quiet "duckdb==$version"
    mkdir "data-$version"
done

cat > run.py <<'PYTHON'
import os, subprocess, sys

import duckdb

os.chdir(sys.argv[1])
path, log = "app.duckdb", "app.duckdb.wal"
KILLED = """
import duckdb, os
app = duckdb.connect("app.duckdb")
app.execute("INSERT INTO note VALUES (4)")
app.execute("DELETE FROM note WHERE id = 1")
os._exit(0)
"""


def rows():
    with duckdb.connect(path) as database:
        return [row[0] for row in database.execute("SELECT id FROM note").fetchall()]


with duckdb.connect(path) as database:
    database.execute("CREATE TABLE note (id INTEGER)")
    database.execute("INSERT INTO note VALUES (1), (2), (3)")
subprocess.run([sys.executable, "-c", KILLED], check=True, timeout=60)
assert os.path.exists(log)

with duckdb.connect("new.duckdb") as database:
    database.execute("CREATE TABLE note (id INTEGER)")
    database.execute("INSERT INTO note VALUES (30), (20), (10)")
os.rename("new.duckdb", path)

try:
    found = rows()
except duckdb.IOException as error:
    found = type(error).__name__
print("%s: %s, log %s" % (duckdb.__version__, found, "still there" if os.path.exists(log) else "gone"))
if duckdb.__version__ == "1.5.6":
    assert found == [20, 10, 4] and not os.path.exists(log)
else:
    assert found == "IOException" and os.path.exists(log)
    os.remove(log)
    found = rows()
    print("after removing the log:", found)
    assert found == [30, 20, 10]
PYTHON
for version in 1.5.6 2.0.1; do "$version/bin/python" run.py "data-$version"; done
echo "as described: the log of the old file reaches the new one"
