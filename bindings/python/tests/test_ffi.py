"""The declarations in _ffi.py are those of the header."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import generate
from toft import _ffi, _lib


@pytest.mark.no_library
def test_what_the_header_says_now_is_what_the_package_has() -> None:
    header = generate.parse(generate.HEADER.read_text())
    assert generate.Writer(header).text() == generate.TARGET.read_text(), "run generate.py"


@pytest.mark.no_library
def test_no_function_of_the_header_is_overlooked() -> None:
    text = re.sub(r"/\*.*?\*/", "", generate.HEADER.read_text(), flags=re.S)
    assert sorted(
        re.findall(r"\b(toft_\w+)\(", re.sub(r"static inline.*?\n}", "", text, flags=re.S))
    ) == sorted(_ffi.FUNCTIONS)


@pytest.mark.no_library
@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_structures_lie_in_memory_as_the_compiler_lays_them(tmp_path: Path) -> None:
    header = generate.parse(generate.HEADER.read_text())
    lines, expected = [], []
    for structure in header.structures:
        kind = getattr(_ffi, structure.name)
        lines.append(f'printf("%zu\\n", sizeof({structure.name}));')
        expected.append(ctypes.sizeof(kind))
        for member in [*structure.members, *structure.union]:
            lines.append(f'printf("%zu\\n", offsetof({structure.name}, {member.name}));')
            expected.append(_offset(kind, member.name))
    for enumeration in header.enumerations:
        for name, value in enumeration.values:
            lines.append(f'printf("%zu\\n", (size_t){name});')
            expected.append(value)
    source = tmp_path / "layout.c"
    source.write_text(
        "#include <stdio.h>\n#include <toft.h>\nint main(void) {\n"
        + "\n".join(lines)
        + "\nreturn 0;\n}\n"
    )
    program = tmp_path / "layout"
    subprocess.run(
        ["cc", "-std=c11", "-I", generate.HEADER.parent, "-o", program, source], check=True
    )
    printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    assert [int(line) for line in printed.split()] == expected


def _offset(kind: type, name: str) -> int:
    if name in {field[0] for field in kind._fields_}:  # type: ignore[attr-defined]
        return int(getattr(kind, name).offset)
    return int(kind._union.offset)  # type: ignore[attr-defined]


@pytest.mark.no_library
@pytest.mark.parametrize(
    "text",
    ["TOFT_API int toft_x(long double y);", "typedef unsigned long toft_y", "int toft_z = 3;"],
)
def test_what_the_generator_does_not_know_stops_it(text: str) -> None:
    with pytest.raises(generate.HeaderError):
        generate.Writer(generate.parse(text)).text()


def test_a_library_of_another_abi_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    source, made = tmp_path / "other.c", tmp_path / "libtoft.so"
    source.write_text("unsigned toft_abi_version(void) { return 999; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", made, source], check=True)
    monkeypatch.setenv("TOFT_LIBRARY", str(made))
    with pytest.raises(_lib.LibraryError, match="ABI version 999"):
        _lib.library.__wrapped__()


@pytest.mark.no_library
def test_a_library_that_is_nowhere_is_an_import_error_that_tells_where_it_was_sought(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TOFT_LIBRARY", "/nowhere/libtoft.so")
    with pytest.raises(ImportError) as raised:
        _lib.library.__wrapped__()
    assert "/nowhere/libtoft.so" in str(raised.value)
    assert "TOFT_LIBRARY" in str(raised.value)
