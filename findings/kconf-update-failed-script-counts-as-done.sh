#!/usr/bin/env bash
# KDE's kconf_update: a step whose script failed is recorded as done, and the steps behind it run.
#
# Expected: kconf_update runs each step of a configuration file once per user and keeps a list of those that
#   are done. A step that fails isn't put on the list, or stops the ones behind it, and runs again at the
#   next start, at the latest after the app has shipped a corrected script.
# What happens: only a debug message tells of the script's exit status. The step is on the list all the same,
#   in the file of the user too, the later steps run, and the program exits 0. The corrected script, shipped
#   under the same Id with a newer time stamp, never runs for this user. A new user gets it.
# Seen on 2026-11-28 with kconf_update 5.103.0 (Debian libkf5config-bin 5.103.0-2); step2 exits 1:
#     exit status 0, done=step1,step2,step3
#     the user's file: colour=red, fontsize=9, nothing of step2
#     after the corrected script: done=step1,step2,step3, still nothing of step2
#     a new user: fixed=yes
# Why it matters to a migration: "run once" has to mean "succeeded once". Where it means "was started once",
#   each failure (a tool that isn't installed, a full disk) makes a configuration that no later release
#   repairs, unless it gives the same step a new name. And a step must be able to rely on the one before it.
set -euo pipefail

version=5.103.0-2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ "$(dpkg-query --show --showformat '${Version}' libkf5config-bin 2>/dev/null)" = "$version" ] ||
    apt-get install --yes --quiet --no-install-recommends "libkf5config-bin=$version" > "$work/apt.log" 2>&1 ||
    { echo "cannot install libkf5config-bin $version"; exit 2; }
program=$(dpkg --listfiles libkf5config-bin | grep '/kconf_update$')
cd "$work"
export TMPDIR=$work XDG_DATA_DIRS=$work/share XDG_CONFIG_DIRS=$work/etc QT_QPA_PLATFORM=offscreen
mkdir -p share/kconf_update

cat > share/kconf_update/notes.upd <<'UPD'
Version=5
Id=step1
File=notesrc
Group=View
Key=color,colour
Id=step2
File=notesrc
Script=repair.sh,sh
Id=step3
File=notesrc
Group=View
Key=size,fontsize
UPD
repair() { # the script of step2: its exit status
    printf 'cat > /dev/null\necho "[View]"\necho "fixed=yes"\nexit %s\n' "$1" > share/kconf_update/repair.sh
}
update() { # the user
    export HOME=$work/$1 XDG_CONFIG_HOME=$work/$1/.config XDG_DATA_HOME=$work/$1/.local
    mkdir -p "$XDG_CONFIG_HOME"
    [ -e "$XDG_CONFIG_HOME/notesrc" ] || printf '[View]\ncolor=red\nsize=9\n' > "$XDG_CONFIG_HOME/notesrc"
    timeout 60 "$program" --debug > log.txt 2>&1
}
done_list() { grep '^done=' "$XDG_CONFIG_HOME/kconf_updaterc"; }
values() { sed -n '/^\[View\]/,$p' "$XDG_CONFIG_HOME/notesrc" | grep = | paste -sd ' '; }

repair 1
status=0; update first || status=$?
failed=$(grep -c 'error occurred while running' log.txt || true)
list=$(done_list)
first=$(values)
echo "scripts that failed: $failed, exit status $status, $list"
echo "the user's file: $first"

repair 0
touch -d '+1 hour' share/kconf_update/notes.upd
update first
again=$(values)
echo "after the corrected script: $(done_list), $again"
update second
second=$(values)
echo "a new user: $second"

[ "$failed" = 1 ] && [ "$status" = 0 ] && [ "$list" = done=step1,step2,step3 ] && [ "$first" = "colour=red fontsize=9" ] &&
    [ "$again" = "$first" ] && [[ $second == *fixed=yes* ]] || { echo "the behaviour has changed"; exit 1; }
echo "as described: the failed step is done for ever"
