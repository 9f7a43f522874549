"""A number that would be infinite in 32 bits is refused, whichever way it is written."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import toft


class Probe(toft.Object):
    id: int = toft.field(primary_key=True)
    value: toft.Float32 = 0.0
    maybe: toft.Float32 | None
    items: list[toft.Float32]
    kinds: set[toft.Float32]
    notes: dict[str, toft.Float32]


LARGEST = 3.4028235677973362e38
"""From the next double on a number is infinite in 32 bits."""
Way = Callable[[toft.Realm, Probe, float], object]
WAYS: dict[str, Way] = {
    "an assignment": lambda realm, probe, x: setattr(probe, "value", x),
    "an assignment of what may be None": lambda realm, probe, x: setattr(probe, "maybe", x),
    "create": lambda realm, probe, x: realm.create(Probe, id=2, value=x),
    "upsert": lambda realm, probe, x: realm.upsert(Probe, id=1, value=x),
    "add": lambda realm, probe, x: realm.add(Probe(id=2, items=[x])),
    "rows": lambda realm, probe, x: realm.insert_many(Probe, [{"id": 2, "value": x}]),
    "rows with None": lambda realm, probe, x: realm.insert_many(
        Probe, [{"id": 2, "maybe": None}, {"id": 3, "maybe": x}]
    ),
    "columns": lambda realm, probe, x: realm.insert_many(Probe, {"id": [2], "value": [x]}),
    "arrays": lambda realm, probe, x: realm.insert_many(
        Probe, {"id": [2], "value": pytest.importorskip("numpy").array([x])}
    ),
    "update": lambda realm, probe, x: realm.objects(Probe).update(value=x),
    "a whole list": lambda realm, probe, x: setattr(probe, "items", [1, x]),
    "append": lambda realm, probe, x: probe.items.append(x),
    "an element": lambda realm, probe, x: probe.items.__setitem__(0, x),
    "a slice": lambda realm, probe, x: probe.items.__setitem__(slice(0, 1), [x]),
    "a set": lambda realm, probe, x: probe.kinds.update([1, x]),
    "a dictionary": lambda realm, probe, x: probe.notes.__setitem__("k", x),
    "from_json": lambda realm, probe, x: realm.from_json(Probe, f'{{"id": 2, "value": {x!r}}}'),
    "lines": lambda realm, probe, x: realm.read_json_lines(Probe, [f'{{"id": 2, "maybe": {x!r}}}']),
    "csv": lambda realm, probe, x: realm.read_csv(Probe, io.StringIO(f"id,value\n2,{x!r}\n")),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_number_beyond_32_bits_is_refused(path: Path, way: Way) -> None:
    beyond = math.nextafter(LARGEST, math.inf)
    with toft.open(path, [Probe]) as realm, realm.write():
        probe = realm.create(Probe, id=1, items=[1.0])
        for wrong in (beyond, -beyond, 1e300, 10**39 * 1.0):
            with pytest.raises(
                (toft.InvalidArgumentError, toft.TypeMismatchError), match="32 bits"
            ):
                way(realm, probe, wrong)
        assert (probe.value, probe.maybe, [*probe.items]) == (0.0, None, [1.0])
        assert not probe.kinds and not probe.notes and len(realm.objects(Probe)) == 1
        way(realm, probe, LARGEST)


def test_what_is_infinite_stays_so_and_what_is_asked_for_may_be_too_large(path: Path) -> None:
    with toft.open(path, [Probe]) as realm, realm.write():
        realm.insert_many(Probe, {"id": [1, 2], "value": [math.inf, 1e38]})
        probe = realm.create(Probe, id=3, value=-math.inf, items=[math.nan, math.inf])
        assert realm.objects(Probe).lists("value")["value"][0] == math.inf
        found: Any = [1e300 in probe.items, probe.items.count(1e300), 1e300 in probe.kinds]
        assert found == [False, 0, False] and math.inf in probe.items
