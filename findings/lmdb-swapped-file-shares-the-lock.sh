#!/usr/bin/env bash
# LMDB: a data file swapped in by rename shares its lock file with the file it replaced.
#
# Expected: the classic swap. Build the new database beside the old one, rename it over the old one.
#   A process that still has the old file open goes on with the old data, one that opens the path
#   gets the new data, and neither disturbs the other.
# What happens: an LMDB database is two files, and the lock file belongs to the path, not to the data
#   file. It holds the number of the last transaction, and LMDB keeps two versions of the root page and
#   takes the one that this number points to. After the swap the old process and the new ones count in
#   the same lock file. So
#   1. one commit to the new file sends the OLD process back to its last commit but one;
#   2. one commit of the old process, to a file that has no name any more, sends every NEW process back
#      by one commit: a row that was committed and read before is gone;
#   3. a new process that then writes does so on top of the older version: the row is lost for good,
#      also after everybody has closed.
#   Nothing raises an error.
# Seen on 2026-11-28 with lmdb 3.0.0 from PyPI (LMDB 0.9.36), two rows committed to the new file:
#     old process before the swap: old5; after a commit to the new file: old4
#     new file before the old process commits: a, b, migrated; after: a, migrated
#     after one more commit and with everything closed: a, c, migrated (b is lost)
# Why it matters to a migration: replacing a file by rename is safe only if the file is the whole
#   store. Where a second file beside it takes part (a lock, a log, an index), every process must have
#   closed the old one first, or the new store needs a new folder and the folder's name must be swapped.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet lmdb==3.0.0
cd "$work"

cat > run.py <<'PYTHON'
import os, subprocess, sys
import lmdb

print("lmdb", lmdb.__version__, "LMDB", ".".join(map(str, lmdb.version())))
path = "app.lmdb"

CHILD = """
import lmdb, sys
path, keys = sys.argv[1], sys.argv[2:]
store = lmdb.open(path, subdir=False)
for key in keys:
    with store.begin(write=True) as change:
        change.put(key.encode(), b"1")
with store.begin() as look:
    print(" ".join(key.decode() for key, _ in look.cursor()))
store.close()
"""


def process(path, *keys):
    """A process of its own: commits each key, says which keys it sees."""
    return subprocess.run([sys.executable, "-c", CHILD, path, *keys],
                          check=True, capture_output=True, text=True, timeout=60).stdout.split()


def value(store):
    with store.begin() as look:
        return look.get(b"k").decode()


old = lmdb.open(path, subdir=False)
for number in range(1, 6):
    with old.begin(write=True) as change:
        change.put(b"k", b"old%d" % number)
before_swap = value(old)

process(path + ".new", "migrated")
os.rename(path + ".new", path)
assert value(old) == before_swap
process(path, "a")
after_swap = value(old)
print("old process before the swap:", before_swap + "; after a commit to the new file:", after_swap)

process(path, "b")
seen = process(path)
with old.begin(write=True) as change:
    change.put(b"k", b"old6")
later = process(path)
print("new file before the old process commits:", seen, "after:", later)

process(path, "c")
old.close()
final = process(path)
print("after one more commit and with everything closed:", final)

assert (before_swap, after_swap) == ("old5", "old4"), "the old process was not sent back"
assert seen == ["a", "b", "migrated"] and later == ["a", "migrated"], "no commit was hidden"
assert final == ["a", "c", "migrated"], "no commit was lost"
PYTHON
venv/bin/python run.py
echo "as described: two LMDB files at one path disturb each other through the lock file"
