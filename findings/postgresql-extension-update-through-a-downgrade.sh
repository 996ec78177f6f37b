#!/usr/bin/env bash
# PostgreSQL: an extension's update may run its downgrade script and throw rows' values away.
#
# Expected: ALTER EXTENSION ... UPDATE goes upwards from the installed version to the new one.
#   A downgrade script (1.1--1.0) that lies in the folder for emergencies runs only if asked for.
# What happens: versions are names without an order. PostgreSQL takes the way with the fewest scripts
#   through all that it finds, and a way down and up again counts like any other. Here an installation
#   at 1.1 has three scripts to 2.0 (1.1--1.2, 1.2--1.3, 1.3--2.0), but only two by way of 1.0, since
#   there is a shortcut 1.0--2.0 for old installations. So the update drops the column that 1.1 had
#   added and adds an empty one. It raises no error and no warning, and the version is right.
# Seen on 2026-11-28 with PostgreSQL 15.20 (Debian 15.20-0+deb12u1):
#     path from 1.1 to 2.0: 1.1--1.0--2.0
#     before the update: 1|body|important
#     after the update:  1|body||, version 2.0
# Why it matters to a migration: whoever publishes steps as files and lets a tool find the way must not
#   offer a shortcut and a way back in the same folder. pg_extension_update_paths() tells the ways
#   beforehand: a test should list them for every version that is still installed somewhere.
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

# The releases up to 1.1
script 1.0 "CREATE TABLE note (id int PRIMARY KEY, body text);"
script 1.0--1.1 "ALTER TABLE note ADD tag text;"
script 1.1--1.0 "ALTER TABLE note DROP tag;"
offer 1.1
sql "CREATE EXTENSION notes"
sql "INSERT INTO note VALUES (1, 'body', 'important')"
before=$(sql "SELECT * FROM note")

# The later releases
script 1.1--1.2 "ALTER TABLE note ADD color text;"
script 1.2--1.3 "CREATE INDEX ON note (color);"
script 1.3--2.0 "CREATE INDEX ON note (tag);"
script 1.0--2.0 "ALTER TABLE note ADD tag text, ADD color text; CREATE INDEX ON note (color); CREATE INDEX ON note (tag);"
offer 2.0
path=$(sql "SELECT path FROM pg_extension_update_paths('notes') WHERE source = '1.1' AND target = '2.0'")
sql "ALTER EXTENSION notes UPDATE"
after=$(sql "SELECT * FROM note")
installed=$(sql "SELECT extversion FROM pg_extension WHERE extname = 'notes'")

echo "path from 1.1 to 2.0: $path"
echo "before the update: $before"
echo "after the update:  $after, version $installed"
[ "$path" = 1.1--1.0--2.0 ] && [ "$before" = "1|body|important" ] && [ "$after" = "1|body||" ] && [ "$installed" = 2.0 ] ||
    { echo "the behaviour has changed"; exit 1; }
echo "as described: the update went through the downgrade and lost the column's values"
