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


class User(toft.Object):
    id: int = toft.field(primary_key=True, auto_increment=True)
    email: str | None = toft.field(unique=True, name="e-mail")
    name: str = ""
    visits: int = 0
    friends: list[User]


def test_an_upsert_by_a_unique_property_finds_the_object(path: Path) -> None:
    with toft.open(path, [User]) as realm:
        with realm.write():
            ann = realm.upsert(User, by="email", email="a", name="Ann", visits=3)
            same = realm.upsert(User, by=User.email, email="a", visits=4)
            assert same == ann and (ann.id, ann.name, ann.visits) == (1, "Ann", 4)
            ben = realm.upsert(User, {"email": "b", "friends": [ann]}, by="email")
            assert ben.id == 2 and ben.friends == [ann]
            nobody = [realm.upsert(User, by="email", email=None).id for _ in range(2)]
            assert nobody == [3, 4]  # None is the same as nothing else
            assert realm.upsert(User, by="id", id=2, name="Ben").name == "Ben"
            with pytest.raises(toft.InvalidArgumentError, match="has the id 1, not 2"):
                realm.upsert(User, by="email", email="a", id=2)
        assert [user.email for user in realm.objects(User)] == ["a", "b", None, None]


def test_an_upsert_by_properties_that_are_unique_together(path: Path) -> None:
    with toft.open(path, [Person]) as realm:
        with realm.write():
            one = realm.upsert(Person, by=("number", "street"), street="s", number=1, town="t")
            two = realm.upsert(Person, by=(Person.street, "number"), street="s", number=2)
            again = realm.upsert(Person, by=("number", "town"), number=1, town="t", email="x")
            assert again == one != two and one.email == "x" and one.street == "s"
            with pytest.raises(toft.TypeMismatchError):
                realm.upsert(Person, by="email", email="x", town="u", number="five")
            assert one.town == "t"
            same = realm.upsert(Person, by="email", update="modified", email="x", town="t")
            assert same == one
        assert len(realm.objects(Person)) == 2


def test_an_upsert_by_what_is_not_unique_or_not_given_is_refused(path: Path) -> None:
    with toft.open(path, [Person, User]) as realm, realm.write():
        for by in ("street", ("street", "email"), ()):
            with pytest.raises(toft.InvalidArgumentError, match="is not unique: declare it"):
                realm.upsert(Person, by=by, street="s", email="x")
        with pytest.raises(toft.InvalidArgumentError, match="needs the email of the object"):
            realm.upsert(Person, by="email", town="t")
        with pytest.raises(toft.NoSuchPropertyError, match="emial"):
            realm.upsert(Person, by="emial", emial="x")
        with pytest.raises(toft.InvalidArgumentError, match="is not a property of Person"):
            realm.upsert(Person, by=User.email, email="x")
        assert not realm.objects(Person)
