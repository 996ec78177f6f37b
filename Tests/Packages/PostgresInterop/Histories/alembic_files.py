"""Writes MLflow's migrations as numbered files: what `alembic upgrade --sql` prints of each.

Usage: alembic_files.py sqlite|postgresql DATABASE FOLDER

DATABASE is an empty one, a path or the words of a connection. Where a migration asks the database (on
SQLite each that builds a table anew), `--sql` refuses. The file then has the statements that Alembic sends
to the database, except those that only read, and those for Alembic's own table and the transactions. Each
migration is applied to the database after it is written.
"""

import contextlib
import io
import os
import re
import sys

import mlflow.store.db_migrations
import psycopg
import sqlalchemy
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from mlflow.store.tracking.dbmodels.initial_models import Base as InitialBase

dialect, name, folder = sys.argv[1:]
url = f"sqlite:///{name}"
if dialect == "postgresql":
    words = dict(word.split("=") for word in name.split())
    url = f"postgresql+psycopg://{words['user']}@{words['host']}:{words['port']}/{words['dbname']}"
# What is no part of a file: reads, transactions, and the table in which Alembic counts.
OTHERS = re.compile(r"\s*(SELECT|PRAGMA|SHOW|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)\b|.*\balembic_version\b", re.I | re.S)


def config(output):
    options = Config(output_buffer=output, stdout=output)
    options.set_main_option("script_location", list(mlflow.store.db_migrations.__path__)[0])
    options.set_main_option("sqlalchemy.url", url)
    return options


def printed(revision):
    """What `--sql` prints of a migration, statement by statement; None where it refuses."""
    output = io.StringIO()
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            command.upgrade(config(output), f"{revision.down_revision or 'base'}:{revision.revision}", sql=True)
    except Exception:
        return None
    return [each for each in re.split(r";\n\n", output.getvalue()) if not OTHERS.match(re.sub(r"^(\s*--.*\n)+", "", each))]


def sent(act):
    """The statements that `act` sends to the database."""
    statements = []

    def connected(connection, record):
        if dialect == "sqlite":
            connection.set_trace_callback(statements.append)

    def sending(connection, cursor, statement, parameters, context, is_many):
        if dialect == "postgresql":
            for each in parameters if is_many else [parameters]:
                statements.append(psycopg.ClientCursor(cursor.connection).mogrify(statement, each or None))

    sqlalchemy.event.listen(sqlalchemy.engine.Engine, "connect", connected)
    sqlalchemy.event.listen(sqlalchemy.engine.Engine, "before_cursor_execute", sending)
    try:
        act()
    finally:
        sqlalchemy.event.remove(sqlalchemy.engine.Engine, "connect", connected)
        sqlalchemy.event.remove(sqlalchemy.engine.Engine, "before_cursor_execute", sending)
    return [each for each in statements if not OTHERS.match(each)]


def write(number, name, statements):
    with open(os.path.join(folder, f"{number:04}_{name}.sql"), "w") as file:
        file.write("".join(f"{each.strip().rstrip(';')};\n" for each in statements if each.strip()))


# The first revision finds the tables that MLflow's first release made.
write(1, "initial", sent(lambda: InitialBase.metadata.create_all(sqlalchemy.create_engine(url))))
revisions = list(reversed(list(ScriptDirectory.from_config(config(None)).walk_revisions())))
refused = 0
for number, revision in enumerate(revisions, 2):
    statements = printed(revision)
    recorded = sent(lambda: command.upgrade(config(io.StringIO()), revision.revision))
    refused += statements is None
    write(number, revision.revision, recorded if statements is None else statements)
print(f"{refused} of {len(revisions)} as they were sent")
