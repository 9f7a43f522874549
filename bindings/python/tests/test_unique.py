"""Properties whose values together are unique."""

from __future__ import annotations

from pathlib import Path

import pytest

import toft


class Person(toft.Object):
    email: str | None = toft.field(unique=True)
    street: str = toft.field(unique="address", default="")
    number: int | None = toft.field(unique=("address", "plot"))
    town: str = toft.field(unique="plot", default="")


def test_a_commit_with_two_of_the_same_is_cancelled(path: Path) -> None:
    with toft.open(path, [Person]) as realm:
        with realm.write():
            for _ in range(2):
                realm.create(Person)
            realm.create(Person, email="a", street="s", number=1, town="t")
            realm.create(Person, email="b", street="s", number=2, town="t")
        for given, words in (
            ({"email": "a"}, "email = 'a'"),
            ({"street": "s", "number": 2, "town": "u"}, "street = 's' and number = 2"),
            ({"street": "v", "number": 2, "town": "t"}, "number = 2 and town = 't'"),
        ):
            with pytest.raises(toft.DuplicateValueError, match=words), realm.write():
                realm.create(Person, **given)
            assert not realm.is_writing and len(realm.objects(Person)) == 4
        a, b = realm.objects(Person).where("email != nil").sort("email")
        with realm.write():
            a.email, b.email = b.email, a.email
        with realm.write():
            a.number = b.number
            b.number = 1
        assert (a.email, a.number, b.email, b.number) == ("b", 2, "a", 1)
        with pytest.raises(toft.DuplicateValueError), realm.write():
            realm.objects(Person).update(email="c")
        with pytest.raises(toft.DuplicateValueError), realm.write():
            realm.insert_many(Person, [{"email": "x"}, {"email": "x"}])
        assert not realm.check().problems


def test_it_is_added_to_clean_data_only(path: Path) -> None:
    def declared(unique: bool) -> type[toft.Object]:
        body = {"__annotations__": {"name": "str"}, "name": toft.field(unique=unique)}
        return type("Dog", (toft.Object,), body)

    with toft.open(path, [declared(False)]) as realm, realm.write():
        for name in ("Rex", "Ace", "Rex"):
            realm.create("Dog", name=name)
    with pytest.raises(
        toft.DuplicateValueError, match="name = 'Rex', which is unique. Change one of them"
    ):
        toft.open(path, [declared(True)])
    with toft.open(path, [declared(False)]) as realm, realm.write():
        realm.delete(realm.objects("Dog")[0])
    with toft.open(path, [declared(True)]) as realm:
        with pytest.raises(toft.DuplicateValueError), realm.write():
            realm.create("Dog", name="Ace")
    with toft.open(path) as realm:  # the constraint is the file's
        with pytest.raises(toft.DuplicateValueError), realm.write():
            realm.create("Dog", name="Ace")


def test_what_cannot_be_unique_is_refused(path: Path) -> None:
    class Thing(toft.Object):
        ratio: float = toft.field(unique=True, default=0.0)
        tags: list[str] = toft.field(unique=True)

    with pytest.raises(toft.InvalidSchemaError) as caught:
        toft.open(path, [Thing])
    assert "of type double and can't be unique" in caught.value.detail
    assert "is a list and can't be unique" in caught.value.detail
