"""Counts files and lines of Swift: all of them, and those of code, which are neither blank nor only a comment."""

import re

# The package has no comments between /* and */: swift-format's rules ask for lines.
NO_CODE = re.compile(r"\s*(//.*)?")


def values(root, folder):
    """The rows of a folder, by the ends of their names."""
    texts = [
        path.read_text() for path in sorted((root / folder).rglob("*.swift"))
        if not any(part.startswith(".build") for part in path.relative_to(root).parts)
    ]
    lines = [line for text in texts for line in text.splitlines()]
    return {
        "lines": len(lines),
        "code": sum(NO_CODE.fullmatch(line) is None for line in lines),
        "files": len(texts),
    }


def folders(root):
    """What is counted: each module, all of them together, the core's tests and all tests."""
    modules = sorted(path.name for path in (root / "Sources").iterdir() if any(path.rglob("*.swift")))
    return {**{module: f"Sources/{module}" for module in modules}, "Sources": "Sources",
            "AppMigrationsTests": "Tests/AppMigrationsTests", "Tests": "Tests"}
