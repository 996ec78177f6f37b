"""Counts files and lines of Swift: all of them, and those of code, which are neither blank nor only a comment."""

import re

# What a line may hold beside code. A text of several lines is code, whatever is in it.
TOKEN = re.compile(r'#*"""|#*"(?:\\.|[^"\\\n])*"|//|/\*|\*/')


def code_lines(text):
    count, comment, quotes = 0, 0, None
    for line in text.split("\n"):
        code, place = quotes is not None and line.strip() != "", 0
        while place < len(line):
            if quotes:
                end = line.find(quotes, place)
                if end < 0:
                    break
                place, quotes = end + len(quotes), None
                continue
            found = TOKEN.search(line, place)
            between = line[place:found.start() if found else len(line)]
            if not comment and between.strip():
                code = True
            if not found:
                break
            token, place = found.group(), found.end()
            if token == "/*":
                comment += 1
            elif token == "*/":
                comment -= comment > 0
            elif comment:
                continue
            elif token == "//":
                break
            else:
                code = True
                if token.endswith('"""'):
                    quotes = '"""' + token.count("#") * "#"
        count += code
    return count


def values(root, folder):
    """The rows of a folder, by the ends of their names."""
    texts = [
        path.read_text() for path in sorted((root / folder).rglob("*.swift"))
        if not any(part.startswith(".build") for part in path.relative_to(root).parts)
    ]
    return {
        "lines": sum(text.count("\n") for text in texts),
        "code": sum(map(code_lines, texts)),
        "files": len(texts),
    }


def folders(root):
    """What is counted: each module, all of them together, the core's tests and all tests."""
    modules = sorted(path.name for path in (root / "Sources").iterdir() if any(path.rglob("*.swift")))
    return {**{module: f"Sources/{module}" for module in modules}, "Sources": "Sources",
            "AppMigrationsTests": "Tests/AppMigrationsTests", "Tests": "Tests"}
