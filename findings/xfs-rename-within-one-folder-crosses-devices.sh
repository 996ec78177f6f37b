#!/usr/bin/env bash
# XFS: renaming a file within its own folder fails with EXDEV, and a folder swapped in leaves its quota.
#
# Expected: rename() fails with EXDEV only between two file systems or mounts; the same st_dev, and all the more
#   the same folder, means that it works. So "write beside the target, then rename" can't meet EXDEV.
# What happens: a folder can belong to a project (this is how quotas for folders work, also for containers'
#   volumes), which new files inherit. A file whose project is another than that of the folder it is renamed INTO
#   gives EXDEV, though st_dev is the same: a file prepared elsewhere, a hard link to it, a folder, and also a file
#   that was in the folder before the folder got its project: renaming state to state.bak in the same folder
#   fails, while overwriting it by a new file works. A fresh folder that takes the old one's place by rename is
#   let through, but the project doesn't come along: nothing in it is counted there any more.
# Seen on 2026-11-28 with xfsprogs 6.1.0 (Debian 6.1.0-1), XFS of Linux 6.18:
#     same st_dev: yes; from outside EXDEV, link EXDEV, folder EXDEV, state to state.bak EXDEV
#     new file over state: ok
#     folder's project before the swap 42, after it 0
# Why it matters to a migration: a comparison of st_dev doesn't foretell EXDEV, and the rename that moves the old
#   file out of the way (backup, quarantine) fails where the one that brings in the new file works. Prepare files
#   in the target folder, have a copy as the fallback for EXDEV everywhere, and prefer replacing files inside a
#   folder to replacing the folder.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
[ "$(dpkg-query --show --showformat '${Version}' xfsprogs 2>/dev/null || true)" = 6.1.0-1 ] ||
    apt-get install --yes --quiet --no-install-recommends xfsprogs=6.1.0-1 > "$work/apt.log" 2>&1 ||
    { echo "cannot install xfsprogs 6.1.0-1"; exit 2; }
[ "$(id -u)" = 0 ] && { modprobe xfs 2> "$work/modprobe.log" || true; } && grep -qw xfs /proc/filesystems ||
    { echo "needs root and XFS"; exit 2; }
truncate --size=320M "$work/disk"
mkfs.xfs -q "$work/disk"
mkdir "$work/mounted"

cat > "$work/run.py" <<'PYTHON'
import errno, os, subprocess

print("Linux", os.uname().release.split("-")[0])


def write(path):
    with open(path, "w") as file:
        file.write(path)


def code(work, *arguments):
    try:
        work(*arguments)
        return "ok"
    except OSError as error:
        return errno.errorcode[error.errno]


def project(path):
    return subprocess.run(["lsattr", "-pd", path], check=True, capture_output=True, text=True).stdout.split()[0]


for folder in ("app", "outside", "outside/folder", "fresh"):
    os.mkdir(folder)
write("app/state")
subprocess.run(["chattr", "-p", "42", "+P", "app"], check=True)
write("app/new")
write("outside/state")
same = os.stat("app").st_dev == os.stat("outside").st_dev == os.stat("app/state").st_dev
found = {
    "from outside": code(os.rename, "outside/state", "app/other"),
    "link": code(os.link, "outside/state", "app/other"),
    "folder": code(os.rename, "outside/folder", "app/folder"),
    "state to state.bak": code(os.rename, "app/state", "app/state.bak"),
    "new file over state": code(os.rename, "app/new", "app/state"),
}
before = project("app")
os.rename("app", "app.old")
os.rename("fresh", "app")
after = project("app")
print("same st_dev: %s; " % ("yes" if same else "no") + ", ".join("%s %s" % pair for pair in found.items()))
print("folder's project before the swap %s, after it %s" % (before, after))
assert same and list(found.values()) == ["EXDEV"] * 4 + ["ok"]
assert (before, after) == ("42", "0")
PYTHON
# In a mount namespace of its own, so that the mount ends with it
unshare --mount bash -euo pipefail -c '
    mount -o loop "$1/disk" "$1/mounted"
    cd "$1/mounted"
    python3 "$1/run.py"
' bash "$work"
echo "as described: one folder, one device, and EXDEV"
