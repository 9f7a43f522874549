"""toft.h as ctypes sees it, made from the header itself.

clang parses the header and prints its syntax tree; from that come the structures, enumerations and
signatures. Nothing about the interface is written down a second time here, so a test that calls
through this module calls what a C program calls. ctypes makes the calls with libffi.
"""

import ctypes
import json
import os
import pathlib
import re
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]
HEADER = ROOT / "include" / "toft.h"

SCALARS = {
    "bool": ctypes.c_bool,
    "_Bool": ctypes.c_bool,
    "int": ctypes.c_int,
    "unsigned int": ctypes.c_uint32,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
    "int32_t": ctypes.c_int32,
    "int64_t": ctypes.c_int64,
    "uint8_t": ctypes.c_uint8,
    "uint32_t": ctypes.c_uint32,
    "uint64_t": ctypes.c_uint64,
    "size_t": ctypes.c_size_t,
}


class ArrowArrayStream(ctypes.Structure):
    """Arrow's stream, which toft_arrow.h declares."""

    _fields_ = [
        ("get_schema", ctypes.c_void_p),
        ("get_next", ctypes.c_void_p),
        ("get_last_error", ctypes.c_void_p),
        ("release", ctypes.c_void_p),
        ("private_data", ctypes.c_void_p),
    ]


class Parameter:
    """One parameter of a function: its name, its type as spelled in C, and what ctypes passes."""

    def __init__(self, name, spelling, ctype):
        self.name = name
        self.spelling = spelling
        self.ctype = ctype

    def __repr__(self):
        return f"{self.spelling} {self.name}"


class Function:
    """One exported function, with the comment that documents it."""

    def __init__(self, name, result, parameters, comment):
        self.name = name
        self.result = result
        self.parameters = parameters
        self.comment = comment

    @property
    def writes(self):
        """Whether it needs a write transaction."""
        return self.comment.startswith("Writes.")

    def may_be_null(self, parameter):
        """Whether the comment allows NULL for a parameter."""
        return re.search(rf"`{parameter.name}` \(may be NULL", self.comment) is not None

    @property
    def returns_status(self):
        return self.result == "toft_status"


class Header:
    """The structures, enumerations, handles and functions of toft.h."""

    def __init__(self, path=HEADER):
        self.text = path.read_text(encoding="utf-8")
        self.structures = {}
        self.enumerations = {}
        self.enumerators = {}
        self.handles = set()
        self.callbacks = {}
        self.typedefs = {}
        self.functions = {}
        declarations = [node for node in self._syntax_tree(path)["inner"] if self._is_ours(node)]
        records = {node["id"]: node for node in declarations if node["kind"] == "RecordDecl"}
        for node in declarations:
            if node["kind"] == "EnumDecl":
                self._add_enumeration(node)
        for node in declarations:
            if node["kind"] == "TypedefDecl":
                self._add_typedef(node)
        complete = [
            node for node in records.values() if node.get("completeDefinition") and node.get("name")
        ]
        for node in complete:
            self.structures[node["name"]] = type(node["name"], (ctypes.Structure,), {})
        self.handles = {
            name
            for name in self.typedefs
            if name not in self.structures and self.typedefs[name] == f"struct {name}"
        }
        for node in self._in_order(complete):
            self._define(node)
        for node in declarations:
            if node["kind"] == "FunctionDecl" and node.get("storageClass") != "static":
                self._add_function(node)

    def _syntax_tree(self, path):
        compiler = os.environ.get("CLANG") or shutil.which("clang") or "/opt/swift/usr/bin/clang"
        command = [
            compiler,
            "-x",
            "c",
            "-std=c2x",
            "-fsyntax-only",
            "-Xclang",
            "-ast-dump=json",
            str(path),
        ]
        return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)

    @staticmethod
    def _is_ours(node):
        return (
            any(name.startswith("toft_") for name in [node.get("name", "")])
            or node["kind"] == "EnumDecl"
        )

    def _add_enumeration(self, node):
        value, names = -1, {}
        for child in node.get("inner", []):
            if child["kind"] != "EnumConstantDecl":
                continue
            expression = child.get("inner", [{}])[0]
            while "value" not in expression and "inner" in expression:
                expression = expression["inner"][0]
            value = int(expression["value"]) if "value" in expression else value + 1
            names[child["name"]] = value
        if node.get("name", "").startswith("toft_"):
            self.enumerations[node["name"]] = names
            self.enumerators.update(names)

    def _add_typedef(self, node):
        spelling = node["type"]["qualType"]
        if "(*)" in spelling:
            self.callbacks[node["name"]] = spelling
        self.typedefs[node["name"]] = spelling

    def _in_order(self, nodes):
        """Structures that hold others by value come after them."""
        done, order, by_name = set(), [], {node["name"]: node for node in nodes}

        def visit(node):
            if node["name"] in done:
                return
            done.add(node["name"])
            for field in self._fields(node):
                spelling = field["type"]["qualType"].replace("struct ", "").replace("const ", "")
                if spelling in by_name:
                    visit(by_name[spelling])
            order.append(node)

        for node in nodes:
            visit(node)
        return order

    @staticmethod
    def _fields(node):
        for child in node.get("inner", []):
            if child["kind"] == "FieldDecl":
                yield child
            elif child["kind"] == "RecordDecl" and "name" not in child:
                yield from Header._fields(child)

    def _define(self, node):
        structure = self.structures[node["name"]]
        fields, anonymous = [], []
        for child in node.get("inner", []):
            if child["kind"] == "RecordDecl" and "name" not in child:
                members = [
                    (field["name"], self.ctype(field["type"]["qualType"]))
                    for field in self._fields(child)
                ]
                fields.append(
                    (
                        "members",
                        type(f"{node['name']}_members", (ctypes.Union,), {"_fields_": members}),
                    )
                )
                anonymous.append("members")
            elif child["kind"] == "FieldDecl" and child.get("name"):
                fields.append((child["name"], self.ctype(child["type"]["qualType"])))
        if anonymous:
            structure._anonymous_ = anonymous
        structure._fields_ = fields

    def _comment_of(self, name):
        """The last comment before a declaration."""
        declaration = re.search(rf"^TOFT_API [^;]*\b{name}\(", self.text, re.MULTILINE)
        comments = re.findall(r"/\*(.*?)\*/", self.text[: declaration.start()], re.DOTALL)
        return " ".join(comments[-1].split())

    def _add_function(self, node):
        result = node["type"]["qualType"].split("(")[0].strip()
        parameters = [
            Parameter(
                child.get("name", f"p{index}"),
                child["type"]["qualType"],
                self.ctype(child["type"]["qualType"]),
            )
            for index, child in enumerate(
                child for child in node.get("inner", []) if child["kind"] == "ParmVarDecl"
            )
        ]
        self.functions[node["name"]] = Function(
            node["name"], result, parameters, self._comment_of(node["name"])
        )

    def ctype(self, spelling):
        """The ctypes type of a type as spelled in C."""
        if array := re.fullmatch(r"(\w+)\[(\d+)\]", spelling):
            return self.ctype(array[1]) * int(array[2])
        spelling = (
            spelling.replace("struct ", "").replace("enum ", "").replace("const ", "").strip()
        )
        if spelling.endswith("*"):
            pointee = spelling[:-1].strip()
            if pointee in ("void", "char") or pointee in self.handles:
                return ctypes.c_void_p
            if pointee == "ArrowArrayStream":
                return ctypes.POINTER(ArrowArrayStream)
            if pointee.endswith("*"):
                return ctypes.POINTER(ctypes.c_void_p)
            return ctypes.POINTER(self.ctype(pointee))
        if spelling in SCALARS:
            return SCALARS[spelling]
        if spelling in self.enumerations:
            return ctypes.c_uint32
        if spelling in self.structures:
            return self.structures[spelling]
        if spelling in self.callbacks:
            return ctypes.c_void_p
        return self.ctype(self.typedefs[spelling])

    def load(self, path):
        """The library with the signature of every declared function."""
        library = ctypes.CDLL(str(path))
        for function in self.functions.values():
            entry = getattr(library, function.name)
            entry.argtypes = [parameter.ctype for parameter in function.parameters]
            result = function.result
            entry.restype = (
                None
                if result == "void"
                else ctypes.c_char_p
                if result == "const char *"
                else self.ctype(result)
            )
        return library


if __name__ == "__main__":
    header = Header()
    for function in header.functions.values():
        print(function.result, function.name, function.parameters)
    print({name: ctypes.sizeof(structure) for name, structure in header.structures.items()})
    print(sorted(header.handles), header.callbacks, list(header.enumerations))
