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


class Toy(toft.Object):
    """Its properties have types also where they are read from the class."""

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
    return names
