#!/usr/bin/env python3
"""Looks in machine code for throwing functions that end in a copy: check_tail_copies.py FILE...

Swift's error register on x86-64 is r12: zero on return means success. A compiler that turns a copy
of memory at the very end of a throwing function into a jump to memmove, memcpy or memset can leave
another value there, and the caller then sees an error that nobody threw. Seen with Swift 6.3.1 at
-O. Such a function uses r12 and never restores it. The cure is to copy through a function that is
not inlined, as `LittleEndian.swift` does: only jumps to the copying functions themselves are
affected.
"""

import re
import subprocess
import sys

FUNCTION = re.compile(r"^[0-9a-f]+ <(.+)>:$")
COPY = re.compile(r"\bjmp\b.*<(?:memmove|memcpy|memset|bzero)(?:@plt)?>")
SAVES = re.compile(r"^mov\s+%r12,(-?0x[0-9a-f]+\(%r[bs]p\))$")
RELOADS = re.compile(r"^mov\s+(-?0x[0-9a-f]+\(%r[bs]p\)),%r12$")
WRITES = re.compile(r",\s*%r12[dwb]?$|\b(?:pop|inc|dec|neg|not)\w*\s+%r12")


def suspects(path: str) -> list[str]:
    found: list[str] = []
    name, copies, writes, restores, saved = "", False, False, False, set[str]()
    listing = subprocess.Popen(
        ["objdump", "-d", "--no-show-raw-insn", path], stdout=subprocess.PIPE, text=True
    )
    assert listing.stdout is not None
    for line in listing.stdout:
        start = FUNCTION.match(line)
        if start:
            if copies and writes and not restores:
                found.append(name)
            name, copies, writes, restores, saved = start.group(1), False, False, False, set()
            continue
        instruction = line.split("\t")[-1].strip() if "\t" in line else ""
        copies |= bool(COPY.search(instruction))
        restores |= instruction.startswith("pop") and "%r12" in instruction
        if save := SAVES.match(instruction):
            saved.add(save.group(1))
        reload = RELOADS.match(instruction)
        if reload and reload.group(1) in saved:
            continue  # gives the register the value it came with
        writes |= bool(WRITES.search(instruction)) and not instruction.startswith(
            ("cmp", "test", "push")
        )
    if copies and writes and not restores:
        found.append(name)
    return found


def main() -> int:
    if subprocess.run(["uname", "-m"], capture_output=True, text=True).stdout.strip() != "x86_64":
        print("not x86-64: nothing to look at")
        return 0
    bad = [(path, name) for path in sys.argv[1:] for name in suspects(path)]
    for path, name in bad:
        print(f"{path}: {name}")
    print(f"{len(bad)} throwing functions end in a jump to a copy")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
