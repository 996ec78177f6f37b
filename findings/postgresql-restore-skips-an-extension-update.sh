#!/usr/bin/env bash
# PostgreSQL: dump and restore steps over an extension's data migration.
#
# Expected: a restored database is the database that was dumped. If the new server has a newer release of
#   an extension, the restored one is still at the old version, and ALTER EXTENSION ... UPDATE then runs
#   the steps between.
# What happens: the dump says CREATE EXTENSION without a version, so the restore makes the tables of the
#   extension as the newest release has them. Then it loads the rows of the extension's configuration
#   tables as the old release wrote them. The catalog says that the new version is installed, ALTER
#   EXTENSION ... UPDATE finds nothing to do, and the UPDATE statement in the step 1.0--1.1 has never
#   seen a row. A column that 1.1 added gets its default, so the rows even look migrated.
# Seen on 2026-11-28 with PostgreSQL 15.20 (Debian 15.20-0+deb12u1); 1.0 stores "30 s", and 1.1 stores
#   milliseconds and has a column for the unit:
#     updated in place: 1.1, timeout|30000|ms
#     dumped by 1.0 and restored where 1.1 lies: 1.1, timeout|30 s|ms
#     ALTER EXTENSION notes UPDATE: version "1.1" of extension "notes" is already installed
# Why it matters to a migration: moving to another server by dump and restore is the usual way to a new
#   major version, just where a newer extension waits. Update the extension before the dump. In general
#   the version must travel with the data: a version taken from the program that reads it lies.
set -euo pipefail

version=15.20-0+deb12u1
work=$(mktemp -d)
as_owner() { "$@"; }
if [ "$(id -u)" = 0 ]; then  # the server refuses to run as root
    chown nobody "$work"
    as_owner() { setpriv --reuid=nobody --regid=nogroup --clear-groups "$@"; }
fi
server="$work/unpacked/usr/lib/postgresql/15/bin"
finish() {
    as_owner "$server/pg_ctl" -D "$work/data" -m immediate stop > "$work/stop.log" 2>&1 || true
    rm -rf "$work"
}
trap finish EXIT
cd "$work"
for package in postgresql-15 postgresql-client-15; do
    apt-get download --quiet "$package=$version" > apt.log 2>&1 || { echo "cannot download $package $version"; exit 2; }
done
for file in *.deb; do dpkg-deb --extract "$file" unpacked; done
if ldd "$server/postgres" "$server/psql" | grep -q 'not found'; then
    apt-get install --yes --quiet --no-install-recommends libpq5 libicu72 libxml2 libssl3 libldap-2.5-0 liblz4-1 libzstd1 \
        libgssapi-krb5-2 libsystemd0 libpam0g libreadline8 > apt.log 2>&1 || { echo "cannot install the libraries"; exit 2; }
fi
export LC_ALL=C PGDATABASE=postgres PGUSER=app PGHOST=$work
as_owner "$server/initdb" --pgdata=data --username=app --auth=trust > init.log
as_owner "$server/pg_ctl" -D data -w -l server.log -o "-k $work -c listen_addresses= -c fsync=off" start > start.log
sql() { "$server/psql" --no-psqlrc --quiet --no-align --tuples-only --set=ON_ERROR_STOP=1 --command="$1"; }
sql "SELECT version()"

folder="$work/unpacked/usr/share/postgresql/15/extension"
offer() { printf "default_version = '%s'\n" "$1" > "$folder/notes.control"; }
script() { echo "$2" > "$folder/notes--$1.sql"; }

# Release 1.0 and its data
offer 1.0
script 1.0 "CREATE TABLE setting (name text PRIMARY KEY, value text);
    SELECT pg_catalog.pg_extension_config_dump('setting', '');"
sql "CREATE EXTENSION notes"
sql "INSERT INTO setting VALUES ('timeout', '30 s')"
as_owner "$server/pg_dump" > dump.sql

# Release 1.1
script 1.0--1.1 "UPDATE setting SET value = replace(value, ' s', '000');
    ALTER TABLE setting ADD unit text DEFAULT 'ms';"
offer 1.1
state() {
    sql "SELECT extversion || ', ' || name || '|' || value || '|' || unit
        FROM pg_extension, setting WHERE extname = 'notes'"
}
sql "ALTER EXTENSION notes UPDATE"
in_place=$(state)
sql "CREATE DATABASE restored"
export PGDATABASE=restored
"$server/psql" --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --file=dump.sql > restore.log
restored=$(state)
notice=$(sql "ALTER EXTENSION notes UPDATE" 2>&1)
again=$(state)

echo "updated in place: $in_place"
echo "dumped by 1.0 and restored where 1.1 lies: $restored"
echo "ALTER EXTENSION notes UPDATE: $notice"
[ "$in_place" = "1.1, timeout|30000|ms" ] && [ "$restored" = "1.1, timeout|30 s|ms" ] && [ "$again" = "$restored" ] &&
    [[ $notice == *"already installed"* ]] || { echo "the behaviour has changed"; exit 1; }
echo "as described: the restored rows are old, the restored version is new"
