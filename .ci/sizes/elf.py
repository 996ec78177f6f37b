"""Reads what an object file of ELF, 64 bits, little-endian, has in it: its sections, its symbols and its relocations."""

import struct
from collections import namedtuple

Section = namedtuple("Section", "name kind flags offset size link info entry")
Symbol = namedtuple("Symbol", "name info section value size")
Relocation = namedtuple("Relocation", "offset symbol addend")

SYMBOLS, RELOCATIONS, NO_BYTES = 2, 4, 8
ALLOCATED, CODE, MERGED, STRINGS = 0x2, 0x4, 0x10, 0x20
OF_A_SECTION, LOCAL = 3, 0
# Numbers of sections from here on are no sections: absolute values and common symbols.
RESERVED = 0xFF00


def text_at(table, offset):
    return table[offset:table.index(b"\0", offset)].decode()


class Object:
    def __init__(self, path):
        self.bytes = path.read_bytes()
        if self.bytes[:6] != b"\x7fELF\x02\x01":
            raise ValueError(f"{path} is no object of ELF with 64 bits")
        place, = struct.unpack_from("<Q", self.bytes, 0x28)
        size, count, names = struct.unpack_from("<HHH", self.bytes, 0x3A)
        heads = [struct.unpack_from("<IIQQQQIIQQ", self.bytes, place + i * size) for i in range(count or 1)]
        if count == 0:
            # More sections than the number of 16 bits holds: the first one's size is their number.
            count = heads[0][5]
            heads = [struct.unpack_from("<IIQQQQIIQQ", self.bytes, place + i * size) for i in range(count)]
        if names == 0xFFFF:
            names = heads[0][6]
        table = self.bytes[heads[names][4]:heads[names][4] + heads[names][5]]
        self.sections = [
            Section(text_at(table, h[0]), h[1], h[2], h[4], h[5], h[6], h[7], h[9]) for h in heads
        ]
        self.symbols = []
        for section in self.sections:
            if section.kind == SYMBOLS:
                self.symbols = self.read_symbols(section)

    def content(self, section):
        return b"" if section.kind == NO_BYTES else self.bytes[section.offset:section.offset + section.size]

    def read_symbols(self, section):
        names = self.content(self.sections[section.link])
        extended = next((self.content(s) for s in self.sections if s.name == ".symtab_shndx"), None)
        found = []
        for i, (name, info, _, index, value, size) in enumerate(struct.iter_unpack("<IBBHQQ", self.content(section))):
            if index == 0xFFFF:
                index, = struct.unpack_from("<I", extended, 4 * i)
            elif index >= RESERVED:
                index = 0
            found.append(Symbol(text_at(names, name), info, index, value, size))
        return found

    def relocations(self):
        """The number of a section, and what stands in it for the addresses of others."""
        for section in self.sections:
            if section.kind == RELOCATIONS:
                rows = struct.iter_unpack("<QQq", self.content(section))
                yield section.info, [Relocation(offset, info >> 32, addend) for offset, info, addend in rows]
