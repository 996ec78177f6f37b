#!/usr/bin/env bash
# Yjs documents (pycrdt): "create the container if it is missing" on two devices throws one side away.
#
# Expected: a document that merges without conflicts merges this too. Two devices that are offline run the same
#   migration, each creates the missing map "settings" and puts its user's values in; after the sync the map
#   holds the values of both.
# What happens: a map that is stored in a map is a value with an identity of its own. The two devices have made
#   two different maps, the key can hold one of them, and the other is dropped with all that was ever written to
#   it, also what the device writes after the migration, until the sync. Both devices agree on the loss; which
#   side loses is drawn by their random ids. A map at the root of the document has no such identity, only its
#   name, and merges as expected. Values that the migration doesn't change behave well.
# Seen on 2026-11-28 with pycrdt 0.14.13 from PyPI (over client ids that let each side win once):
#     nested map: {'laptop': 'large'} or {'phone': 'dark'}, never both
#     map at the root: {'laptop': 'large', 'phone': 'dark'}
# Why it matters to a migration: a migration that runs once per device runs several times per document. A step
#   on synced data must give the same result where it ran twice: containers at the root or made by the first
#   release only, keys in place of new lists, or one device that migrates for all of them.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet pycrdt==0.14.13
cd "$work"

cat > run.py <<'PYTHON'
import importlib.metadata

from pycrdt import Doc, Map

print("pycrdt", importlib.metadata.version("pycrdt"))

first = Doc(client_id=1)
first.get("app", type=Map)["schema"] = 1
published = first.get_update()


def device(identity, key, value, nested):
    """A device that had the published document and migrated it while it was offline."""
    document = Doc(client_id=identity)
    document.apply_update(published)
    app = document.get("app", type=Map)
    if nested:
        if "settings" not in app:
            app["settings"] = Map()
        settings = app["settings"]
    else:
        settings = document.get("settings", type=Map)
    settings[key] = value
    app["schema"] = 2
    return document


def merged(phone_identity, laptop_identity, nested):
    phone = device(phone_identity, "phone", "dark", nested)
    laptop = device(laptop_identity, "laptop", "large", nested)
    to_phone, to_laptop = laptop.get_update(phone.get_state()), phone.get_update(laptop.get_state())
    phone.apply_update(to_phone)
    laptop.apply_update(to_laptop)
    both = [(d.get("app", type=Map)["settings"] if nested else d.get("settings", type=Map)).to_py() for d in (phone, laptop)]
    assert both[0] == both[1], "the devices differ"
    assert phone.get("app", type=Map)["schema"] == 2
    return both[0]


nested = [merged(2, 3, True), merged(3, 2, True)]
root = [merged(2, 3, False), merged(3, 2, False)]
print("nested map:", nested[0], "or", nested[1])
print("map at the root:", root[0], "and", root[1])
assert sorted(map(sorted, nested)) == [["laptop"], ["phone"]]
assert root[0] == root[1] == {"phone": "dark", "laptop": "large"}
PYTHON
venv/bin/python run.py
echo "as described: of two containers made for the same key one is lost"
