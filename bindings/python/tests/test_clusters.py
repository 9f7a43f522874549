"""Scans over many clusters find the same as a plain loop, whatever the order of the values."""

from __future__ import annotations

import math
import random
from collections import Counter
from datetime import datetime, timedelta, timezone

import toft


class Sample(toft.Object):
    number: int
    height: float | None
    day: datetime
    city: str


def samples(realm: toft.Realm, choice: random.Random, count: int) -> None:
    """Many clusters: each with its own range of numbers and a few cities, or with any."""
    cities = [f"city {number}" for number in range(100)]
    heights = [None, math.nan, math.inf, -math.inf]
    for number in range(count):
        part = number // 300 % 7
        realm.create(
            Sample,
            number=choice.randint(-part, part) * 1_000 + number % 5,
            height=choice.choice(heights) if choice.random() < 0.05 else part - number / 300,
            day=datetime(2000 + part, 1, 1, tzinfo=timezone.utc)
            + timedelta(microseconds=number % 3),
            city=choice.choice(cities[part * 10 :] if number % 2 else cities),
        )


def compare(realm: toft.Realm) -> None:
    found = realm.objects(Sample)
    plain = [(each.number, each.height, each.day, each.city) for each in found]
    for query, rows in (
        (found, plain),
        (found.where("number > 1000"), [row for row in plain if row[0] > 1_000]),
    ):
        heights = [row[1] for row in rows if row[1] is not None and not math.isnan(row[1])]
        for name, values in (
            ("number", [row[0] for row in rows]),
            ("height", heights),
            ("day", [row[2] for row in rows]),
        ):
            assert query.min(name) == min(values, default=None), name
            assert query.max(name) == max(values, default=None), name
    counts = Counter(row[3] for row in plain)
    for number in range(101):
        city = f"city {number}"
        assert len(found.where("city == $0", city)) == counts[city], city
        assert len(found.where("city != $0", city)) == len(plain) - counts[city], city


def test_least_greatest_and_repeated_values_of_many_clusters_are_those_of_a_plain_loop() -> None:
    """Clusters are skipped by their bounds, and a text is first searched at its place in the last
    cluster.
    """
    seed = random.randrange(1 << 32)
    print("seed", seed)
    choice = random.Random(seed)
    with toft.open_in_memory([Sample]) as realm:
        with realm.write():
            samples(realm, choice, 6_000)
        compare(realm)
        with realm.write():  # bounds stay wide where the values that made them go
            for name in ("number", "height", "day"):
                for each in list(realm.objects(Sample).sort(f"-{name}")[:40]):
                    realm.delete(each)
            for each in choice.sample(list(realm.objects(Sample)), 300):
                each.city = f"city {choice.randrange(101)}"
                each.number = choice.randint(-9_000, 9_000)
                each.height = choice.choice([None, math.nan, choice.uniform(-50, 50)])
            samples(realm, choice, 700)
            compare(realm)
        compare(realm)
        realm.check()
