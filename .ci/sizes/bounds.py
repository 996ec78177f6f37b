"""The bounds: a table of names and values that only falls.

A value over its bound fails, and so does a bound that is over any that git knows of an earlier commit. One room may take from
another: the modules beside the core may exchange lines and files, as long as all of them together have fallen. A row that needs
another measure, as after a change of the toolchain, gets another name in the script that counts it, where a reader of the change
sees it.
"""

import math
import re
import subprocess
from pathlib import Path

FILE = ".ci/bounds"
HEAD = """\
# The values that .ci/size counts, and their upper bounds. Each bound only falls: the script fails where one is higher than in
# an earlier commit; modules beside the core may exchange room. `.ci/size --exact --lower` writes the values that have fallen,
# and those of new modules.
"""

# How much of a value is the machine's and not the package's: the C library and its dynamic linker pick their ways by the
# processor, and a build takes longer beside others. All other values are the same in each run, and have no leeway.
LEEWAY = {"start.instructions": 0.01, "build.core.ratio": 0.15, "build.migrator.ratio": 0.15}


# Rows that take room from others: those of the modules. The core's only fall.
ROOMS = re.compile(r"(?:AppMigrations(?:Fleet|Gate|PostgreSQL|Rows|SQL|SQLite|Schema|Testing)|NotesExample)\.(lines|code|files)")


def rooms(values):
    """How much room the modules beside the core have together, by measure."""
    found = {}
    for name, bound in values.items():
        if match := ROOMS.fullmatch(name):
            found[match[1]] = found.get(match[1], 0) + bound
    return found


def parse(text):
    found = {}
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            name, value = line.split()
            if name in found:
                raise ValueError(f"{FILE} has {name} twice")
            found[name] = float(value)
    return found


def shown(value):
    return f"{value:,.2f}" if value != int(value) else f"{int(value):,}"


def limit(name, value):
    """The bound that a value would get: the value, with its leeway."""
    with_leeway = value * (1 + LEEWAY.get(name, 0))
    return math.ceil(with_leeway * 100) / 100 if name.endswith("ratio") else math.ceil(with_leeway)


class Bounds:
    def __init__(self, root):
        self.root = root
        self.path = Path(root) / FILE
        self.values = parse(self.path.read_text()) if self.path.exists() else {}

    def verdict(self, name, value):
        """True if a value keeps its bound, and the sentence about it."""
        bound = self.values.get(name)
        if bound is None:
            return False, "has no bound: --lower writes one"
        if value > bound:
            return False, f"is over its bound {shown(bound)}"
        # A value that shakes has fallen once it is below what it shakes by.
        if limit(name, value) < bound * (1 - LEEWAY.get(name, 0)) or not LEEWAY.get(name) and value < bound:
            return True, f"the bound can be lowered to {shown(limit(name, value))}"
        return True, ""

    def lower(self, values, counted):
        """Writes the values that are below their bounds, and those that have none. Rows of what is no longer there go, where
        they belong to what was counted."""
        kept = {name: bound for name, bound in self.values.items() if name in values or not counted(name)}
        for name, value in values.items():
            if name not in kept or self.verdict(name, value)[0] and self.verdict(name, value)[1]:
                kept[name] = limit(name, value)
        width = max(map(len, kept))
        rows = [f"{name:<{width}}  {bound:.2f}" if name.endswith("ratio") else f"{name:<{width}}  {bound:.0f}"
                for name, bound in sorted(kept.items())]
        self.path.write_text(HEAD + "\n" + "\n".join(rows) + "\n")
        self.values = kept

    def git(self, *words):
        # In a container the checkout may belong to another user.
        return subprocess.run(["git", "-c", f"safe.directory={self.root}", *words], cwd=self.root, capture_output=True, text=True)

    def risen(self):
        """The bounds that are higher than in a commit before, and how many such commits there are."""
        # The whole history: a merge that takes the higher of two bounds hides the side that had lowered it.
        log = self.git("log", "--full-history", "--format=%H", "HEAD", "--", FILE)
        if log.returncode != 0:
            return [f"git can't say what the bounds were: {log.stderr.strip()}"], 0
        found, commits = {}, log.stdout.split()
        for commit in commits:
            text = self.git("show", f"{commit}:{FILE}")
            # A commit that removed the file has none.
            then = parse(text.stdout if text.returncode == 0 else "")
            apart = {name: bound for name, bound in then.items() if not ROOMS.fullmatch(name)}
            together = {f"all modules beside the core, {measure}": bound for measure, bound in rooms(then).items()}
            for name, bound in {**apart, **together}.items():
                if name not in found or bound < found[name][0]:
                    found[name] = bound, commit[:9]
        now = {**self.values, **{f"all modules beside the core, {key}": bound for key, bound in rooms(self.values).items()}}
        return [
            f"the bound of {name} has risen: {shown(now[name])}, and {shown(bound)} in {commit}"
            for name, (bound, commit) in sorted(found.items()) if now.get(name, 0) > bound
        ], len(commits)
