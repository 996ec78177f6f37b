#!/usr/bin/env bash
# Firebird: the 255th change of a table fails, and only a backup and restore helps.
#
# Expected: ALTER TABLE can be run as often as one likes; what counts is the present form of the table,
#   and a column that was added and dropped again leaves nothing behind.
# What happens: Firebird leaves the rows as they are and gives the table a new format number, one byte
#   wide. Each committed ALTER TABLE that changes the columns takes a number, dropping a column too, and
#   none is ever given back: not by deleting the rows, not with a single row in the table. After 254
#   changes the next one fails with "too many versions". A backup and restore of the whole database
#   writes every row in the last format and starts to count again from 1.
# Seen on 2026-11-28 with Firebird 3.0.11 (Debian 3.0.11.33637.ds4-2+deb12u1), a table with one row to
#   which a column is added and from which it is dropped in turns:
#     changes that succeeded: 254
#     unsuccessful metadata update
#     -TABLE T
#     -too many versions
#     format after 254 changes: 255; after backup, restore and one more change: 2
# Why it matters to a migration: the limit counts the changes of an installation's whole life, so the
#   oldest installation meets it first and a test that starts from an empty database never does. A tool
#   that tries its steps in the real database (add, check, drop) uses the numbers up too. Several
#   changes in one ALTER TABLE take one number.
set -euo pipefail

version=3.0.11.33637.ds4-2+deb12u1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for package in firebird3.0-server-core firebird3.0-utils; do
    [ "$(dpkg-query --show --showformat '${Version}' $package 2>/dev/null)" = "$version" ] ||
        apt-get install --yes --quiet --no-install-recommends "$package=$version" > "$work/apt.log" 2>&1 ||
        { echo "cannot install $package $version"; exit 2; }
done
cd "$work"
export FIREBIRD_LOCK=$work FIREBIRD_TMP=$work
isql() { isql-fb -quiet -user sysdba "$@" 2>&1; }
format() {
    echo "SELECT 'format=' || rdb\$format FROM rdb\$relations WHERE rdb\$relation_name = 'T';" |
        isql "$1" | grep -o 'format=.*' | tr -dc 0-9
}

echo "CREATE DATABASE '$work/a.fdb';" | isql
{
    echo "CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1); COMMIT;"
    for _ in $(seq 127); do
        echo "ALTER TABLE t ADD c INT; COMMIT; ALTER TABLE t DROP c; COMMIT;"
    done
} > changes.sql
isql a.fdb -input changes.sql > first.txt
failed=$(grep -c 'Statement failed' first.txt || true)
before=$(format a.fdb)
echo "changes that succeeded: $((254 - failed))"
echo "ALTER TABLE t ADD c INT; COMMIT;" | isql a.fdb | tee last.txt || true

gbak -backup_database -user sysdba a.fdb a.fbk
gbak -create_database -user sysdba a.fbk b.fdb
echo "ALTER TABLE t ADD c INT; COMMIT;" | isql b.fdb
after=$(format b.fdb)
echo "format after 254 changes: $before; after backup, restore and one more change: $after"

[ "$failed" = 0 ] && grep -q 'too many versions' last.txt && [ "$before" = 255 ] && [ "$after" = 2 ] ||
    { echo "the behaviour has changed"; exit 1; }
echo "as described: the 255th version of a table is the last"
