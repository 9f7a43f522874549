"""Many objects:

no call of the library for each property. TOFT_TEST_OBJECTS says how many (100,000, unless it is
set).
"""

from __future__ import annotations

import os
import time

import pytest
import toft
from models import Dog, Person
from toft import _ffi, _lib


class Point(toft.Object):
    x: int
    y: float
    label: str


COUNT = int(os.environ.get("TOFT_TEST_OBJECTS", "100000"))


@pytest.fixture(scope="module")
def points() -> object:
    with toft.open_in_memory([Point]) as realm:
        with realm.write():
            for number in range(COUNT):
                realm.create(Point, x=number, y=number / 2, label=f"point {number}")
        yield realm.objects(Point)


def timed(title: str, count: int, start: float) -> None:
    seconds = time.perf_counter() - start
    print(f"{title}: {seconds:.3f} s for {count:,}, {seconds / count * 1e9:.0f} ns each")


def test_a_loop_reads_by_columns(
    points: toft.Results[Point], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = 0
    library = _lib.library()
    original = library.toft_results_columns

    def counted(*arguments: object) -> int:
        nonlocal calls
        calls += 1
        return int(original(*arguments))

    monkeypatch.setattr(library, "toft_results_columns", counted)
    monkeypatch.setattr(library, "toft_object_get", None)
    start = time.perf_counter()
    total = sum(point.x for point in points)
    timed("one property", COUNT, start)
    assert total == COUNT * (COUNT - 1) // 2
    assert calls <= COUNT / 500 + 10
    start = time.perf_counter()
    for point in points.where("x >= 0").sort("-x"):
        point.x, point.y, point.label
    timed("three properties, sorted", 3 * COUNT, start)


def test_whole_columns_take_next_to_nothing(points: toft.Results[Point]) -> None:
    start = time.perf_counter()
    columns = points.columns("x", "y")
    timed("columns", 2 * COUNT, start)
    assert len(columns["x"]) == COUNT and columns["x"][-1] == COUNT - 1 and columns["y"][1] == 0.5
    assert int(sum(columns["x"][:10])) == 45


def test_objects_of_a_large_class_are_found_and_sliced(points: toft.Results[Point]) -> None:
    assert points[COUNT // 2].label == f"point {COUNT // 2}"
    assert [point.x for point in points[-3:]] == [COUNT - 3, COUNT - 2, COUNT - 1]
    assert points.where("x == $0", COUNT - 1)[0].y == (COUNT - 1) / 2
    assert points.sum("x") == COUNT * (COUNT - 1) // 2
    assert Dog is not Person and _ffi.TOFT_ABI_VERSION


def test_changing_each_object_in_a_loop(points: toft.Results[Point]) -> None:
    realm = points._session.realm
    start = time.perf_counter()
    with realm.write():
        for point in points.where("x < $0", COUNT // 10):
            point.y += 1
    timed("read and write", COUNT // 10, start)
    assert points[0].y == 1.0 and points[COUNT // 10].y == COUNT // 10 / 2
