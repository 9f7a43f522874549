"""Lists, sets and dictionaries know which values are the same as the database does: random commands
beside a model that has its equality.
"""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import toft


class Color(Enum):
    RED = 1
    BLUE = 2


class Bag(toft.Object):
    id: int = toft.field(primary_key=True)
    mixed: list[toft.Mixed]
    mixed_set: set[toft.Mixed]
    mixed_notes: dict[str, toft.Mixed]
    floats: list[float | None]
    float_set: set[float | None]
    float_notes: dict[str, float | None]
    shorts: list[toft.Float32]
    short_set: set[toft.Float32]
    short_notes: dict[str, toft.Float32]
    prices: list[Decimal]
    price_set: set[Decimal]
    price_notes: dict[str, Decimal]
    dates: list[datetime]
    date_set: set[datetime]
    date_notes: dict[str, datetime]
    flags: list[bool | None]
    flag_set: set[bool | None]
    flag_notes: dict[str, bool | None]
    ints: list[int | None]
    int_set: set[int | None]
    int_notes: dict[str, int | None]
    colors: list[Color]
    color_set: set[Color]
    color_notes: dict[str, Color]
    bags: list[Bag]
    bag_set: set[Bag]
    bag_notes: dict[str, Bag | None]


NOW = datetime(2026, 11, 28, 12, 30, tzinfo=timezone.utc)
FINE = toft.Timestamp.of(NOW, 7)
FLOATS = [math.nan, -math.nan, 0.0, -0.0, 1.0, 1, 2.5, math.inf, -math.inf, 0.1]
DATES = [
    NOW,
    FINE,
    toft.Timestamp.of(NOW, 8),
    FINE.astimezone(timezone(timedelta(hours=2))),
    NOW.replace(year=1969),
    toft.Timestamp.of(NOW.replace(year=1969), 999),
]
PRICES = [Decimal(text) for text in ("1", "1.0", "1.00", "NaN", "-0", "0", "1E+3", "1000")]
VALUES: dict[str, list[Any]] = {
    "mixed": [
        *(None, True, False, 0, 1, 1.0, 2, 2.5, "1", b"1", "", b"", UUID(int=1)),
        *(toft.ObjectId(bytes(12)), Decimal("1.00"), Decimal("2.50"), *FLOATS[:4], *DATES),
    ],
    "floats": [*FLOATS, None],
    "shorts": FLOATS,
    "prices": PRICES,
    "dates": DATES,
    "flags": [True, False, None],
    "ints": [*range(-5, 15), None, 2**63 - 1],
    "colors": [*Color],
    "bags": [],
}
SETS = {
    "mixed": "mixed_set",
    **{name: f"{name[:-1]}_set" for name in VALUES if name != "mixed"},
}


def same(name: str, value: Any) -> Any:
    """Equal for values that are the same to a property of the database, which knows by type."""
    if isinstance(value, datetime):
        whole = (value - NOW) // timedelta(microseconds=1)
        return "date", whole * 1000 + getattr(value, "nanosecond", 0)
    if isinstance(value, Enum):
        return "number", value.value
    if isinstance(value, Bag):
        return "bag", value.id
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return type(value), value
    if value != value:
        return "number", "NaN"
    if name == "shorts":
        [value] = struct.unpack("f", struct.pack("f", value))
    return "number", value if math.isinf(value) else Fraction(value)


class Run:
    """Random commands on the collections of one object."""

    def __init__(self, realm: toft.Realm, choice: random.Random) -> None:
        self.choice = choice
        self.bag = realm.create(Bag, id=1)
        self.other = realm.create(Bag, id=2)
        bags = [self.bag, self.other, realm.create(Bag, id=3)]
        self.choices = {**VALUES, "bags": bags}

    def value(self, name: str) -> Any:
        return self.choice.choice(self.choices[name])

    def values(self, name: str, count: int = 6) -> list[Any]:
        return [self.value(name) for _ in range(self.choice.randrange(count))]

    def misfit(self, name: str) -> Any:
        """A value that the property cannot hold."""
        return {"mixed": object(), "bags": 5}.get(name, b"misfit")

    # ----------------------------------------------------------------------------------------------
    # Lists

    def list(self, name: str) -> None:
        live: Any = getattr(self.bag, name)
        given = self.values(name, 12)
        setattr(self.bag, name, given)
        keys = [same(name, each) for each in given]
        value = self.value(name)
        key = same(name, value)
        start, stop = self.choice.randrange(-14, 14), self.choice.randrange(-14, 14)
        assert (value in live) == (key in keys)
        assert live.count(value) == keys.count(key)
        for bounds in ((), (start,), (start, stop)):
            assert tried(live.index, value, *bounds) == tried(keys.index, key, *bounds)
        assert live.count(self.misfit(name)) == 0 and self.misfit(name) not in live
        others = self.choice.choice([given, self.values(name, 12), [*reversed(given)]])
        others = [self.alike(name, each) for each in others]
        assert (live == others) == (keys == [same(name, each) for each in others])
        assert (live != others) == (keys != [same(name, each) for each in others])
        setattr(self.other, name, others)
        assert (live == getattr(self.other, name)) == (live == others)
        assert live != [*given, self.misfit(name)]
        if key in keys:
            live.remove(value)
            keys.remove(key)
            assert [same(name, each) for each in live] == keys
        else:
            with pytest.raises(ValueError):
                live.remove(value)

    def alike(self, name: str, value: Any) -> Any:
        """A value that is the same to the database."""
        return self.choice.choice(
            [each for each in self.choices[name] if same(name, each) == same(name, value)]
        )

    # ----------------------------------------------------------------------------------------------
    # Dictionaries

    def dictionary(self, name: str) -> None:
        notes = SETS[name].replace("set", "notes")
        live: Any = getattr(self.bag, notes)
        given = {key: self.value(name) for key in "abcd" if self.choice.random() < 0.6}
        setattr(self.bag, notes, given)
        keys = {each: same(name, value) for each, value in given.items()}
        value, place = self.value(name), self.choice.choice("abcde")
        assert (value in live.values()) == (same(name, value) in keys.values())
        assert ((place, value) in live.items()) == ((place, same(name, value)) in keys.items())
        assert (
            self.misfit(name) not in live.values() and ("a", self.misfit(name)) not in live.items()
        )
        others = {each: self.alike(name, value) for each, value in given.items()}
        if self.choice.random() < 0.5:
            others[place] = self.value(name)
        is_equal = keys == {each: same(name, value) for each, value in others.items()}
        assert (live == others) == (others == live) == is_equal and (live != others) == (
            not is_equal
        )
        setattr(self.other, notes, others)
        assert (live == getattr(self.other, notes)) == is_equal

    # ----------------------------------------------------------------------------------------------
    # Sets

    def set(self, name: str) -> None:
        live: Any = getattr(self.bag, SETS[name])
        setattr(self.bag, SETS[name], self.values(name, 9))
        mine = {same(name, each) for each in live}
        assert len(mine) == len(live)
        given = self.values(name, 9)
        others, theirs = self.iterable(name, given)
        one, value = self.value(name), self.value(name)

        def left(do: Callable[[], object]) -> set[Any]:
            before = [*live]
            do()
            found = {same(name, each) for each in live}
            assert len(found) == len(live), "no value twice"
            setattr(self.bag, SETS[name], before)
            return found

        def given_set(found: Iterable[Any]) -> set[Any]:
            return {same(name, each) for each in found}

        assert (value in live) == (same(name, value) in mine)
        assert live.issubset(others()) == (mine <= theirs)
        assert live.issuperset(others()) == (mine >= theirs)
        assert live.isdisjoint(others()) == mine.isdisjoint(theirs)
        # A set of Python's own may have lost elements that it considers equal: it has no others.
        assert given_set(live.difference(others())) <= mine - theirs
        assert bool(live.difference(others())) == bool(mine - theirs)
        assert given_set(live.intersection(others())) <= mine & theirs
        assert bool(live.intersection(others())) == bool(mine & theirs)
        assert bool(live.symmetric_difference(others())) == bool(mine ^ theirs)
        assert left(lambda: live.update(others())) == mine | theirs
        assert left(lambda: live.intersection_update(others())) == mine & theirs
        assert left(lambda: live.intersection_update(others(), [one])) == (
            mine & theirs & {same(name, one)}
        )
        assert left(lambda: live.difference_update(others(), [one])) == (
            mine - theirs - {same(name, one)}
        )
        assert left(lambda: live.symmetric_difference_update(others())) == mine ^ theirs
        assert left(lambda: live.discard(one)) == mine - {same(name, one)}
        assert left(lambda: [live.pop() for _ in range(len(live))]) == set()
        as_set: Any = others()
        if isinstance(as_set, (set, frozenset, toft.Set)):
            theirs = given_set(as_set)
            assert (live == as_set) == (as_set == live) == (mine == theirs)
            assert (live <= as_set) == (as_set >= live) == (mine <= theirs)
            assert (live < as_set) == (as_set > live) == (mine < theirs)
            assert (live >= as_set) == (as_set <= live) == (mine >= theirs)
            assert (live > as_set) == (as_set < live) == (mine > theirs)
            assert bool(live - as_set) == bool(mine - theirs)
            assert bool(as_set - live) == bool(theirs - mine)
            assert bool(live ^ as_set) == bool(as_set ^ live) == bool(mine ^ theirs)
            assert bool(live & as_set) == bool(as_set & live) == bool(mine & theirs)
            assert left(lambda: live.__ior__(as_set)) == mine | theirs
            assert left(lambda: live.__iand__(as_set)) == mine & theirs
            assert left(lambda: live.__isub__(as_set)) == mine - theirs
            assert left(lambda: live.__ixor__(as_set)) == mine ^ theirs
        assert left(lambda: live.__isub__(live)) == left(lambda: live.__ixor__(live)) == set()
        assert left(lambda: live.__iand__(live)) == left(lambda: live.__ior__(live)) == mine

    def iterable(self, name: str, given: list[Any]) -> tuple[Callable[[], Iterable[Any]], set[Any]]:
        """Makes iterables of some values, and what is in them."""
        setattr(self.other, SETS[name], given)
        setattr(self.other, name, given)
        make: Callable[[], Iterable[Any]] = self.choice.choice(
            [
                lambda: given,
                lambda: iter(given),
                lambda: set(given),
                lambda: frozenset(given),
                lambda: dict.fromkeys(given).keys(),
                lambda: getattr(self.other, SETS[name]),
                lambda: getattr(self.other, name),
            ]
        )
        return make, {same(name, each) for each in make()}


def tried(find: Callable[..., int], *arguments: Any) -> int | None:
    try:
        return find(*arguments)
    except ValueError:
        return None


def test_collections_have_the_equality_of_the_database(path: Path) -> None:
    seed = random.randrange(1 << 32)
    print("seed", seed)
    choice = random.Random(seed)
    with toft.open(path, [Bag]) as realm, realm.write():
        run = Run(realm, choice)
        for _ in range(40):
            for name in VALUES:
                choice.choice([run.list, run.set, run.dictionary])(name)


def test_nested_lists_and_dictionaries_are_compared_as_the_database_does(path: Path) -> None:
    with toft.open(path, [Bag]) as realm, realm.write():
        bag = realm.create(Bag, id=1)
        bag.mixed = [[math.nan, 1], {"a": [1.0, True]}]
        bag.mixed_notes = {"k": {"n": math.nan}}
        assert bag.mixed == [[math.nan, 1.0], {"a": [1, True]}]
        assert bag.mixed != [[math.nan, True], {"a": [1, True]}]
        assert bag.mixed[0] == [math.nan, 1] and bag.mixed[0].index(Decimal(1), 1) == 1
        assert bag.mixed_notes == {"k": {"n": math.nan}} != {"k": {"n": None}}
        assert {"n": math.nan} in bag.mixed_notes.values()


def test_a_date_with_nanoseconds_is_read_as_it_is_and_found(path: Path) -> None:
    with toft.open(path, [Bag]) as realm, realm.write():
        bag = realm.create(Bag, id=1, date_set=[FINE, NOW], dates=[FINE])
        assert [*bag.date_set] == [NOW, FINE] and bag.dates[0] == FINE != NOW
        assert bag.dates[0].isoformat() == "2026-11-28T12:30:00.000000007+00:00"
        for each in [*bag.date_set]:
            bag.date_set.remove(each)
        assert not bag.date_set and FINE in bag.dates and NOW not in bag.dates
        bag.date_set = {FINE, NOW}
        assert bag.date_set.pop() == NOW and bag.date_set.pop() == FINE
        text = bag.to_json()
        bag.dates = []
        realm.from_json(Bag, text, update="all")
        assert bag.dates == [FINE]
