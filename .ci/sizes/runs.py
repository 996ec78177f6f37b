"""The lines of the core that a start and a declaration run, and the steps of a start."""

import json
import re
import tempfile
from pathlib import Path

from . import clients

VERSIONS = [f"1.{number}" for number in range(1, 11)]


def prepare(declare, folder, current, versions):
    """Makes a state in which the versions have run, as an app would, each with its row of history."""
    clients.run([declare, current, *versions], cwd=folder, env=clients.environment(LLVM_PROFILE_FILE="/dev/null"))
    state, = Path(folder).glob("*.migrations.json")
    text = state.read_text()
    # How long a migration took has more digits in one run than in another.
    state.write_text(re.sub(r'("duration"\s*:\s*)[-+.e0-9]+', r"\g<1>0.5", text))


def executed(declare, state, current, versions, folder):
    """The files of the core: for each how many lines can be executed, and how many this run executed."""
    raw, merged = Path(folder) / "raw", Path(folder) / "merged"
    clients.run([declare, current, *versions], cwd=state, env=clients.environment(LLVM_PROFILE_FILE=str(raw)))
    clients.run([clients.tool("llvm-profdata"), "merge", "-o", merged, raw])
    export = [clients.tool("llvm-cov"), "export", "-summary-only", "-instr-profile", merged, declare]
    files = json.loads(clients.run(export))["data"][0]["files"]
    found = {
        file["filename"]: (file["summary"]["lines"]["count"], file["summary"]["lines"]["covered"])
        for file in files if "/Sources/AppMigrations/" in file["filename"]
    }
    if not found:
        raise clients.Failure(f"{declare} has no lines of the core: it wasn't built for coverage.")
    return found


def lines(declare):
    """The lines of the core, and which of them an idle start and a declaration that runs execute."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as idle:
        prepare(declare, idle, VERSIONS[-1], VERSIONS)
        start = executed(declare, idle, VERSIONS[-1], VERSIONS, folder)
        with tempfile.TemporaryDirectory() as state:
            # The new version of the app has been started already: saving that is no part of a declaration.
            prepare(declare, state, "1.4", ["1.1", "1.2", "1.3"])
            declaration = executed(declare, state, "1.4", ["1.4"], folder)
    return {
        "core.executable-lines": sum(count for count, _ in start.values()),
        "start.lines": sum(covered for _, covered in start.values()),
        "start.files": sum(covered > 0 for _, covered in start.values()),
        "declaration.lines": sum(covered for _, covered in declaration.values()),
        "declaration.files": sum(covered > 0 for _, covered in declaration.values()),
    }


def steps(products):
    """The steps of the program `start` between its marks."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as state:
        stepper = Path(folder) / "start"
        clients.run([clients.tool("clang"), "-O1", "-Wall", "-Werror", "-o", stepper, Path(__file__).with_name("start.c")])
        prepare((products / "declare").resolve(), state, VERSIONS[-1], VERSIONS)
        rows = clients.run([stepper, state, (products / "start").resolve()]).split("\n")
    return {f"start.{name}": int(value) for name, value in (row.split() for row in rows if row)}
