#!/usr/bin/env bash
# dpkg: whether a package reinstalled later is told its old version depends on an unrelated file.
#
# Expected: the configure script gets the version that was configured last, so that it can migrate old
#   data. After "remove" (not purge) and a new installation either every package gets the old version,
#   or none does.
# What happens: dpkg keeps the version of a removed package only as long as there is something left to purge:
#   a configuration file or a postrm script. Then it passes the old version, and a step guarded by "older
#   than 2.0" runs. Without either, "remove" is a purge, the version is forgotten, and the installation of
#   2.0 gets an empty one like the very first. The package's data under /var is there in both cases, since
#   dpkg never knew it.
# Seen on 2026-11-28 with dpkg 1.21.22 (Debian 12); install 1.0, remove, install 2.0:
#     plain:    previous version ()      data of 1.0 still there
#     conffile: previous version (1.0)   data of 1.0 still there
#     postrm:   previous version (1.0)   data of 1.0 still there
# Why it matters to a migration: "no previous version" doesn't mean "no old data". A release that gives up its
#   last configuration file loses the migration of users who remove and reinstall, and no test of the
#   scripts shows it. The version belongs beside the data, and a first run has to look for data.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
version=$(dpkg-query --show --showformat '${Version}' dpkg)
echo "dpkg $version"
[ "$version" = 1.21.22 ] || { echo "needs dpkg 1.21.22"; exit 2; }

build() { # kind, version
    rm -rf tree
    mkdir -p tree/DEBIAN "tree/usr/share/notes-$1"
    echo "$2" > "tree/usr/share/notes-$1/release"
    printf 'Package: notes-%s\nVersion: %s\nArchitecture: all\nMaintainer: A User <user@example.org>\nDescription: notes\n' \
        "$1" "$2" > tree/DEBIAN/control
    cat > tree/DEBIAN/postinst <<'SH'
#!/bin/sh
echo "told ($2)"
mkdir -p "$DPKG_ROOT/var/lib/notes"
touch "$DPKG_ROOT/var/lib/notes/data"
SH
    chmod 755 tree/DEBIAN/postinst
    if [ "$1" = conffile ]; then
        mkdir tree/etc
        echo "color=red" > tree/etc/notes.conf
        echo /etc/notes.conf > tree/DEBIAN/conffiles
    elif [ "$1" = postrm ]; then
        printf '#!/bin/sh\nexit 0\n' > tree/DEBIAN/postrm
        chmod 755 tree/DEBIAN/postrm
    fi
    dpkg-deb --root-owner-group --build tree "$1-$2.deb" > build.log
}
# A root of its own; the scripts run outside of it and get its path in DPKG_ROOT
package() { dpkg --root="$work/system-$kind" --force-script-chrootless --force-not-root --log=/dev/null "$@" 2>&1; }

result=
for kind in plain conffile postrm; do
    build $kind 1.0
    build $kind 2.0
    mkdir -p system-$kind/var/lib/dpkg/{info,updates,triggers} system-$kind/{etc,usr/share}
    touch system-$kind/var/lib/dpkg/{status,available}
    package --install $kind-1.0.deb > first.log
    package --remove notes-$kind > remove.log
    told=$(package --install $kind-2.0.deb | grep -o 'told (.*)')
    [ -e system-$kind/var/lib/notes/data ] && data="still there" || data="gone"
    echo "$kind: previous version ${told#told } data of 1.0 $data"
    result="$result$kind${told#told }$data;"
done
[ "$result" = "plain()still there;conffile(1.0)still there;postrm(1.0)still there;" ] ||
    { echo "the behaviour has changed"; exit 1; }
echo "as described: only a package with a configuration file or a postrm script is remembered"
