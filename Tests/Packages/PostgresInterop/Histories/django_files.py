"""Writes the migrations of Django's and Wagtail's apps as numbered files: what `sqlmigrate` prints of each.

Usage: django_files.py sqlite|postgresql DATABASE FOLDER

DATABASE is an empty one, a path or the words of a connection. The files have the order in which `migrate`
runs them, and each is applied to the database after it is written: some operations look at the tables as
they are. For a function in Python, which isn't SQL, `sqlmigrate` prints a comment. The BEGIN and COMMIT that
it prints around a migration are left out, because the library has a transaction of its own around each file.

A migration that renames a table and then changes it is more than `sqlmigrate` can print: it looks for the
constraints of the new table in the database, which has the old one. The file then has the statements that
Django sends, except those that only read.
"""

import io
import os
import re
import sys

import django
from django.conf import settings
from django.core.management import call_command

dialect, name, folder = sys.argv[1:]
database = {"ENGINE": "django.db.backends.sqlite3", "NAME": name}
if dialect == "postgresql":
    words = dict(word.split("=") for word in name.split())
    database = {"ENGINE": "django.db.backends.postgresql", "HOST": words["host"], "PORT": words["port"], "USER": words["user"],
                "NAME": words["dbname"]}
settings.configure(
    DATABASES={"default": database},
    INSTALLED_APPS=[
        "django.contrib.admin", "django.contrib.auth", "django.contrib.contenttypes", "django.contrib.flatpages",
        "django.contrib.redirects", "django.contrib.sessions", "django.contrib.sites", "taggit", "modelcluster", "wagtail",
        "wagtail.admin", "wagtail.contrib.forms", "wagtail.contrib.redirects", "wagtail.contrib.search_promotions",
        "wagtail.documents", "wagtail.embeds", "wagtail.images", "wagtail.search", "wagtail.users",
    ],
    DEFAULT_AUTO_FIELD="django.db.models.AutoField", LOGGING_CONFIG=None, SECRET_KEY="-", SILENCED_SYSTEM_CHECKS=["*"],
    STATIC_URL="/static/", USE_TZ=True, WAGTAILIMAGES_IMAGE_MODEL="wagtailimages.Image")
django.setup()

from django.db import connection
from django.db.migrations import RenameModel
from django.db.migrations.executor import MigrationExecutor

# What is no part of a file: reads, transactions, and the table in which Django counts.
OTHERS = re.compile(r"\s*(SELECT|PRAGMA|SHOW|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)\b|.*\bdjango_migrations\b", re.I | re.S)


def printed(migration):
    text = io.StringIO()
    call_command("sqlmigrate", migration.app_label, migration.name, stdout=text, stderr=io.StringIO(), no_color=True)
    return [line for line in text.getvalue().splitlines() if line not in ("BEGIN;", "COMMIT;")]


def sent(migration):
    """The statements that a migration sends, after it has run."""
    statements = []

    def sending(execute, statement, parameters, is_many, context):
        if dialect == "postgresql":
            for each in parameters if is_many else [parameters]:
                statements.append(context["cursor"].cursor.mogrify(statement, each))
        return execute(statement, parameters, is_many, context)

    connection.ensure_connection()
    if dialect == "sqlite":
        connection.connection.set_trace_callback(statements.append)
    with connection.execute_wrapper(sending):
        # Not the command: it also adds rows for what is in the apps' Python.
        MigrationExecutor(connection).migrate([(migration.app_label, migration.name)])
    if dialect == "sqlite":
        connection.connection.set_trace_callback(None)
    return [f"{each.rstrip().rstrip(';')};" for each in statements if not OTHERS.match(each)]


executor = MigrationExecutor(connection)
plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
for number, (migration, _) in enumerate(plan, 1):
    lines, recorded = printed(migration), sent(migration)
    if any(isinstance(operation, RenameModel) for operation in migration.operations):
        lines = recorded
    with open(os.path.join(folder, f"{number:04}_{migration.app_label}_{migration.name}.sql"), "w") as file:
        file.write("".join(f"{line}\n" for line in lines))
