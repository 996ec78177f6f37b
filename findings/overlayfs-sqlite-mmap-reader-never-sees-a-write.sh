#!/usr/bin/env bash
# SQLite on overlayfs: a reader with mmap_size stays for ever at the state before the first write.
#
# Expected: after one connection has committed, the next query of every other one sees it, on any local file
#   system with working locks, whatever PRAGMA mmap_size says; that setting is about speed.
# What happens: a file that a container's image brought lies in the lower layer. The first write copies it to the
#   upper one. Plain reads of an open file follow to the copy, a shared memory map doesn't: it stays with the
#   lower file, which never changes again. SQLite with mmap_size reads the first page through the map, with the
#   change counter on it, finds nothing new and goes on with the old pages. Tables made later don't exist for it,
#   user_version stays old, integrity_check says ok, and there is never an error. The locks work, so it even
#   waits for the writer whose work it can't see. Only opening the database anew helps.
# Seen on 2026-11-28 with apsw 3.54.1.0 from PyPI (SQLite 3.54.1), overlayfs of Linux 6.18:
#     without mmap_size: version 2, title new, table added: 1
#     with mmap_size:    version 1, title old, table added: 0, integrity ok
#     opened anew:       version 2, title new, table added: 1
# Why it matters to a migration: in a container the database that the image ships is migrated at the start, by
#   one process or connection, while another may have it open already. "Read user_version again, it is the new
#   one" is then no test, nor is waiting for it: a waiting reader waits for ever. Open after the migration,
#   make the first write before any reader opens, or copy the file out of the image first.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
[ "$(id -u)" = 0 ] && { modprobe overlay 2> "$work/modprobe.log" || true; } && grep -qw overlay /proc/filesystems ||
    { echo "needs root and overlayfs"; exit 2; }
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet apsw==3.54.1.0
mkdir "$work/layers"

cat > "$work/image.py" <<'PYTHON'
import apsw

apsw.Connection("lower/app.sqlite").execute("""
    CREATE TABLE note (title); INSERT INTO note VALUES ('old'); PRAGMA user_version = 1;
""")
PYTHON
cat > "$work/run.py" <<'PYTHON'
import os

import apsw

print("apsw", apsw.apsw_version(), "SQLite", apsw.sqlite_lib_version(), "Linux", os.uname().release.split("-")[0])


def reader():
    return apsw.Connection("merged/app.sqlite", flags=apsw.SQLITE_OPEN_READONLY)


def state(database):
    return (database.execute("PRAGMA user_version").get, database.execute("SELECT title FROM note").get,
            database.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'added'").get,
            database.execute("PRAGMA integrity_check").get)


plain, mapped = reader(), reader()
assert plain.execute("PRAGMA mmap_size = 0").get == 0
assert mapped.execute("PRAGMA mmap_size = 16777216").get == 16777216
assert state(plain) == state(mapped) == (1, "old", 0, "ok")
writer = apsw.Connection("merged/app.sqlite")
writer.execute("BEGIN; UPDATE note SET title = 'new'; CREATE TABLE added (x); PRAGMA user_version = 2; COMMIT;")
found = {"without mmap_size": state(plain), "with mmap_size": state(mapped), "opened anew": state(reader())}
for label, (number, title, added, integrity) in found.items():
    print("%-18s version %d, title %s, table added: %d, integrity %s" % (label + ":", number, title, added, integrity))
assert found == {"without mmap_size": (2, "new", 1, "ok"), "with mmap_size": (1, "old", 0, "ok"),
                 "opened anew": (2, "new", 1, "ok")}
PYTHON
# In a mount namespace of its own, so that the mounts end with it
unshare --mount bash -euo pipefail -c '
    mount -t tmpfs tmpfs "$1/layers"
    cd "$1/layers"
    mkdir lower upper work merged
    "$1/venv/bin/python" "$1/image.py"
    mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work merged
    "$1/venv/bin/python" "$1/run.py"
' bash "$work"
echo "as described: the mapped reader doesn't see the migration"
