"""Live objects: made, read, changed, linked, deleted."""

from __future__ import annotations

import copy
import math
import pickle
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
import toft
from models import Dog, Everything, Person

NOON = datetime(2024, 2, 29, 12, 30, 15, 123456, tzinfo=timezone.utc)


def test_the_first_program(realm: toft.Realm) -> None:
    with realm.write():
        realm.create(Dog, name="Rex", age=3)
        realm.create(Dog, name="Max", age=1)
    assert [dog.name for dog in realm.objects(Dog).where("age > $0", 2)] == ["Rex"]


def test_each_type_comes_back_as_it_was_put(realm: toft.Realm) -> None:
    given = dict(
        flag=True,
        count=-(2**63),
        ratio=0.5,
        score=math.pi,
        title="Straße 🐕 \0 end",
        picture=b"\0\xff",
        born=NOON,
        maybe_flag=False,
        maybe_count=0,
        maybe_ratio=-1.5,
        maybe_score=-0.0,
        maybe_title="",
        maybe_picture=b"",
        maybe_born=NOON,
        flags=[True, False],
        counts=[1, -1],
        ratios=[1.5],
        scores=[2.5, math.inf],
        titles=["a", ""],
        pictures=[b"x"],
        dates=[NOON],
        maybe_counts=[1, None, 2],
    )
    with realm.write():
        made = realm.create(Everything, id=1, **given)
        made.other = made
        made.others = [made, made]
    for item in (
        made,
        realm.object(Everything, 1),
        realm.objects(Everything)[0],
        next(iter(realm.objects(Everything))),
    ):
        assert item is not None
        for name, value in given.items():
            assert getattr(item, name) == value, name
        assert item.other == item and item.others == [item, item]


def test_what_is_not_given_is_the_class_default_then_the_type_default(realm: toft.Realm) -> None:
    class Cat(toft.Object):
        name: str = "Tom"
        lives: int = 9
        tags: list[str] = toft.field(default_factory=lambda: ["soft"])
        weight: float
        born: datetime
        owner: Cat | None

    with toft.open_in_memory([Cat]) as cats, cats.write():
        cat = cats.create(Cat)
        assert (cat.name, cat.lives, cat.tags, cat.weight, cat.owner) == (
            "Tom",
            9,
            ["soft"],
            0.0,
            None,
        )
        assert cat.born == datetime(1970, 1, 1, tzinfo=timezone.utc)
        added = cats.add(Cat(lives=7, weight=1.0, born=NOON))
        assert (added.name, added.lives, added.tags) == ("Tom", 7, ["soft"])


def test_objects_are_live(realm: toft.Realm) -> None:
    with realm.write():
        rex = realm.create(Dog, name="Rex", age=1)
    same = realm.objects(Dog)[0]
    assert same.age == 1
    with realm.write():
        rex.age = 2
        assert same.age == 2
        rex.age += 1
    assert same.age == 3 and rex.age == 3


def test_a_cancelled_write_leaves_nothing_behind(realm: toft.Realm) -> None:
    with realm.write():
        rex = realm.create(Dog, name="Rex", age=1)
    with pytest.raises(ZeroDivisionError), realm.write():
        rex.age = 2
        max_ = realm.create(Dog, name="Max")
        assert rex.age == 2
        rex.age = 1 // 0
    assert rex.age == 1
    assert not max_.is_valid
    with pytest.raises(toft.ObjectDeletedError):
        max_.name
    assert len(realm.objects(Dog)) == 1


def test_a_block_may_end_its_write_itself(realm: toft.Realm) -> None:
    with realm.write():
        realm.create(Dog, name="Rex")
        realm.cancel()
    assert not realm.is_writing and len(realm.objects(Dog)) == 0
    with realm.write():
        realm.create(Dog, name="Rex")
        realm.commit()
    assert len(realm.objects(Dog)) == 1


def test_dates_keep_their_moment_whatever_their_zone(realm: toft.Realm) -> None:
    east = timezone(timedelta(hours=5, minutes=30))
    moments = [
        NOON.astimezone(east),
        datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=timezone.utc),
        datetime(1, 1, 1, tzinfo=timezone.utc),
        datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=timezone.utc),
        datetime(1969, 12, 31, 23, 59, 58, 1, tzinfo=timezone.utc),
    ]
    with realm.write():
        for number, moment in enumerate(moments):
            realm.create(Everything, id=number, born=moment, maybe_born=moment, dates=[moment])
    for number, moment in enumerate(moments):
        item = realm.object(Everything, number)
        assert item is not None
        assert item.born == moment and item.maybe_born == moment and list(item.dates) == [moment]
        assert item.born.tzinfo is timezone.utc
    assert [item.born for item in realm.objects(Everything)] == moments
    assert realm.objects(Everything).where("born == $0", moments[1]).count() == 1


def test_links_both_ways(realm: toft.Realm) -> None:
    with realm.write():
        ada = realm.create(Person, name="Ada")
        rex = realm.create(Dog, name="Rex", owner=ada)
        max_ = realm.create(Dog, name="Max")
        assert list(ada.dogs) == [rex]
        max_.owner = ada
    assert rex.owner == ada and rex.owner.name == "Ada"
    assert [dog.name for dog in ada.dogs] == ["Rex", "Max"]
    assert ada.dogs.where("name == 'Max'")[0] == max_
    with realm.write():
        realm.delete(ada)
    assert rex.owner is None


def test_adding_an_object_adds_what_it_links_to(realm: toft.Realm) -> None:
    ada = Person(name="Ada")
    rex, max_ = Dog(name="Rex", owner=ada, tags=["a"]), Dog(name="Max", owner=ada)
    rex.friends, max_.friends = [max_, rex], [rex]
    with realm.write():
        assert realm.add(rex) is rex
    assert rex.realm is realm and ada.realm is realm and max_.realm is realm
    assert rex.friends == [max_, rex] and rex.tags == ["a"] and max_.friends == [rex]
    assert set(ada.dogs) == {rex, max_}
    with realm.write():
        realm.add(rex)  # again: nothing to do
        rex.age = 5
    assert realm.objects(Dog).where("name == 'Rex'")[0].age == 5


def test_a_chain_of_links_may_be_long(realm: toft.Realm) -> None:
    class Node(toft.Object):
        next: Node | None

    last = first = Node()
    for _ in range(5000):
        last.next = Node()
        last = last.next
    with toft.open_in_memory([Node]) as nodes:
        with nodes.write():
            nodes.add(first)
        assert len(nodes.objects(Node)) == 5001


def test_adding_is_all_or_nothing(realm: toft.Realm) -> None:
    with realm.write():
        realm.create(Person, name="Ada", age=36)
    rex = Dog(name="Rex", owner=Person(name="Ada"))
    with realm.write():
        with pytest.raises(toft.DuplicatePrimaryKeyError):
            realm.add(rex)
        assert rex.realm is None and len(realm.objects(Dog)) == 0
        wrong = Dog(name="Max", friends=[Dog(name="Tim", tags=[3])])
        with pytest.raises(toft.TypeMismatchError):
            realm.add(wrong)
        assert wrong.realm is None and len(realm.objects(Dog)) == 0
        realm.add(rex, update="all")
    assert rex.owner is not None and rex.owner.age == 0
    assert len(realm.objects(Person)) == 1


class Task(toft.Object):
    id: int = toft.field(primary_key=True)
    title: str = ""
    counts: list[int]
    after: Task | None
    parts: list[Task]


def test_a_graph_that_fails_leaves_the_objects_that_were_there_as_they_were() -> None:
    with toft.open_in_memory([Task]) as realm, realm.write():
        old = realm.create(Task, id=9, title="old")
        first = realm.create(Task, id=1, title="first", counts=[1], after=old, parts=[old])
        second = realm.create(Task, id=2, title="second")
        before = [each.to_dict() for each in (first, second, old)]
        for update in ("all", "modified"):
            for name, wrong in (("title", 5), ("counts", [2**63]), ("counts", [None])):
                graph = Task(id=1, title="changed", counts=[5])
                graph.after = Task(id=2, title="changed", after=graph)
                graph.parts = [Task(id=3), graph.after]
                graph.after.parts = [Task(id=4, **{name: wrong})]
                with pytest.raises((TypeError, ValueError)):
                    realm.add(graph, update=update)
                assert [each.to_dict() for each in (first, second, old)] == before
                assert len(realm.objects(Task)) == 3 and graph.realm is None
        graph.after.parts = []
        realm.add(graph, update="all")
        assert first.title == second.title == "changed" and first.parts[1] == second
        assert first.after == second and second.after == first


def test_setting_a_link_to_an_object_in_no_database_adds_it(realm: toft.Realm) -> None:
    with realm.write():
        rex = realm.create(Dog, name="Rex", owner=Person(name="Ada"))
        rex.friends.append(Dog(name="Max"))
    assert [person.name for person in realm.objects(Person)] == ["Ada"]
    assert [dog.name for dog in realm.objects(Dog)] == ["Rex", "Max"]


def test_what_fails_adds_no_object_that_its_values_lead_to(realm: toft.Realm) -> None:
    new = Dog(name="New", owner=Person(name="Ada"))
    wrong: Any = 5
    with realm.write():
        rex = realm.create(Dog, name="Rex", friends=[])
        for fail in (
            lambda: setattr(rex, "friends", [new, wrong]),
            lambda: rex.friends.extend([new, wrong]),
            lambda: rex.friends.__setitem__(slice(0, 0), [new, wrong]),
            lambda: realm.create(Dog, name="Max", friends=[new], age="old"),
            lambda: realm.objects(Dog).update(friends=[new], age="old"),
            lambda: realm.insert_many(Dog, [{"name": "a", "friends": [new]}, {"name": wrong}]),
            lambda: realm.insert_many(Dog, {"name": ["a", "b"], "friends": [[new], [wrong]]}),
            lambda: realm.insert_many(Dog, [new, {"name": wrong}]),
            lambda: realm.insert_many(Dog, [new, Dog(name=wrong)]),
        ):
            with pytest.raises(toft.TypeMismatchError):
                fail()
            assert [each.name for each in realm.objects(Dog)] == ["Rex"]
            assert len(realm.objects(Person)) == 0
            assert new.realm is None and new.owner is not None and new.owner.realm is None
        rex.friends = [new]  # nothing is lost: it can be added again
    assert [each.name for each in realm.objects(Dog)] == ["Rex", "New"] and new.realm is realm


def test_an_object_that_was_deleted_is_not_added_in_silence(realm: toft.Realm) -> None:
    with realm.write():
        rex = realm.add(Dog(name="Rex"))
        realm.delete(rex)
    realm.begin_write()
    max_ = realm.add(Dog(name="Max"))
    assert realm.add(max_) is max_
    realm.cancel()
    with realm.write():
        for gone in (rex, max_):
            with pytest.raises(toft.ObjectDeletedError, match="has been deleted: add a new one"):
                realm.add(gone)
            with pytest.raises(toft.ObjectDeletedError):
                realm.insert_many(Dog, [gone])


def test_upsert_updates_what_is_given(realm: toft.Realm) -> None:
    with realm.write():
        realm.upsert(Person, name="Ada", age=36)
        realm.upsert(Person, name="Ada")  # the default of age is for new objects
        assert realm.objects(Person)[0].age == 36
        realm.upsert(Person, {"name": "Ada", "age": 37}, update="modified")
        realm.upsert(Everything, id=1, counts=[1, 2], title="a")
        realm.upsert(Everything, id=1, counts=[3])
    ada, item = realm.object(Person, "Ada"), realm.object(Everything, 1)
    assert ada is not None and ada.age == 37 and len(realm.objects(Person)) == 1
    assert item is not None and item.counts == [3] and item.title == "a"


class Version(toft.Object):
    """A class that compares and measures its objects in its own way."""

    id: int = toft.field(primary_key=True)
    number: int = 0
    before: Version | None
    older: list[Version]
    part: Part | None

    def __eq__(self, other: object) -> bool:
        return self.number == other.number  # type: ignore[attr-defined]

    def __len__(self) -> int:
        return 0


class Part(toft.EmbeddedObject):
    name: str = ""

    __eq__ = Version.__eq__


def test_a_class_may_compare_its_objects_in_its_own_way() -> None:
    with toft.open_in_memory([Version, Part]) as realm, realm.write():
        for update in ("all", "modified"):
            first = Version(id=1, number=1, part=Part(name="a"))
            second = realm.add(Version(id=2, number=2, before=first, older=[first]), update=update)
            assert second.before is not None and second.before.part is not None
            assert [each.id for each in second.older] == [1]
            realm.upsert(Version, id=1, part=Part(name="b"))
        assert len(realm.objects(Version)) == 2 and len(realm.objects(Part)) == 1


def test_objects_are_equal_when_they_are_the_same_object(realm: toft.Realm) -> None:
    with realm.write():
        rex, other = realm.create(Dog, name="Rex"), realm.create(Dog, name="Rex")
    again = realm.objects(Dog)[0]
    assert rex == again and hash(rex) == hash(again) and rex is not again
    assert rex != other and rex != "Rex" and rex != Dog(name="Rex")
    assert {rex, again, other} == {rex, other}
    assert copy.copy(rex) == rex
    with pytest.raises(TypeError):
        pickle.dumps(rex)


def test_what_is_live_cannot_be_copied_deeply_and_says_what_can(realm: toft.Realm) -> None:
    with realm.write():
        rex = realm.create(Dog, name="Rex", tags=["a"])
    for live in (rex.tags, rex.friends, realm.objects(Dog), realm, rex):
        for duplicate in (copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="cannot be pickled or copied deeply: take"):
                duplicate(live)
    assert copy.copy(rex.tags) == ["a"] and list(copy.copy(realm.objects(Dog))) == [rex]
    assert copy.deepcopy(rex.tags.copy()) == ["a"]


def test_what_is_no_object_is_not_added(realm: toft.Realm) -> None:
    with realm.write():
        for wrong in (None, 5, "Rex", [Dog(name="Rex")], Dog):
            with pytest.raises(toft.TypeMismatchError, match="An object is due"):
                realm.add(wrong)  # type: ignore[type-var]
        for row in ("Rex", ("Rex", 3), 5, None):
            with pytest.raises(toft.TypeMismatchError, match="Row 1: A row is a mapping or an obj"):
                realm.insert_many(Dog, [{"name": "Max"}, row])
    assert len(realm.objects(Dog)) == 0


def test_a_date_that_datetime_does_not_have_in_utc_is_not_written(realm: toft.Realm) -> None:
    first = datetime.min.replace(tzinfo=timezone(timedelta(hours=5)))
    last = datetime.max.replace(tzinfo=timezone(timedelta(hours=-5)))
    with realm.write():
        thing = realm.create(Everything, id=1)
        for wrong in (first, last):
            with pytest.raises(toft.InvalidArgumentError, match="outside of the years 1 to 9999"):
                thing.born = wrong
            with pytest.raises(toft.InvalidArgumentError, match="Row 1: .* outside of the years"):
                realm.insert_many(Everything, {"id": [2, 3], "born": [NOON, wrong]})
        for right in (datetime.min, datetime.max):
            thing.born = right.replace(tzinfo=timezone.utc)
            assert thing.born.replace(tzinfo=None) == right


def test_a_message_about_a_huge_int_is_short(realm: toft.Realm) -> None:
    huge = 10**5000  # which Python refuses to write in digits
    with realm.write():
        thing = realm.create(Everything, id=1)
        for put in (
            lambda: setattr(thing, "count", huge),
            lambda: setattr(thing, "score", huge),
            lambda: setattr(thing, "counts", [huge]),
            lambda: thing.increment("count", huge),
            lambda: realm.insert_many(Everything, {"id": [2], "count": [huge]}),
            lambda: realm.objects(Everything).where(Everything.count == huge),
            lambda: realm.object(Everything, huge),
        ):
            with pytest.raises(toft.InvalidArgumentError, match="an int of 16610 bits"):
                put()
        with pytest.raises(IndexError, match="an int of 16610 bits"):
            thing.counts[huge]


def test_deleting_objects_lists_results_and_classes(realm: toft.Realm) -> None:
    with realm.write():
        dogs = [realm.create(Dog, name=f"Dog {number}", age=number) for number in range(10)]
        dogs[0].friends = dogs[1:3]
        realm.delete(dogs[9])
        realm.delete(dogs[0].friends)
        assert dogs[0].friends == []
        realm.delete(realm.objects(Dog).where("age > 6"))
        realm.delete([dogs[3], dogs[4]], dogs[5], dogs[3], [[dogs[4]]])
        left = len(realm.objects(Dog))
        for wrong in ("Rex", b"Rex", 5, None, ["Rex"], {"Rex": dogs[0]}):
            with pytest.raises(toft.TypeMismatchError, match="Objects are due to be deleted"):
                realm.delete(dogs[0], wrong)
        assert len(realm.objects(Dog)) == left
    assert [dog.age for dog in realm.objects(Dog)] == [0, 6]
    assert [dog.is_valid for dog in dogs] == [True, *[False] * 5, True, *[False] * 3]
    assert repr(dogs[9]).startswith("<Dog: ")
    with realm.write():
        realm.create(Person, name="Ada")
        realm.delete_all(Dog)
        assert len(realm.objects(Dog)) == 0 and len(realm.objects(Person)) == 1
        realm.delete_all()
    assert len(realm.objects(Person)) == 0


def test_a_number_of_another_kind_is_converted_where_nothing_is_lost(realm: toft.Realm) -> None:
    numpy = pytest.importorskip("numpy")
    with realm.write():
        item = realm.create(Everything, id=1, score=3, ratio=2, scores=[1, 2], maybe_score=4)
        assert (item.score, item.ratio, item.scores, item.maybe_score) == (
            3.0,
            2.0,
            [1.0, 2.0],
            4.0,
        )
        item.count, item.score, item.flag = numpy.int32(7), numpy.float32(0.5), numpy.bool_(True)
        item.counts = numpy.array([1, 2, 3])
        item.picture = bytearray(b"abc")
    assert (item.count, item.score, item.flag, item.counts, item.picture) == (
        7,
        0.5,
        True,
        [1, 2, 3],
        b"abc",
    )


def test_classes_that_no_program_declares_come_from_the_file(
    realm: toft.Realm, path: object
) -> None:
    with realm.write():
        ada = realm.create(Person, name="Ada", age=36)
        realm.create(Dog, name="Rex", owner=ada, tags=["x"])
    with toft.open(str(path)) as other:
        assert sorted(other.classes) == ["Dog", "Everything", "Person"]
        rex = other.objects("Dog")[0]
        assert (rex.name, rex.owner.name, rex.tags, rex.owner.dogs[0]) == ("Rex", "Ada", ["x"], rex)
        assert repr(rex) == "Dog(name='Rex', age=0)"
        with other.write():
            other.create("Dog", name="Max")
            other.object("Person", "Ada").age += 1
        assert other.create is not None
    realm.refresh()
    assert ada.age == 37 and len(realm.objects(Dog)) == 2


class Account(toft.Object):
    """Its primary key is spelled as MongoDB spells it, others as Python can't."""

    _id: int = toft.field(primary_key=True)
    realm_: str = toft.field(name="realm", default="none")
    class_: str = toft.field(name="class", default="")
    words: str = toft.field(name="two-words", default="")
    parent: Account | None
    children = toft.linking_objects("Account", "parent")


def test_names_of_the_file_need_not_be_those_of_attributes(path: Path) -> None:
    with toft.open(path, [Account]) as realm:
        with realm.write():
            root = realm.create(Account, _id=1, realm_="a", class_="b", words="c")
            leaf = realm.add(Account(_id=2, parent=root))
        assert (root._id, root.realm_, root.class_, root.words) == (1, "a", "b", "c")
        assert root.realm is realm
        assert realm.object(Account, 2) == leaf
        accounts = realm.objects(Account)
        assert list(accounts.where("_id == 2 AND realm == 'none'")) == [leaf]
        assert [each._id for each in accounts.sort("-_id")] == [2, 1]
        assert (accounts.sum("_id"), accounts.max("_id")) == (3, 2)
        assert list(root.children) == [leaf]
        assert repr(leaf) == "Account(_id=2, realm_='none', class_='', words='')"
        with realm.write():
            realm.upsert(Account, _id=2, words="d")
            leaf.class_ = "e"
        assert (leaf.words, leaf.class_, leaf.realm_) == ("d", "e", "none")


def test_a_file_whose_names_python_uses_is_read_without_declarations(path: Path) -> None:
    with toft.open(path, [Account]) as realm, realm.write():
        realm.create(Account, _id=1, realm_="a", class_="b", words="c")
    with toft.open(path) as realm:
        [account] = realm.objects("Account")
        assert (account._id, account.realm_, account.class_) == (1, "a", "b")
        assert getattr(account, "two-words") == "c"
        assert account.realm is realm
        assert "_id=1, realm_='a', class_='b'" in repr(account)
        assert realm.object("Account", 1) == account
        with realm.write():
            account.realm_ = "z"
        assert realm.objects("Account").where("realm == 'z'")[0]._id == 1
