"""Counts the bytes of the core that a client can reach: what a linker keeps that strips dead code, as Apple's does.

The objects are built with a section for each function. The walk begins at the client's program and at each record of a type
or of a conformance, which such a linker keeps, since the runtime finds types by them. From there it follows what the
relocations name. Tables for unwinding aren't counted, nor is memory that begins as zeros.
"""

from bisect import bisect_right
from collections import defaultdict

from . import elf

# The runtime reads these by themselves.
RECORDS = ("swift5_protocol_conformances", "swift5_type_metadata", "swift5_protocols")
UNWINDING = (".eh_frame",)


class Parts:
    """The parts of the objects: of each section what lies between two symbols."""

    def __init__(self):
        self.sizes = []       # bytes
        self.own = []         # whether it is the core's
        self.records = []     # whether the walk begins there
        self.edges = []       # what it names: numbers of parts, and names of symbols of other objects
        self.by_name = {}

    def add(self, size, own, record):
        self.sizes.append(size)
        self.own.append(own)
        self.records.append(record)
        self.edges.append(set())
        return len(self.sizes) - 1

    def read(self, path, own):
        """Adds the parts of an object."""
        object = elf.Object(path)
        starts = defaultdict(set)
        for symbol in object.symbols:
            if symbol.section and symbol.info & 15 != elf.OF_A_SECTION:
                starts[symbol.section].add(symbol.value)
        places = {}
        for number, section in enumerate(object.sections):
            if not section.flags & elf.ALLOCATED or section.name.startswith(UNWINDING):
                continue
            begins = starts[number] | {0}
            if section.flags & elf.STRINGS:
                # The linker keeps or drops each text by itself.
                content = object.content(section)
                begins |= {i + 1 for i, byte in enumerate(content) if byte == 0 and i + 1 < len(content)}
            begins = sorted(begin for begin in begins if begin == 0 or begin < section.size)
            ends = begins[1:] + [section.size]
            record = section.name in RECORDS
            counted = section.kind != elf.NO_BYTES
            places[number] = begins, [
                self.add((end - begin) * counted, own, record) for begin, end in zip(begins, ends)
            ]

        def part(number, offset):
            begins, parts = places[number]
            return parts[bisect_right(begins, max(offset, 0)) - 1]

        for symbol in object.symbols:
            # Of several weak definitions the linker takes the first.
            if symbol.section in places and symbol.info >> 4 != elf.LOCAL:
                self.by_name.setdefault(symbol.name, part(symbol.section, symbol.value))
        for number, rows in object.relocations():
            if number not in places:
                continue
            # An instruction counts from its end, which is four bytes after the place of the address.
            ahead = 4 if object.sections[number].flags & elf.CODE else 0
            for row in rows:
                symbol = object.symbols[row.symbol]
                edges = self.edges[part(number, row.offset)]
                if symbol.info & 15 == elf.OF_A_SECTION:
                    if symbol.section in places:
                        edges.add(part(symbol.section, symbol.value + row.addend + ahead))
                elif symbol.info >> 4 == elf.LOCAL:
                    if symbol.section in places:
                        edges.add(part(symbol.section, symbol.value))
                else:
                    edges.add(symbol.name)

    def walk(self, program):
        """The bytes of the core, all of them and those that are reached from the program's parts."""
        seen = set()
        waiting = [i for i in range(len(self.sizes)) if self.records[i] or i in program]
        while waiting:
            number = waiting.pop()
            if number in seen:
                continue
            seen.add(number)
            for edge in self.edges[number]:
                target = self.by_name.get(edge) if isinstance(edge, str) else edge
                if target is not None:
                    waiting.append(target)
        return sum(self.sizes[i] for i in seen if self.own[i])


def count(objects, module):
    """The bytes of the module that the program of these objects reaches."""
    parts, program = Parts(), set()
    for path in objects:
        own = path.parent.name == f"{module}.build"
        before = len(parts.sizes)
        parts.read(path, own)
        if not own:
            program.update(range(before, len(parts.sizes)))
    if not any(parts.own):
        raise ValueError(f"none of the program's objects is one of {module}")
    return parts.walk(program)
