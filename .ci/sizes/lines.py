"""Counts files and lines of Swift: all of them, and those of code, which are neither blank nor only a comment."""

import re
import subprocess

# The package has no comments between /* and */: swift-format's rules ask for lines.
NO_CODE = re.compile(r"\s*(//.*)?")


def tracked(root, folder):
    """The files that git has, or would take: what a build or a script has made doesn't count."""
    # In a container the checkout may belong to another user.
    command = ["git", "-c", f"safe.directory={root}", "ls-files", "-z", "--cached", "--others", "--exclude-standard", folder]
    return subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout.rstrip("\0").split("\0")


def values(root, folder):
    """The rows of a folder, by the ends of their names."""
    # A file that a link leads to is counted where it lies.
    files = [root / path for path in tracked(root, folder) if path.endswith(".swift") and not (root / path).is_symlink()]
    texts = [path.read_text() for path in files if path.exists()]
    lines = [line for text in texts for line in text.splitlines()]
    return {
        "lines": len(lines),
        "code": sum(NO_CODE.fullmatch(line) is None for line in lines),
        "files": len(texts),
    }


def folders(root):
    """The counts: each module, all of them together, the core's tests and all tests."""
    modules = sorted(path.name for path in (root / "Sources").iterdir() if any(path.rglob("*.swift")))
    return {**{module: f"Sources/{module}" for module in modules}, "Sources": "Sources",
            "AppMigrationsTests": "Tests/AppMigrationsTests", "Tests": "Tests"}
