"""`import toft` is what every command and every worker waits for: it imports what all need."""

from __future__ import annotations

import copy
import subprocess
import sys

import pytest
import toft
from conftest import PACKAGE
from toft.records import Record

LATER = [
    *("asyncio", "base64", "dataclasses", "difflib", "html", "inspect", "json", "logging"),
    *("numpy", "pandas", "pathlib", "polars", "pydantic_core", "threading"),
    *("toft.notebooks", "toft.reading", "toft.shared", "toft.sources", "toft.tables"),
]


@pytest.mark.no_library
def test_what_only_some_programs_need_is_not_imported_with_the_package() -> None:
    program = (
        f"import sys; sys.path.insert(0, {str(PACKAGE)!r}); before = {{*sys.modules}}\n"
        f"import toft; print(*sorted(({{*sys.modules}} - before) & {{*{LATER!r}}}))"
    )
    command = [sys.executable, "-S", "-c", program]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (result.stdout.strip(), result.stderr) == ("", "")


@pytest.mark.no_library
def test_a_record_is_a_value_that_is_never_changed() -> None:
    report = toft.CheckReport(("page 7",), pages=9, objects=3)
    assert repr(report) == "CheckReport(problems=('page 7',), pages=9, objects=3)"
    assert report == report.replaced() and hash(report) == hash(report.replaced())
    assert report != report.replaced(problems=()) and report.replaced(problems=())
    assert report != (("page 7",), 9, 3)
    match report:
        case toft.CheckReport(problems, pages=pages):
            assert (problems, pages) == (("page 7",), 9)
    assert vars(copy.deepcopy(report)) == {"problems": ("page 7",), "pages": 9, "objects": 3}
    with pytest.raises(AttributeError, match="never changed: 'pages'"):
        report.pages = 1  # type: ignore[misc]
    with pytest.raises(AttributeError, match="never changed"):
        del report.pages


@pytest.mark.no_library
def test_a_record_has_each_of_its_values_once() -> None:
    class Pair(Record):
        left: int
        right: int = 2

    assert Pair(1) == Pair(1, 2) == Pair(left=1) and vars(Pair(1)) == {"left": 1, "right": 2}
    for given, named in [((), {}), ((1, 2, 3), {}), ((1,), {"left": 1}), ((1,), {"up": 1})]:
        with pytest.raises(TypeError, match="a Pair has left, right, each once"):
            Pair(*given, **named)
