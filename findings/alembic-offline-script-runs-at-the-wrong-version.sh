#!/usr/bin/env bash
# Alembic: a script made offline runs on a database at another version and doesn't move the ledger.
#
# Expected: "alembic upgrade r2:r3 --sql" writes the SQL for an administrator who has the access that the tool
#   doesn't have. Run on a database that isn't at r2, the script stops before it has changed anything.
# What happens: the only thing that knows of r2 is the last statement: UPDATE alembic_version SET ... WHERE
#   version_num = 'r2'. At another version it finds no row, which is no error in SQL. So the step's changes are
#   made, the ledger stays where it was, and the exit status is 0. Online the tool does look at the number of rows.
#   The damage shows later: the next ordinary upgrade runs r2, and then r3 a second time, which fails, or, if the
#   step changes data, does so twice.
# Seen on 2026-11-28 with alembic 1.20.1 (SQLAlchemy 2.1.9) from PyPI on SQLite; the database was at r1:
#     script for r2:r3: exit 0, tables t1 t3, version r1
#     alembic upgrade head: table t3 already exists, tables t1 t2 t3
# Why it matters to a migration: a statement that moves a version from A to B is a check only if somebody counts
#   the rows that it changed. A script for others has to bring its own guard, in front: one that raises if the
#   version isn't the expected one, in the same transaction as the changes.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet alembic==1.20.1 SQLAlchemy==2.1.9
cd "$work"
alembic() { "$work/venv/bin/alembic" "$@"; }
alembic --version
alembic init steps > init.log
sed -i 's|^sqlalchemy.url.*|sqlalchemy.url = sqlite:///app.sqlite|' alembic.ini
for number in 1 2 3; do
    before=None
    [ $number = 1 ] || before="'r$((number - 1))'"
    cat > steps/versions/r$number.py <<PYTHON
import sqlalchemy
from alembic import op
revision, down_revision = "r$number", $before
def upgrade(): op.create_table("t$number", sqlalchemy.Column("x", sqlalchemy.Integer))
def downgrade(): op.drop_table("t$number")
PYTHON
done
alembic upgrade r1 2> first.log
alembic upgrade r2:r3 --sql > r3.sql 2> offline.log
cat > run.py <<'PYTHON'
import sqlite3, sys
database = sqlite3.connect("app.sqlite")
if len(sys.argv) > 1:
    database.executescript("BEGIN; %s COMMIT;" % open(sys.argv[1]).read())
tables = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE name LIKE 't_' ORDER BY name")]
print("tables", *tables, "version", *[row[0] for row in database.execute("SELECT version_num FROM alembic_version")])
PYTHON
status=0
state=$(python3 run.py r3.sql) || status=$?
echo "script for r2:r3: exit $status, $state"
next=0
alembic upgrade head > head.log 2>&1 || next=$?
error=$(grep -o 'table t3 already exists' head.log | head -n 1 || true)
final=$(python3 run.py)
echo "alembic upgrade head: exit $next, $error, $final"
[ "$status" = 0 ] && [ "$state" = "tables t1 t3 version r1" ] && [ "$next" != 0 ] && [ -n "$error" ] &&
    [[ $final == "tables t1 t2 t3 "* ]] || { echo "the behaviour has changed"; exit 1; }
echo "as described: the script doesn't look where it starts"
