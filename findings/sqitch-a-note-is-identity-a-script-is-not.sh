#!/usr/bin/env bash
# Sqitch: a typo corrected in a note orphans the database; another deploy script goes unnoticed.
#
# Expected: the ledger identifies a change by its name and its scripts. Editing a script that was deployed is
#   an error at the next deployment, as with other tools that keep checksums; editing a note is nothing.
# What happens: just the other way round. A change's id is a hash over its line in the plan: name, note,
#   planner, time, dependencies and the id of the change before it. The scripts aren't in it. So after a word
#   in the note of the FIRST change is corrected, the id of every later change is another one, and deploy and
#   status stop with exit status 2, because the last deployed change isn't in the plan. But a deploy script
#   that creates another table than the one deployed passes status, verify and deploy; only "sqitch check"
#   tells, a command of its own.
# Seen on 2026-11-28 with Sqitch 1.3.1 (Debian 1.3.1-1) on SQLite; "one" and "two" deployed:
#     deploy script of one rewritten: status 0, verify 0, deploy of three 0, check 1
#     note of one corrected: status 2, deploy 2
#     Cannot find change ... (three) in sqitch.plan
# Why it matters to a migration: what goes into the identity of a step decides which edits are free and which
#   are fatal. A cleanup that looks harmless (notes, a user's name or address in old lines, line order) must
#   be tested against a database that was deployed before it. And a checksum helps only where the
#   deployment itself looks at it.
set -euo pipefail

version=1.3.1-1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ "$(dpkg-query --show --showformat '${Version}' sqitch 2>/dev/null)" = "$version" ] &&
    dpkg-query --show libdbd-sqlite3-perl sqlite3 > "$work/apt.log" 2>&1 ||
    apt-get install --yes --quiet --no-install-recommends "sqitch=$version" libdbd-sqlite3-perl sqlite3 \
        > "$work/apt.log" 2>&1 ||
    { echo "cannot install sqitch $version"; exit 2; }
mkdir "$work/project"
cd "$work/project"
export HOME=$work LC_ALL=C
sqitch --version
sqitch config --user user.name "A User"
sqitch config --user user.email user@example.org
sqitch init notes --engine sqlite > init.log
for name in one two three; do
    sqitch add $name --note "Adds tabel $name" > add.log
    echo "CREATE TABLE $name (x);" > deploy/$name.sql
    echo "DROP TABLE $name;" > revert/$name.sql
    echo "SELECT x FROM $name WHERE 0;" > verify/$name.sql
done
run() { # prints the exit status
    local status=0
    sqitch "$@" > last.log 2>&1 || status=$?
    echo "$status"
}
target=db:sqlite:notes.sqlite
[ "$(run deploy --to two $target)" = 0 ] || { cat last.log; exit 1; }

echo "CREATE TABLE one (x, y NOT NULL DEFAULT 'never deployed');" > deploy/one.sql
script="status $(run status $target), verify $(run verify $target)"
script="$script, deploy of three $(run deploy $target), check $(run check $target)"
echo "deploy script of one rewritten: $script"
echo "CREATE TABLE one (x);" > deploy/one.sql
[ "$(run check $target)" = 0 ] || { cat last.log; exit 1; }

sed -i 's/Adds tabel one/Adds table one/' sqitch.plan
note="status $(run status $target), deploy $(run deploy $target)"
echo "note of one corrected: $note"
grep 'Cannot find change' last.log

[ "$script" = "status 0, verify 0, deploy of three 0, check 1" ] && [ "$note" = "status 2, deploy 2" ] ||
    { echo "the behaviour has changed"; exit 1; }
echo "as described: the note counts, the script doesn't"
