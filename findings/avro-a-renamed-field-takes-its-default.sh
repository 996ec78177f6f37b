#!/usr/bin/env bash
# Avro: whether a renamed field keeps its value depends on the library that reads it.
#
# Expected: Avro resolves an old record against a newer schema. A field that was renamed gives its old name as an
#   alias, an enum that lost a symbol names a default symbol, and every library, above all the one of the
#   project itself, reads old records the same way.
# What happens: the specification leaves it to the library whether it follows aliases, and the project's own one
#   for Python doesn't. If the renamed field has a default, each old record gets the default in place of its
#   value, without an error; only without a default it raises. The default symbol isn't optional, and it raises
#   there too. A long read into a float field stays the integer that it was. fastavro does all three.
# Seen on 2026-11-28 with avro 1.12.2 and fastavro 1.13.1 from PyPI; the stored record is size 12, kind "C":
#     renamed, with a default of 10:  avro 10   fastavro 12
#     renamed, without a default:     avro SchemaResolutionException   fastavro 12
#     unknown symbol, default "A":    avro SchemaResolutionException   fastavro A
# Why it matters to a migration: "the format does the renaming for us" holds for each reader only after a test
#   with its library, and a default makes the failure silent. First give the new field without a default, so
#   that a reader without aliases raises; or write a field of the new name beside the old one for a release.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet avro==1.12.2 fastavro==1.13.1
cd "$work"

cat > run.py <<'PYTHON'
import io, json

import avro, avro.io, avro.schema
import fastavro

print("avro", avro.__version__, "fastavro", fastavro.__version__)


def record(**field):
    return {"type": "record", "name": "Setting", "fields": [field]}


def by_avro(stored, written, read):
    parse = lambda schema: avro.schema.parse(json.dumps(schema))
    return avro.io.DatumReader(parse(written), parse(read)).read(avro.io.BinaryDecoder(io.BytesIO(stored)))


def by_fastavro(stored, written, read):
    return fastavro.schemaless_reader(io.BytesIO(stored), fastavro.parse_schema(written), fastavro.parse_schema(read))


def both(label, value, written, read):
    """What the two libraries make of a record that the older release wrote."""
    file = io.BytesIO()
    fastavro.schemaless_writer(file, fastavro.parse_schema(written), value)
    found = []
    for reader in (by_avro, by_fastavro):
        try:
            found.append(*reader(file.getvalue(), written, read).values())
        except (avro.errors.SchemaResolutionException, fastavro.read.SchemaResolutionError) as error:
            found.append(type(error).__name__)
    print("%-31s avro %s   fastavro %s" % (label + ":", *found))
    return found


old = record(name="size", type="int")
renamed = dict(name="fontSize", type="int", aliases=["size"])
assert both("renamed, with a default of 10", {"size": 12}, old, record(default=10, **renamed)) == [10, 12]
assert both("renamed, without a default", {"size": 12}, old, record(**renamed)) == ["SchemaResolutionException", 12]


def kind(symbols, **more):
    return record(name="kind", type=dict(type="enum", name="Kind", symbols=symbols, **more))


assert both('unknown symbol, default "A"', {"kind": "C"}, kind(["A", "B", "C"]), kind(["A", "B"], default="A")) == [
    "SchemaResolutionException", "A"]
assert both("long read as a float", {"n": 2**53 + 1}, record(name="n", type="long"), record(name="n", type="float")) == [
    2**53 + 1, float(2**53)]
PYTHON
venv/bin/python run.py
echo "as described: the alias is followed by one library only"
