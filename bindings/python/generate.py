#!/usr/bin/env python3
"""Writes toft/_ffi.py from include/toft.h: the constants, structures and prototypes of the C API
as ctypes declarations.

    python generate.py            writes the file
    python generate.py --check    fails when the file is not what the header gives

The header is regular C11: the parser below reads that subset and stops, naming the place, at
anything it does not know. A declaration is never skipped in silence.
"""

from __future__ import annotations

import argparse
import keyword
import re
import sys
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
HEADER = HERE.parent.parent / "include" / "toft.h"
TARGET = HERE / "toft" / "_ffi.py"


class HeaderError(Exception):
    """The header holds something that this parser does not know."""


@dataclass
class Parameter:
    name: str
    type: str


@dataclass
class Function:
    name: str
    result: str
    parameters: list[Parameter]


@dataclass
class Member:
    name: str
    type: str


@dataclass
class Structure:
    name: str
    members: list[Member]
    union: list[Member] = field(default_factory=list)


@dataclass
class Enumeration:
    name: str
    values: list[tuple[str, int]]


@dataclass
class Header:
    """Everything that the header declares, in its order."""

    macros: list[tuple[str, int | str]] = field(default_factory=list)
    enumerations: list[Enumeration] = field(default_factory=list)
    structures: list[Structure] = field(default_factory=list)
    handles: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    """Structures that another header declares: only their addresses are passed."""
    aliases: dict[str, str] = field(default_factory=dict)
    callbacks: list[Function] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)


# ------------------------------------------------------------------------------------------ Reading

_MACRO = re.compile(r'#define\s+(TOFT_[A-Z_]+)\s+("[^"]*"|\d+|\(-1\)|UINT64_MAX)$')
_HANDLE = re.compile(r"typedef struct (\w+) (\w+)")
_FOREIGN = re.compile(r"struct (\w+)")
_ENUMERATION = re.compile(r"TOFT_ENUM\((?P<name>\w+), \w+\) \{(?P<body>.*)\}", re.S)
_STRUCTURE = re.compile(r"typedef struct \w+ \{(?P<body>.*)\} (?P<name>\w+)", re.S)
_UNION = re.compile(r"union \{(?P<body>.*?)\};", re.S)
_CALLBACK = re.compile(r"typedef (?P<result>.+?)\(\*(?P<name>\w+)\)\((?P<parameters>.*)\)", re.S)
_ALIAS = re.compile(r"typedef (\w+) (\w+)")
_FUNCTION = re.compile(r"TOFT_API (?P<result>.+?)(?P<name>\w+)\((?P<parameters>.*)\)", re.S)
_ARRAY = re.compile(r"(?P<type>\w+) (?P<name>\w+)\[(?P<count>\d+)\]")
_DECLARATOR = re.compile(r"(?P<type>.+?)(?P<name>\w+)", re.S)


def parse(text: str) -> Header:
    """Reads the text of a header."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S).replace("\\\n", " ")
    header = Header()
    plain = []
    for line in text.split("\n"):
        if not line.lstrip().startswith("#"):
            plain.append(line)
        elif macro := _MACRO.match(line.strip()):
            header.macros.append((macro[1], _constant(macro[2])))
    code = "\n".join(plain).replace('extern "C" {', "")
    for declaration in _declarations(code):
        _read(declaration, header)
    return header


def _constant(text: str) -> int | str:
    known = {"UINT64_MAX": 2**64 - 1, "(-1)": -1}
    if text in known:
        return known[text]
    return text[1:-1] if text.startswith('"') else int(text)


def _declarations(code: str) -> list[str]:
    """Cuts the code at each semicolon, or inline function's end, outside of all braces."""
    found, start, depth = [], 0, 0
    for index, character in enumerate(code):
        depth += (character == "{") - (character == "}")
        piece = code[start : index + 1].strip()
        if depth < 0:  # the end of extern "C"
            depth, start = 0, index + 1
        elif depth == 0 and (
            character == ";" or (character == "}" and piece.startswith("static inline"))
        ):
            found.append(piece.rstrip(";").strip())
            start = index + 1
    if rest := code[start:].strip():
        raise HeaderError(f"the header ends within a declaration: {rest[:80]!r}")
    return found


def _read(declaration: str, header: Header) -> None:
    if declaration.startswith("static inline") or not declaration:
        return
    if match := _FOREIGN.fullmatch(declaration):
        header.foreign.append(match[1])
        return
    if match := _FUNCTION.fullmatch(declaration):
        header.functions.append(_function(match))
    elif match := _ENUMERATION.fullmatch(declaration):
        header.enumerations.append(Enumeration(match["name"], _enumerators(match["body"])))
    elif match := _STRUCTURE.fullmatch(declaration):
        header.structures.append(_structure(match["name"], match["body"]))
    elif match := _HANDLE.fullmatch(declaration):
        header.handles.append(match[2])
    elif match := _CALLBACK.fullmatch(declaration):
        header.callbacks.append(_function(match))
    elif match := _ALIAS.fullmatch(declaration):
        header.aliases[match[2]] = match[1]
    else:
        raise HeaderError(f"not a declaration this generator knows: {declaration!r}")


def _enumerators(body: str) -> list[tuple[str, int]]:
    found = []
    for item in filter(None, (item.strip() for item in body.split(","))):
        match = re.fullmatch(r"(\w+)\s*=\s*(-?\d+)", item)
        if not match:
            raise HeaderError(f"an enumerator without a plain number: {item!r}")
        found.append((match[1], int(match[2])))
    return found


def _structure(name: str, body: str) -> Structure:
    union: list[Member] = []
    if match := _UNION.search(body):
        union = _members(match["body"])
        body = body[: match.start()] + body[match.end() :]
    return Structure(name, _members(body), union)


def _members(body: str) -> list[Member]:
    return [
        Member(*_declarator(item))
        for item in filter(None, (item.strip() for item in body.split(";")))
    ]


def _function(match: re.Match[str]) -> Function:
    items = [item.strip() for item in match["parameters"].split(",")]
    parameters = [] if items == ["void"] else [Parameter(*_declarator(item)) for item in items]
    return Function(match["name"], _type(match["result"]), parameters)


def _declarator(text: str) -> tuple[str, str]:
    if match := _ARRAY.fullmatch(text):
        return match["name"], f"{match['type']} [{match['count']}]"
    match = _DECLARATOR.fullmatch(text)
    if not match:
        raise HeaderError(f"not a declarator this generator knows: {text!r}")
    return match["name"], _type(match["type"])


def _type(text: str) -> str:
    """A type with its words in one form: `toft_object **`, without `const` and `struct`."""
    words = re.sub(r"\b(const|struct)\b", " ", text).replace("*", " ").split()
    return " ".join(words + ["*" * text.count("*")]).strip()


# ------------------------------------------------------------------------------------------ Writing

_SCALARS = {
    "bool": "c_bool",
    "int": "c_int",
    "float": "c_float",
    "double": "c_double",
    "size_t": "c_size_t",
    "uint8_t": "c_uint8",
    "int32_t": "c_int32",
    "uint32_t": "c_uint32",
    "int64_t": "c_int64",
    "uint64_t": "c_uint64",
}
_ERROR_FUNCTION = "toft_last_error"  # what the check itself calls
_PYTHON_TYPES = {"c_bool": "bool", "c_float": "float", "c_double": "float"}


class Writer:
    """Turns what a header declares into the text of _ffi.py."""

    def __init__(self, header: Header) -> None:
        self.header = header
        self._enumerations = {enumeration.name for enumeration in header.enumerations}
        self._structures = {structure.name for structure in header.structures}
        self._callbacks = {callback.name for callback in header.callbacks}

    def text(self) -> str:
        parts = [_PREFACE, self.constants()]
        parts += [self.enumeration(enumeration) for enumeration in self.header.enumerations]
        takes_structures = {
            callback.name: any(each.type in self._structures for each in callback.parameters)
            for callback in self.header.callbacks
        }
        early = [each for each in self.header.callbacks if not takes_structures[each.name]]
        late = [each for each in self.header.callbacks if takes_structures[each.name]]
        parts += [self.callback(callback) for callback in early]  # structures may hold them
        for structure in self.header.structures:
            held = {member.type for member in structure.members}
            parts += [self.callback(each) for each in late if each.name in held]
            late = [each for each in late if each.name not in held]
            parts.append(self.structure(structure))
        parts += [self.callback(callback) for callback in late]
        parts.append(self.library())
        return "\n".join(parts)

    def constants(self) -> str:
        lines = [f"{name} = {value!r}" for name, value in self.header.macros]
        return "\n".join(lines) + "\n"

    def enumeration(self, enumeration: Enumeration) -> str:
        prefix = _common_prefix(name for name, _ in enumeration.values)
        lines = ["", f"class {enumeration.name}(IntEnum):"]
        lines += [
            f"    {name.removeprefix(prefix)} = {value}" for name, value in enumeration.values
        ]
        return "\n".join(lines) + "\n"

    def structure(self, structure: Structure) -> str:
        if structure.union:
            members = structure.union
            text = self._fields(f"{structure.name}_union", "Union", members, [])
            return (
                text + "\n" + self._fields(structure.name, "Structure", structure.members, members)
            )
        return self._fields(structure.name, "Structure", structure.members, [])

    def _fields(self, name: str, base: str, members: list[Member], union: list[Member]) -> str:
        lines = ["", f"class {name}({base}):"]
        if union:
            lines.append('    _anonymous_ = ("_union",)')
        lines.append("    _fields_ = [")
        lines += [f'        ("{member.name}", {self.type(member.type)}),' for member in members]
        if union:
            lines.append(f'        ("_union", {name}_union),')
        lines.append("    ]")
        named = [member for member in [*members, *union] if not keyword.iskeyword(member.name)]
        lines += [f"    {member.name}: {self.annotation(member.type)}" for member in named]
        return "\n".join(lines) + "\n"

    def callback(self, callback: Function) -> str:
        types = [
            self.type(callback.result),
            *(self.type(parameter.type) for parameter in callback.parameters),
        ]
        return f"\n{callback.name} = CFUNCTYPE({', '.join(types)})\n"

    def library(self) -> str:
        lines = [
            "",
            "class Library:",
            '    """The functions of the library, ready to be called."""',
            "",
        ]
        lines += ["    def __init__(self, library: CDLL, check: Check) -> None:"]
        for function in self.header.functions:
            types = ", ".join(self.type(parameter.type) for parameter in function.parameters)
            checked = (
                "check"
                if function.result == "toft_status" and function.name != _ERROR_FUNCTION
                else "None"
            )
            lines.append(f"        self.{function.name} = _prototype(")
            lines.append(f'            library, "{function.name}", {self.type(function.result)},')
            lines += textwrap.wrap(f"[{types}], {checked}", 100, **_ARGUMENTS)
            lines.append("        )")
        lines += ["", "", "FUNCTIONS = ("]
        lines += [f'    "{function.name}",' for function in self.header.functions]
        return "\n".join([*lines, ")", ""])

    def type(self, name: str) -> str:
        """The ctypes expression for a C type.

        Handles, and structures given by address, are untyped addresses: quick to pass.
        """
        base, _, stars = name.partition(" ")
        base = self.header.aliases.get(base, base)
        if stars.startswith("["):
            return f"{_SCALARS[base]} * {stars[1:-1]}"
        if base == "char" and stars == "*":
            return "c_void_p"
        if stars:
            return self._address(base, stars, name)
        if base in _SCALARS:
            return _SCALARS[base]
        if base in self._enumerations:
            return "c_int"
        if base in self._structures or base in self._callbacks:
            return base
        if base == "void":
            return "None"
        raise HeaderError(f"not a type this generator knows: {name!r}")

    def _address(self, base: str, stars: str, name: str) -> str:
        known = {
            "void",
            "char",
            *_SCALARS,
            *self._enumerations,
            *self._structures,
            *self.header.handles,
            *self.header.foreign,
        }
        if base not in known or len(stars) > 2:
            raise HeaderError(f"not a type this generator knows: {name!r}")
        return "c_void_p"

    def annotation(self, name: str) -> str:
        expression = self.type(name)
        if expression == "c_void_p":
            return "int | None"
        if "*" in expression or expression in self._callbacks:
            return "Any"
        if expression.startswith("c_"):
            return _PYTHON_TYPES.get(expression, "int")
        return expression


def _common_prefix(names: Iterable[str]) -> str:
    """The words in capitals that all enumerators begin with: TOFT_TYPE_."""
    words = [name.split("_") for name in names]
    shared: list[str] = []
    for column in zip(*words):
        if len(set(column)) > 1:
            break
        shared.append(column[0])
    shortest = min(len(word) for word in words)
    return "_".join(shared[: shortest - 1]) + "_"


_ARGUMENTS: Any = {"initial_indent": " " * 12, "subsequent_indent": " " * 13}

_PREFACE = '''"""The C API as ctypes declarations. Written by generate.py from include/toft.h."""

from __future__ import annotations

from ctypes import (
    CDLL,
    CFUNCTYPE,
    Structure,
    Union,
    c_bool,
    c_double,
    c_float,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_uint8,
    c_uint32,
    c_uint64,
    c_void_p,
)
from enum import IntEnum
from typing import Any, Callable, Optional

Check = Callable[[int, Any, Any], int]


def _prototype(
    library: CDLL, name: str, result: Any, parameters: list[Any], check: Optional[Check]
) -> Any:
    function = getattr(library, name)
    function.restype = result
    function.argtypes = parameters
    if check is not None:
        function.errcheck = check
    return function

'''


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail when the file is stale"
    )
    arguments = parser.parse_args()
    text = Writer(parse(HEADER.read_text(encoding="utf-8"))).text()
    if not arguments.check:
        TARGET.write_text(text, encoding="utf-8")
    elif TARGET.read_text(encoding="utf-8") != text:
        print(f"{TARGET} is stale: run {Path(__file__).name}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
