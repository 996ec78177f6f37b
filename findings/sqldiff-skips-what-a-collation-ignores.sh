#!/usr/bin/env bash
# sqldiff: two databases with different texts, triggers and user versions count as equal.
#
# Expected: sqldiff, SQLite's own tool for this, prints the SQL that makes one database into the other,
#   and prints nothing only if they hold the same. Whoever checks a migrated copy relies on the nothing.
# What happens: it compares the values inside SQLite with the column's own collation. In a NOCASE column
#   Anna and ANNA are the same to it, in an RTRIM column a text with and without blanks at its end, and
#   the number 1 equals 1.0. Triggers, views and PRAGMA user_version aren't looked at. And a new
#   column comes out without its type, its default and its NOT NULL, so the printed script makes another
#   schema than the one compared with; after it, sqldiff finds no difference any more.
# Seen on 2026-11-28 with sqldiff 3.40.1 (Debian sqlite3-tools 3.40.1-2+deb12u2):
#     (nothing) for Anna|x|1 against ANNA|x  |1.0, a trigger, a view, user_version 1 against 2
#     ALTER TABLE t ADD COLUMN n; for a column n INTEGER NOT NULL DEFAULT 5
#     (nothing) after running the script
# Why it matters to a migration: a step that repairs capitals or blanks can be lost from a copy and the
#   check sees nothing. A comparison for a migration has to compare what is stored (quote(), or the column
#   with COLLATE BINARY, and typeof()), the whole of sqlite_schema, and the numbers in the header.
set -euo pipefail

version=3.40.1-2+deb12u2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download --quiet "sqlite3-tools=$version" > apt.log 2>&1 ||
    { echo "cannot download sqlite3-tools $version"; exit 2; }
dpkg-deb --extract sqlite3-tools_*.deb unpacked
sqldiff() { "$work/unpacked/usr/bin/sqldiff" "$@"; }

run() { # database, SQL
    python3 -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.argv[2])' "$@"
}
table='CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE, code TEXT COLLATE RTRIM, any);'
run a.sqlite "$table INSERT INTO t VALUES (1, 'Anna', 'x', 1); PRAGMA user_version = 1;"
run b.sqlite "$table INSERT INTO t VALUES (1, 'ANNA', 'x  ', 1.0); PRAGMA user_version = 2;
    CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; END; CREATE VIEW v AS SELECT name FROM t;"
row() { # database, a statement: its last row
    python3 -c 'import sqlite3, sys; print(*sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchall()[-1])' "$@"
}
stored() { row "$1" "SELECT quote(name), quote(code), quote(any) FROM t"; }
column() { row "$1" "SELECT name, type, \"notnull\", dflt_value FROM pragma_table_info('t')"; }
echo "a: $(stored a.sqlite)"
echo "b: $(stored b.sqlite)"
rows=$(sqldiff a.sqlite b.sqlite)
schema=$(sqldiff --schema a.sqlite b.sqlite)
echo "sqldiff: ${rows:-(nothing)}, sqldiff --schema: ${schema:-(nothing)}"

run b.sqlite "ALTER TABLE t ADD COLUMN n INTEGER NOT NULL DEFAULT 5"
script=$(sqldiff a.sqlite b.sqlite)
run a.sqlite "$script"
again=$(sqldiff a.sqlite b.sqlite; sqldiff --schema a.sqlite b.sqlite)
echo "$script"
echo "column in a: $(column a.sqlite), in b: $(column b.sqlite), sqldiff: ${again:-(nothing)}"

[ "$(stored a.sqlite)" != "$(stored b.sqlite)" ] && [ -z "$rows$schema$again" ] && [ "$(column a.sqlite)" = "n  0 None" ] &&
    [ "$(column b.sqlite)" = "n INTEGER 1 5" ] || { echo "the behaviour has changed"; exit 1; }
echo "as described: no output from sqldiff doesn't mean equal"
