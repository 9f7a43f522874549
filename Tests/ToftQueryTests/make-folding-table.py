#!/usr/bin/env python3
"""Writes Sources/ToftQuery/Text/FoldingTable.swift from the Unicode data of this Python.

Run it from the root of the repository. Simple case folding (one code point to one) is
str.casefold() if that gives one code point, otherwise str.lower() if that does, otherwise nothing:
the statuses C and S of CaseFolding.txt. Accents are what canonical decomposition splits off into
the blocks of combining diacritical marks.
"""

import unicodedata

MARKS = [(0x0300, 0x036F), (0x1AB0, 0x1AFF), (0x1DC0, 0x1DFF), (0x20D0, 0x20FF), (0xFE20, 0xFE2F)]


BARE_LETTERS = "The letter without its accents, of letters that have one code point with them."


def is_mark(code):
    return any(first <= code <= last for first, last in MARKS)


def case_fold(code):
    folded = chr(code).casefold()
    if len(folded) != 1:
        folded = chr(code).lower()
    return ord(folded) if len(folded) == 1 else code


def strip_accents(code):
    rest = [ord(c) for c in unicodedata.normalize("NFD", chr(code))]
    bare = [c for c in rest if not is_mark(c)]
    return bare[0] if len(bare) == 1 and len(bare) < len(rest) else code


def scalars():
    return (c for c in range(0x80, 0x110000) if not 0xD800 <= c < 0xE000)


def runs(mapping):
    """Neighbours with the same distance to their target, one or two apart:

    (first, last, step, distance).
    """
    result = []
    for code in sorted(mapping):
        distance = mapping[code] - code
        if result:
            first, last, step, previous = result[-1]
            gap = code - last
            if previous == distance and gap in (1, 2) and (step == gap or first == last):
                result[-1] = (first, code, gap, distance)
                continue
        result.append((code, code, 1, distance))
    return result


def swift_array(name, mapping, comment):
    entries = runs(mapping)
    lines = [f"    /// {comment}", f"    static let {name}: [Run] = ["]
    row = "       "
    for first, last, step, distance in entries:
        entry = f" .init(0x{first:X}, 0x{last:X}, {step}, {distance}),"
        if len(row) + len(entry) > 140:
            lines.append(row)
            row = "       "
        row += entry
    lines += [row, "    ]"]
    print(name, len(mapping), "code points in", len(entries), "runs")
    return "\n".join(lines)


case = {c: case_fold(c) for c in scalars() if case_fold(c) != c}
accents = {c: strip_accents(c) for c in scalars() if strip_accents(c) != c}
with open("Sources/ToftQuery/Text/FoldingTable.swift", "w") as file:
    file.write(
        f"""// Made by Tests/ToftQueryTests/make-folding-table.py from Unicode
// {unicodedata.unidata_version}. Do not edit.

/// Which code points beyond ASCII count as which others.
enum FoldingTable {{
    /// Code points from `first` to `last`, every `step`-th of which maps to the one `distance`
    /// further on.
    struct Run {{
        let first: UInt32
        let last: UInt32
        let step: UInt32
        let distance: Int32

        init(_ first: UInt32, _ last: UInt32, _ step: UInt32, _ distance: Int32) {{
            self.first = first
            self.last = last
            self.step = step
            self.distance = distance
        }}
    }}

{swift_array("caseFolding", case, "Simple case folding.")}

{swift_array("bareLetters", accents, BARE_LETTERS)}
}}
"""
    )
