#!/usr/bin/env bash
# Protocol Buffers: what an older app writes can lose against the unknown field that it kept.
#
# Expected: unknown fields are kept so that an older release doesn't destroy what a newer one wrote. If
#   the older release then sets a field itself, its later choice counts.
# What happens: the unknown field is written back BEHIND the known ones, and "the last one wins" is the
#   rule of the format. So for a oneof to which the newer release added a member, and for a closed enum
#   (proto2) to which it added a value, the newer app reads back its own old value: the change that the
#   user made in the older app is gone. In the older app everything looks right, also after its own
#   reload. A repeated closed enum keeps all its values but in another order: the unknown ones last.
# Seen on 2026-11-28 with protobuf 7.36.2 from PyPI (upb):
#     oneof: new app stored cloud, old app chose local and reads local, new app reads cloud
#     enum:  new app stored 2, old app chose 1 and reads 1, new app reads 2
#     repeated enum: new app stored [0, 2, 1], after the old app [0, 1, 2]
# Why it matters to a migration: a user who goes back a release, edits, and updates again runs into it,
#   as do two devices on different releases. "Unknown fields survive" is no promise that a downgrade is
#   harmless. A new alternative needs a field outside the oneof, or a version in the document that makes
#   the older app refuse or drop what it doesn't know before it writes.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet protobuf==7.36.2
cd "$work"

cat > run.py <<'PYTHON'
import google.protobuf
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.internal import api_implementation

print("protobuf", google.protobuf.__version__, api_implementation.Type())
Field = descriptor_pb2.FieldDescriptorProto


def release(syntax, members=(), values=()):
    """The message class as one release of the app has it."""
    file = descriptor_pb2.FileDescriptorProto(name="app.proto", package="app", syntax=syntax)
    message = file.message_type.add(name="Note")
    if members:
        message.oneof_decl.add(name="place")
        for number, name in enumerate(members, 1):
            message.field.add(name=name, number=number, type=Field.TYPE_STRING,
                              label=Field.LABEL_OPTIONAL, oneof_index=0)
    if values:
        kind = file.enum_type.add(name="Color")
        for number in values:
            kind.value.add(name="COLOR_%d" % number, number=number)
        for number, (name, label) in enumerate((("one", Field.LABEL_OPTIONAL), ("many", Field.LABEL_REPEATED)), 1):
            message.field.add(name=name, number=number, type=Field.TYPE_ENUM, type_name=".app.Color", label=label)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("app.Note"))


def through(new, old, edit):
    """Stored by the newer app, edited and reloaded by the older one, read by the newer one."""
    document = old.FromString(new.SerializeToString())
    edit(document)
    stored = document.SerializeToString()
    return old.FromString(stored), type(new).FromString(stored)


new, old = release("proto3", ("local", "usb", "cloud")), release("proto3", ("local", "usb"))
by_old, by_new = through(new(cloud="c"), old, lambda note: setattr(note, "local", "l"))
print("oneof: new app stored cloud, old app chose local and reads", by_old.WhichOneof("place") + ", new app reads",
      by_new.WhichOneof("place"))
assert by_old.WhichOneof("place") == "local" and by_new.WhichOneof("place") == "cloud"

new, old = release("proto2", values=(0, 1, 2)), release("proto2", values=(0, 1))
by_old, by_new = through(new(one=2, many=[0, 2, 1]), old, lambda note: setattr(note, "one", 1))
print("enum:  new app stored 2, old app chose 1 and reads %d, new app reads %d" % (by_old.one, by_new.one))
print("repeated enum: new app stored [0, 2, 1], after the old app", list(by_new.many))
assert (by_old.one, by_new.one) == (1, 2)
assert list(by_old.many) == [0, 1] and list(by_new.many) == [0, 1, 2]
PYTHON
venv/bin/python run.py
echo "as described: the unknown field wins over the older app's later choice"
