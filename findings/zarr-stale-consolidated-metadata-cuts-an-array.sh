#!/usr/bin/env bash
# Zarr: a change made through a group isn't in its consolidated metadata, and the next append cuts the array.
#
# Expected: a group with consolidated metadata (one file that repeats the metadata of all arrays, for fast
#   opening) is kept in step if one changes its arrays through the group itself, or the copy is only used for
#   reading, or it is seen to be old.
# What happens: resizing an array, changing an attribute or adding an array writes the array's own metadata and
#   leaves the copy as it was. Every later opening of the group believes the copy, also one for writing: the
#   new array "isn't there", the old unit is back. And an append through it begins at the old length and
#   writes the shape that it computed from it: the rows that the migration had added are cut off for everybody.
#   The format versions 2 and 3 behave alike. No warning. With use_consolidated=False all is seen.
# Seen on 2026-11-28 with zarr 3.1.6 from PyPI:
#     written by the migration: [1, 2, 3, 4, 5], unit ms, arrays a and b
#     the group opened again: [1, 2, 3], unit s, array a only
#     array after an append of 9 through the group: [1, 2, 3, 9]
# Why it matters to a migration: a second copy of the metadata made for speed is part of the data. A step that
#   changes one must write the other, as its last act, or remove it; and its check has to read the way the app
#   reads, not through the array that it has just written. The same goes for every index or manifest file.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet zarr==3.1.6
cd "$work"

cat > run.py <<'PYTHON'
import warnings

import zarr

print("zarr", zarr.__version__)
for version in (2, 3):
    path = "store%d" % version
    with warnings.catch_warnings():  # that consolidated metadata isn't in the specification of version 3 yet
        warnings.simplefilter("ignore")
        group = zarr.open_group(path, mode="w", zarr_format=version)
        group.create_array("a", shape=(3,), dtype="int32")[:] = [1, 2, 3]
        group["a"].attrs["unit"] = "s"
        zarr.consolidate_metadata(path)

    # The migration, through the group
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        group = zarr.open_group(path, mode="a")
        array = group["a"]
        array.resize((5,))
        array[3:] = [4, 5]
        array.attrs["unit"] = "ms"
        group.create_array("b", shape=(1,), dtype="int32")

        # The app
        group = zarr.open_group(path, mode="a")
        own = zarr.open_array(path + "/a", mode="r")
        print("format", version)
        print("  written by the migration:", own[:].tolist(), own.attrs["unit"])
        print("  the group opened again:", group["a"][:].tolist(), group["a"].attrs["unit"], sorted(group.array_keys()))
        assert own[:].tolist() == [1, 2, 3, 4, 5] and own.attrs["unit"] == "ms"
        assert group["a"][:].tolist() == [1, 2, 3] and group["a"].attrs["unit"] == "s"
        assert sorted(group.array_keys()) == ["a"]
        whole = zarr.open_group(path, mode="r", use_consolidated=False)
        assert sorted(whole.array_keys()) == ["a", "b"] and whole["a"].shape == (5,)

        group["a"].append([9])
        own = zarr.open_array(path + "/a", mode="r")
        print("  array after an append of 9 through the group:", own[:].tolist())
        assert own[:].tolist() == [1, 2, 3, 9]
    print("  warnings:", [str(one.message) for one in warned])
    assert not warned
PYTHON
venv/bin/python run.py
echo "as described: the group reads and appends by the old metadata"
