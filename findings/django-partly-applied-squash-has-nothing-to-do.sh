#!/usr/bin/env bash
# Django: a database that is halfway through squashed migrations is told that there is nothing to do.
#
# Expected: once the originals of a squashed migration are deleted, a database that had applied only some
#   of them can't be brought further. The tool says so, and a check before a deployment fails.
# What happens: a squashed migration lists the ones that it replaces. If the database has applied some of
#   them but not all, Django drops the squashed one from its plan and goes back to the originals; and as
#   these files are gone, nothing is left. "migrate" says that no migrations are to be applied, and
#   "migrate --check" exits 0. "showmigrations" shows an app without migrations. There is an error only
#   if a later migration depends on one of the deleted ones.
# Seen on 2026-11-28 with Django 5.2.19 from PyPI (0001 to 0003 squashed, the database at 0002):
#     Apply all migrations: (none)
#     No migrations to apply.
#     migrate: 0, migrate --check: 0
#     showmigrations: (no migrations)
#     columns of the table: id, title (missing: color)
# Why it matters to a migration: the installation that skipped a few releases is the one in this state,
#   and its update reports success and then runs new code on the old table. Whoever merges old steps
#   into one must refuse a starting point that lies inside, and a gate must check that the last step
#   is recorded, not that no step is left to run.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet Django==5.2.19
mkdir -p "$work/site/notes/migrations"
cd "$work/site"
touch notes/__init__.py notes/migrations/__init__.py

cat > manage.py <<'PYTHON'
import sys
from django.conf import settings
settings.configure(
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "notes.sqlite"}}, INSTALLED_APPS=["notes"],
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField")
from django.core.management import execute_from_command_line
execute_from_command_line(sys.argv)
PYTHON
migration() { # name, the one before, operation, what it replaces
    cat > "notes/migrations/$1.py" <<PYTHON
from django.db import migrations, models
class Migration(migrations.Migration):
    dependencies = [("notes", name) for name in "$2".split()]
    replaces = [("notes", name) for name in "${4:-}".split()]
    operations = [$3]
PYTHON
}
identity='("id", models.BigAutoField(primary_key=True))'
field='models.TextField(default="")'
django() { ../venv/bin/python -B manage.py "$@" --no-color; }

migration 0001_note "" "migrations.CreateModel('Note', [$identity])"
migration 0002_title 0001_note "migrations.AddField('Note', 'title', $field)"
migration 0003_color 0002_title "migrations.AddField('Note', 'color', $field)"
django migrate notes 0002_title > first.txt

rm notes/migrations/000*.py
migration 0001_squashed "" "migrations.CreateModel('Note', [$identity, ('title', $field), ('color', $field)])" \
    "0001_note 0002_title 0003_color"
status=0; django migrate > migrate.txt 2>&1 || status=$?
check=0; django migrate --check > check.txt 2>&1 || check=$?
django showmigrations notes > show.txt
columns=$(python3 - <<'PYTHON'
import sqlite3
print(", ".join(row[1] for row in sqlite3.connect("notes.sqlite").execute("PRAGMA table_info(notes_note)")))
PYTHON
)

../venv/bin/python -m django --version
cat migrate.txt
echo "migrate: $status, migrate --check: $check"
cat show.txt
echo "columns of the table: $columns"
grep -q 'No migrations to apply' migrate.txt && grep -q '(no migrations)' show.txt && [ "$status$check" = 00 ] &&
    [ "$columns" = "id, title" ] || { echo "the behaviour has changed"; exit 1; }
echo "as described: the half-migrated database counts as done"
