"""Whatever is kept in memory, a live object shows what is true:

random work on two realms against plain dictionaries.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import toft


class Item(toft.Object):
    number: int = toft.field(primary_key=True)
    value: int
    name: str | None
    next: Item | None
    others: list[Item]


Plain = dict[str, Any]


class World:
    """A realm, what it must show, and objects that were got from it at any time before."""

    def __init__(self, realm: toft.Realm, chance: random.Random) -> None:
        self.realm = realm
        self.chance = chance
        self.items: dict[int, Plain] = {}
        self.held: list[tuple[int, Item]] = []

    def hold(self) -> None:
        """Gets objects in one of the ways there are, and sometimes reads from them, so that
        something is kept.
        """
        items, chance = self.realm.objects(Item), self.chance
        ways = [
            lambda: list(items),
            lambda: [item for item, _ in zip(items, range(3))],
            lambda: items.where("value > $0", chance.randint(0, 9))[:],
            lambda: items.sort("-value", "number")[1:4],
            lambda: [items[chance.randrange(len(items))]] if items else [],
            lambda: [item.next for item in items if item.next is not None],
            lambda: [other for item in items for other in item.others],
            lambda: [
                found
                for found in [self.realm.object(Item, chance.randint(0, 30))]
                if found is not None
            ],
        ]
        found = chance.choice(ways)()
        for item in found:
            if chance.random() < 0.5:
                item.value, item.name
        self.held += [(item.number, item) for item in found]
        chance.shuffle(self.held)
        del self.held[200:]

    def change(self) -> None:
        """One change, to the realm and to what it must show."""
        chance, numbers = self.chance, list(self.items)
        kind = chance.choice(["create", "set", "set", "held", "link", "others", "delete"])
        if kind == "create" or not numbers:
            number = chance.randint(0, 30)
            value = chance.randint(0, 9)
            self.realm.upsert(Item, number=number, value=value)
            self.items.setdefault(number, {"name": None, "next": None, "others": []})["value"] = (
                value
            )
            return
        number, other = chance.choice(numbers), chance.choice(numbers)
        item = self.realm.object(Item, number)
        if kind == "held":
            number, item = chance.choice(self.held or [(number, item)])
            if number not in self.items or not item.is_valid:
                return
        assert item is not None
        if kind in ("set", "held"):
            item.value += 1
            item.name = str(item.value)
            self.items[number]["value"] += 1
            self.items[number]["name"] = str(self.items[number]["value"])
        elif kind == "link":
            item.next = self.realm.object(Item, other)
            self.items[number]["next"] = other
        elif kind == "others":
            item.others.insert(0, self.realm.object(Item, other))
            self.items[number]["others"].insert(0, other)
        else:
            self.realm.delete(item)
            del self.items[number]
            for each in self.items.values():
                each["next"] = None if each["next"] == number else each["next"]
                each["others"] = [linked for linked in each["others"] if linked != number]

    def compare(self) -> None:
        assert {item.number: item.value for item in self.realm.objects(Item)} == {
            n: i["value"] for n, i in self.items.items()
        }
        for number, item in self.held:
            expected = self.items.get(number)
            if (
                expected is None or not item.is_valid
            ):  # deleted, or one that was made again with the same number
                with pytest.raises(toft.ObjectDeletedError):
                    item.value
                continue
            assert (item.number, item.value, item.name) == (
                number,
                expected["value"],
                expected["name"],
            )
            assert (item.next.number if item.next else None) == expected["next"]
            assert [other.number for other in item.others] == expected["others"]


def copied(items: dict[int, Plain]) -> dict[int, Plain]:
    return {number: {**item, "others": list(item["others"])} for number, item in items.items()}


@pytest.mark.parametrize("autorefresh", [False, True])
@pytest.mark.parametrize("round_number", range(3))
def test_what_objects_show_is_true_after_whatever_happens(
    path: Path, round_number: int, autorefresh: bool
) -> None:
    seed = random.randrange(2**32)
    print("seed", seed)
    chance = random.Random(seed)
    with (
        toft.open(path, [Item], autorefresh=autorefresh) as realm,
        toft.open(path, [Item], autorefresh=autorefresh) as other_realm,
    ):
        one, other = World(realm, chance), World(other_realm, chance)
        committed: dict[int, Plain] = {}
        for _ in range(60):
            writer, reader = (one, other) if chance.random() < 0.5 else (other, one)
            writer.realm.begin_write()
            writer.items = copied(committed)
            for _ in range(chance.randint(1, 6)):
                writer.hold()
                writer.change()
                writer.compare()
            if autorefresh:
                reader.items = copied(committed)
            reader.hold()
            reader.compare()  # it sees nothing of what is being written
            if chance.random() < 0.3:
                writer.realm.cancel()
                writer.items = copied(committed)
            else:
                writer.realm.commit()
                committed = copied(writer.items)
            writer.compare()
            if autorefresh:
                reader.items = copied(committed)
            reader.compare()
            if chance.random() < 0.7:
                reader.realm.refresh()
                reader.items = copied(committed)
                reader.compare()
