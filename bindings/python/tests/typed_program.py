"""A program for mypy: each line has the type that it seems to have. It is also run."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import toft


class Owner(toft.Object):
    name: str = toft.field(primary_key=True)
    dogs = toft.linking_objects("Pet", "owner")
    pets: toft.Results[Pet] = toft.linking_objects("Pet", "owner")


class Pet(toft.Object):
    name: str
    age: int = 0
    weight: toft.Float32
    born: datetime = datetime(2020, 1, 1, tzinfo=timezone.utc)
    owner: Owner | None
    tags: list[str]
    friends: toft.List[Pet] = toft.field(default_factory=list)


class Shelf(toft.Object):
    """Sets and dictionaries."""

    name: str = toft.field(primary_key=True)
    labels: set[str]
    counts: dict[str, int] = {"none": 0}
    toys: toft.Set[Toy] = toft.field(default_factory=set)
    owners: toft.Dict[str, Owner | None] = toft.field(default_factory=dict)
    marks: toft.Property[set[int]] = toft.field(default_factory=set)
    prices: toft.Property[dict[str, float]] = toft.field(default_factory=dict)
    best: toft.Property[dict[str, Toy | None]] = toft.field(default_factory=dict)


class Memo(toft.Object):
    """Values of any type."""

    data: toft.Mixed
    parts: list[toft.Mixed]
    named: toft.Dict[str, toft.Mixed] = toft.field(default_factory=dict)


class Toy(toft.Object):
    """Its properties have types even when they are read from the class."""

    name: toft.Property[str] = toft.field(primary_key=True)
    price: toft.Property[float] = toft.field(default=1.0)
    color: toft.Property[str | None] = toft.field(default=None)
    owner: toft.Property[Pet | None] = toft.field(default=None)
    labels: toft.Property[list[str]] = toft.field(default_factory=list)
    parts: toft.Property[list[Toy]] = toft.field(default_factory=list)
    stock: toft.Property[int] = toft.field(default=0)
    wholes: toft.Property[toft.Results[Toy]] = toft.linking_objects("Toy", "parts")


def toys(realm: toft.Realm, pet: Pet) -> list[str]:
    with realm.write():
        ball = realm.add(Toy(name="ball", price=2, owner=pet, labels=["round"]))
        realm.add(Toy(name="bag", color="red", parts=[ball]))
        ball.price += 0.5
        ball.labels = ["round", "new"]
        ball.labels.move(0, 1)
    price: toft.Expression[float] = Toy.price
    dear: toft.Condition = (price > 2.0) & Toy.name.startswith("b") & Toy.color.is_none()
    found: toft.Results[Toy] = realm.objects(Toy).where(dear, Toy.owner.name == "Rex")
    assert found.where(Toy.labels.contains("new"), Toy.labels.length() == 2).count() == 1
    assert realm.objects(Toy).where(Toy.parts.any().price.between(2, 3)).count() == 1
    assert found.where(Toy.wholes.any(Toy.color.in_(["red", None]))).count() == 1
    highest: float | None = found.max(Toy.price)
    assert highest == 2.5
    return [each.name for each in realm.objects(Toy).sort(Toy.price.desc(), Toy.name)]


def shelves(realm: toft.Realm, owner: Owner) -> None:
    with realm.write():
        ball = realm.objects(Toy)[0]
        shelf = realm.add(Shelf(name="top", labels={"wood"}, marks={3, 1}, prices={"ball": 2.5}))
        shelf.labels.add("old")
        shelf.labels |= {"new"}
        shelf.marks.add(2)
        shelf.marks.update([5], {6})
        shelf.marks = {7}
        shelf.toys.add(ball)
        shelf.counts["some"] = 3
        shelf.counts.update(more=4)
        shelf.prices["bag"] = 4.0
        shelf.prices |= {"cat": 1.5}
        shelf.best["today"] = ball
        shelf.owners["old"] = owner
        shelf.owners["new"] = None
    labels: set[str] = shelf.labels
    marks: set[int] = (shelf.marks | {8}) - (shelf.marks & {9}) - (shelf.marks - {7})
    price: float = shelf.prices["bag"]
    prices: list[tuple[str, float]] = list(shelf.prices.items())
    some: int | None = shelf.counts.get("some")
    best: Toy | None = shelf.best["today"]
    old: Owner | None = shelf.owners.get("old")
    round_toys: toft.Results[Toy] = shelf.toys.where(Toy.price > 0)
    asked: toft.Expression[float] = Shelf.prices["bag"]
    found: toft.Results[Shelf] = realm.objects(Shelf).where(
        asked > 3, Shelf.marks.contains(7), Shelf.marks.any() == 7, Shelf.prices.contains("cat")
    )
    assert found.where(Shelf.prices.any() == 1.5, Shelf.best.length() == 1).count() == 1
    with shelf.toys.observe(print), shelf.prices.observe(lambda each: print(each.inserted_keys)):
        pass
    assert labels == {"old", "new", "wood"} and marks == {7, 8} and price == 4.0 and some == 3
    assert prices[0][0] == "bag" and best is not None and old == owner and len(round_toys) == 1


def memos(realm: toft.Realm, owner: Owner) -> None:
    with realm.write():
        memo = realm.add(Memo(data={"tags": [1]}, parts=[1, "two", [owner]]))
        memo.data["tags"].append(2.5)
        memo.parts.append({"x": None})
        memo.named["y"] = memo.data
    parts: list[Any] = memo.parts
    named: toft.Dict[str, Any] = memo.named
    assert named["y"] == memo.data == {"tags": [1, 2.5]} and parts[2] == [owner]


def program(realm: toft.Realm) -> list[str]:
    with realm.write():
        ada: Owner = realm.create(Owner, name="Ada")
        rex: Pet = realm.add(Pet(name="Rex", weight=1.5, owner=ada, tags=["good"]))
        upserted: Owner = realm.upsert(Owner, {"name": "Ada"}, update="modified")
        rex.age += 1
        rex.weight = 3.5
        rex.tags.append("old")
        rex.friends.append(rex)
        assert upserted == ada
    with realm.write(durability="deferred"):
        rex.tags.append("spotted")
    realm.flush()
    found: Owner | None = realm.object(Owner, "Ada")
    assert found is not None
    pets: toft.Results[Pet] = found.pets.where("age > $0", 0).sort("-age").limit(3)
    first: Pet | None = pets.first()
    part: list[Pet] = pets[:2]
    one: Pet = pets[0]
    friends: toft.Results[Pet] = one.friends.where("age == 1")
    untyped: Any = realm.objects("Pet")[0]
    names: list[str] = [pet.name for pet in pets]
    columns: dict[str, Any] = pets.columns("age")
    observation: toft.Observation = pets.observe(lambda changes: print(changes.insertions))
    with observation:
        pass
    try:
        realm.create(Pet, nmae="x")
    except toft.NotInTransactionError as error:
        code: int = error.code
        assert code == toft.Status.ERROR_NOT_IN_TRANSACTION
    except toft.Error as error:
        assert "nmae" in error.message
    with realm.write():
        one.increment("age", 0)
        more: toft.Increment = Toy.stock + 1
        count: int = realm.objects(Toy).update(stock=more)
    query: toft.Query = toft.Query("age >= $0")
    matches: bool = query.matches(one, 0)
    with realm.freeze() as frozen:
        then: toft.Results[Pet] = pets.where(query, 0).freeze()
        old: Pet | None = frozen.resolve(one)
        now: toft.Results[Pet] = realm.resolve(then)
    assert matches and count == 0 and old is not None and old.freeze() is old and now
    assert first == one == untyped and len(friends) == 1 and part and columns
    assert toys(realm, rex) == ["ball", "bag"]
    shelves(realm, ada)
    memos(realm, ada)
    return names


# Type checkers see a list of classes as a list of their metaclass.
CLASSES = [Owner, Pet, Toy, Shelf, Memo]


def with_a_list_of_classes(path: str) -> int:
    """The classes of a program are a list that is kept somewhere."""
    toft.dry_run(path, CLASSES)
    with toft.open(path, CLASSES) as realm, realm.write():
        realm.delete_all(*CLASSES)
        return sum(len(realm.objects(each)) for each in CLASSES)
