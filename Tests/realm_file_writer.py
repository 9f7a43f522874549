"""Writes small Realm files of format 24, such as no SDK makes, for tests of the reader.

A table is a dictionary: `name`, `columns`, `objects`, and perhaps `kind` (1 embedded, 2
asymmetric). A column is its name, its type, its attributes and the number of its target's table;
objects are rows of values with keys 0, 1, 2...
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

INT, STRING, MIXED, LINK = 0, 2, 6, 12
NULLABLE, LIST, DICTIONARY = 16, 32, 64
NO_TABLE = 0x7FFFFFFF


class Link(int):
    """The key of an object, in a dictionary."""


class Writer:
    def __init__(self) -> None:
        self.content = bytearray(24)
        self.shared: int | None = None

    def node(self, size: int, payload: bytes, code: int, kind: int = 0, refs: bool = False) -> int:
        """A node, and where it is."""
        place = len(self.content)
        self.content += b"AAAA" + bytes([refs << 6 | kind << 3 | code]) + size.to_bytes(3, "big")
        self.content += payload + bytes(-len(payload) % 8)
        return place

    def numbers(self, numbers: Sequence[int]) -> int:
        return self.node(len(numbers), struct.pack(f"<{len(numbers)}q", *numbers), 7)

    def refs(self, slots: Sequence[int]) -> int:
        return self.node(len(slots), struct.pack(f"<{len(slots)}q", *slots), 7, refs=True)

    def texts(self, texts: Sequence[str | None]) -> int:
        payload = b""
        for text in texts:
            data = (text or "").encode()
            payload += data.ljust(63, b"\0") + bytes([64 if text is None else 63 - len(data)])
        return self.node(len(texts), payload, 7, kind=1)

    def mixed(self, values: Sequence[Any], target: int) -> int:
        """Values of a dictionary: null, texts and links."""
        composites: list[int] = []
        texts: list[str] = []
        pairs: list[int] = []
        for value in values:
            if value is None:
                composites.append(0)
            elif isinstance(value, Link):
                composites.append((len(pairs) // 2) << 8 | 2 << 5 | 17)
                pairs += [target, value]
            else:
                composites.append(len(texts) << 8 | 3 << 5 | 3)
                texts.append(value)
        return self.refs([
            self.numbers(composites), 0, self.numbers(pairs) if pairs else 0,
            self.texts(texts) if texts else 0,
        ])  # fmt: skip

    def leaf(self, column: tuple[str, int, int, int], values: Sequence[Any]) -> int:
        _, kind, attributes, target = column
        if attributes & DICTIONARY:
            return self.refs([
                self.refs([self.texts(list(value)), self.mixed(list(value.values()), target)])
                if value else 0
                for value in values
            ])  # fmt: skip
        if attributes & LIST:
            return self.refs([self.numbers(value) if value else 0 for value in values])
        if kind == STRING:
            return self.texts(values)
        if kind == LINK:
            return self.numbers([0 if value is None else value + 1 for value in values])
        return self.numbers(values)

    def table(self, table: dict[str, Any], number: int) -> int:
        columns, objects = table["columns"], table["objects"]
        keys = [
            index | column[1] << 16 | (column[2] & 255) << 22 | (index + 1) << 30
            for index, column in enumerate(columns)
        ]
        spec = self.refs([
            self.numbers([column[1] for column in columns]),
            self.texts([column[0] for column in columns]),
            self.numbers([column[2] for column in columns]), 0, 0, self.numbers(keys),
        ])  # fmt: skip
        leaves = [
            self.leaf(column, [row[index] for row in objects])
            for index, column in enumerate(columns)
        ]
        cluster = self.refs([2 * len(objects) + 1, *leaves])
        if table.get("shared"):
            cluster = self.shared = self.shared or cluster
        targets = [column[3] if column[1] == LINK else NO_TABLE for column in columns]
        opposite = self.numbers(targets), self.numbers([-1] * len(columns))
        return self.refs([
            spec, 0, cluster, 2 * number + 1, 0, 1, 1, *opposite, 1, 1, 0,
            2 * table.get("kind", 0) + 1, 0,
        ])  # fmt: skip


def write(path: Path, tables: Sequence[dict[str, Any]]) -> None:
    writer = Writer()
    places = [writer.table(table, number) for number, table in enumerate(tables)]
    names = writer.texts([table["name"] for table in tables])
    tables_place = writer.refs(places)
    size = len(writer.content) + 8 + 3 * 8
    top = writer.refs([names, tables_place, 2 * size + 1])
    writer.content[:24] = struct.pack("<QQ", top, 0) + b"T-DB" + bytes([24, 24, 0, 0])
    path.write_bytes(writer.content)
