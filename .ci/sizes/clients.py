"""Builds the programs of Tests/Packages/Entrance, and finds what the counts need of the toolchain and of binutils."""

import os
import shutil
import subprocess
from pathlib import Path

# A name of a section for each function, so that the reachable ones can be told apart.
SECTIONS = ["-debug-info-format", "none", "-Xswiftc", "-Xfrontend", "-Xswiftc", "-function-sections"]
COVERAGE = ["-Xswiftc", "-profile-generate", "-Xswiftc", "-profile-coverage-mapping"]


class Failure(Exception):
    """Why something couldn't be counted."""


def tool(name):
    """A tool: the one beside swift, where it is, since the coverage that Swift writes is read by its own LLVM alone."""
    swift = shutil.which("swift")
    if swift is None:
        raise Failure("There is no swift on the PATH.")
    beside = Path(swift).resolve().parent / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        raise Failure(f"{name} is neither beside swift nor on the PATH.")
    return found


def run(command, **options):
    """The output of a command. A command that fails ends the count with its output."""
    ended = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if ended.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))} ended with {ended.returncode}:\n{ended.stdout}{ended.stderr}")
    return ended.stdout


def build(package, scratch, configuration, flags=(), product=None):
    """Builds a package, or a product of it. Returns the folder of the programs."""
    options = ["--package-path", package, "--scratch-path", scratch, "-c", configuration, *flags]
    run([tool("swift"), "build", *options, *(["--product", product] if product else [])])
    return scratch / configuration


def stripped(program, folder):
    """The bytes of a program without its symbols and what a debugger reads."""
    copy = Path(folder) / f"{program.name}.stripped"
    run([tool("strip"), "-o", copy, program])
    return copy.stat().st_size


def objects(products, product):
    """The object files that a program was linked of: the folder may hold older ones, of sources that are gone."""
    names = (products / f"{product}.product" / "Objects.LinkFileList").read_text().splitlines()
    return [Path(name.strip().strip("'\"")) for name in names if name.strip().strip("'\"").endswith(".o")]


def environment(**more):
    """The environment of a client: nothing of the caller's, and no seed of hashes."""
    kept = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
    return {**kept, "SWIFT_DETERMINISTIC_HASHING": "1", **more}
