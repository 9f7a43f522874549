"""Results: chained, live, sliced, looped over, summed, read as columns."""

from __future__ import annotations

import io
import json
import random
import threading
from collections.abc import Iterator
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path

import pytest
import toft
from models import ALL, Dog, Everything, Person


class Note(toft.Object):
    id: int = toft.field(primary_key=True)
    anything: toft.Mixed
    many: list[toft.Mixed]
    members: set[toft.Mixed]
    named: dict[str, toft.Mixed | None]


@pytest.fixture
def realm(path: Path) -> Iterator[toft.Realm]:
    with toft.open(path, [*ALL, Note]) as realm:
        yield realm


@pytest.fixture
def dogs(realm: toft.Realm) -> toft.Results[Dog]:
    with realm.write():
        ada = realm.create(Person, name="Ada", age=36)
        for name, age in [("Rex", 3), ("Max", 1), ("Tim", 3), ("Ann", 7), ("Bob", 2)]:
            realm.create(
                Dog, name=name, age=age, owner=ada if age == 3 else None, tags=[name.lower()]
            )
    return realm.objects(Dog)


def names(results: object) -> list[str]:
    return [dog.name for dog in results]  # type: ignore[attr-defined]


def test_chains(dogs: toft.Results[Dog]) -> None:
    assert names(dogs.where("age > $0", 1).sort("-age", "name")) == ["Ann", "Rex", "Tim", "Bob"]
    assert names(dogs.sort("age").distinct("age").limit(3)) == ["Max", "Bob", "Rex"]
    assert names(dogs.where("owner.name == 'Ada'")) == ["Rex", "Tim"]
    assert names(dogs.where("age IN $0", [1, 2])) == ["Max", "Bob"]
    assert names(dogs.where("age IN $0 AND name != $1", {1, 7}, "Max")) == ["Ann"]
    assert names(dogs.where("ANY tags == $0", "bob")) == ["Bob"]
    assert names(dogs.sort("-owner.age", "-name").limit(2)) == ["Tim", "Rex"]
    assert names(dogs.where("owner == $0", dogs[0].owner)) == ["Rex", "Tim"]
    assert names(dogs.where("owner == $0", None).where("age > 1")) == ["Ann", "Bob"]


def test_results_are_sequences(dogs: toft.Results[Dog]) -> None:
    assert len(dogs) == 5 and dogs.count() == 5 and bool(dogs)
    assert dogs[0].name == "Rex" and dogs[-1].name == "Bob"
    everything = ["Rex", "Max", "Tim", "Ann", "Bob"]
    for cut in (
        slice(None),
        slice(1, 3),
        slice(-2, None),
        slice(None, None, 2),
        slice(None, None, -1),
        slice(4, 0, -3),
        slice(9, 3),
        slice(3, 99),
    ):
        assert names(dogs[cut]) == everything[cut], cut
    assert names(reversed(dogs)) == everything[::-1]
    assert dogs[2] in dogs and dogs.index(dogs[2]) == 2
    old = dogs.where("age > 2")
    assert dogs[1] not in old and "Rex" not in old and None not in old
    with pytest.raises(ValueError):
        old.index(dogs[1])
    for wrong in (5, -6, 2**70):
        with pytest.raises(IndexError):
            dogs[wrong]
    first, last, none = dogs.first(), dogs.last(), dogs.where("age > 99")
    assert first is not None and last is not None and (first.name, last.name) == ("Rex", "Bob")
    assert none.first() is None and none.last() is None and not none and list(none) == []
    assert repr(dogs) == "<Results of Dog: 5>"


def test_a_large_slice_is_read_by_blocks(realm: toft.Realm) -> None:
    with realm.write():
        for number in range(5000):
            realm.create(Dog, age=number)
    dogs = realm.objects(Dog)
    seed = random.randrange(2**32)
    print("seed", seed)
    chance = random.Random(seed)
    for _ in range(60):
        cut = slice(
            chance.randint(-6000, 6000),
            chance.randint(-6000, 6000),
            chance.choice([1, 1, 7, 2500, -1, -13, -4000]),
        )
        assert [dog.age for dog in dogs[cut]] == list(range(5000))[cut], (cut, seed)
    assert [dog.age for dog in dogs] == list(range(5000))


def test_results_are_live(dogs: toft.Results[Dog], realm: toft.Realm) -> None:
    old = dogs.where("age > 2").sort("name")
    assert names(old) == ["Ann", "Rex", "Tim"]
    kept = old.snapshot()
    with realm.write():
        dogs[0].age = 0
        assert names(old) == ["Ann", "Tim"]
        realm.create(Dog, name="New", age=9)
        assert names(old) == ["Ann", "New", "Tim"]
    assert names(kept) == ["Ann", "Rex", "Tim"]


def test_the_columns_of_a_snapshot_are_null_where_an_object_was_deleted(
    dogs: toft.Results[Dog], realm: toft.Realm
) -> None:
    kept = dogs.where("age > 2").sort("name").snapshot()
    with realm.write():
        realm.delete(kept[1])
    assert [dog and dog.name for dog in kept[:]] == ["Ann", None, "Tim"]
    lists = kept.lists("name", "age")
    assert lists["name"] == ["Ann", None, "Tim"]
    assert [age is None for age in lists["age"]] == [False, True, False]
    numpy = pytest.importorskip("numpy")
    assert numpy.ma.getmaskarray(kept.columns("age")["age"]).tolist() == [False, True, False]


def test_a_loop_goes_through_what_there_was_when_it_began(
    dogs: toft.Results[Dog], realm: toft.Realm
) -> None:
    seen = []
    with realm.write():
        for dog in dogs.where("age < 5").sort("age"):
            seen.append((dog.name, dog.age))
            dog.age += 10  # leaves the results
            realm.create(Dog, name="New", age=0)
    assert seen == [("Max", 1), ("Bob", 2), ("Rex", 3), ("Tim", 3)]
    assert sorted(dog.age for dog in dogs if dog.name != "New") == [7, 11, 12, 13, 13]


def test_a_loop_visits_what_it_deletes_ahead_of_itself(realm: toft.Realm) -> None:
    with realm.write():
        for number in range(300):
            realm.create(Dog, age=number)
        seen, gone = [], []
        dogs = realm.objects(Dog)
        for dog in dogs:
            if not dog.is_valid:
                gone.append(dog)
                continue
            seen.append(dog.age)
            if dog.age % 10 == 0:
                realm.delete(dogs.where("age > $0 AND age < $1", dog.age, dog.age + 9))
            if dog.age == 29:
                realm.delete(dog)
    assert seen == [number for number in range(300) if number % 10 in (0, 9)]
    assert len(gone) == 240 and len(set(gone)) == 240 and gone[0] != gone[1]
    with pytest.raises(toft.ObjectDeletedError):
        gone[0].age
    with pytest.raises(toft.ObjectDeletedError):
        gone[-1].age
    assert len(dogs) == 59 and realm.check()


def test_what_a_snapshot_has_lost_is_visited_and_left_out_of_dictionaries(
    realm: toft.Realm,
) -> None:
    with realm.write():
        for number in range(100):
            realm.create(Dog, name=str(number), age=number)
    kept = realm.objects(Dog).where("age < 90").snapshot()
    with realm.write():
        realm.delete(realm.objects(Dog).where("age >= 50"))
    assert [dog.is_valid for dog in kept] == [True] * 50 + [False] * 40
    assert [each["age"] for each in kept.to_dicts()] == list(range(50))
    assert len(json.loads(kept.to_json())) == 50
    lines = io.StringIO()
    assert kept.write_json_lines(lines) == 50


def test_a_row_of_a_loop_never_shows_what_is_no_longer_true(realm: toft.Realm) -> None:
    with realm.write():
        for number in range(100):
            realm.create(Dog, name=str(number), age=number)
    rows = list(realm.objects(Dog))
    assert sum(dog.age for dog in rows) == 4950
    with realm.write():
        rows[3].age = 1000
        assert rows[3].age == 1000 and realm.objects(Dog)[3].age == 1000
        realm.delete(rows[4])
        assert rows[5].age == 5 and rows[5].name == "5"
        with pytest.raises(toft.ObjectDeletedError):
            rows[4].age
        realm.cancel()
    assert rows[3].age == 3 and rows[4].age == 4
    with toft.open(realm.path, [Dog, Person, Everything]) as other, other.write():
        other.objects(Dog)[6].age = 60
    assert rows[6].age == 6
    realm.refresh()
    assert rows[6].age == 60


def test_aggregates(dogs: toft.Results[Dog], realm: toft.Realm) -> None:
    assert (dogs.min("age"), dogs.max("age"), dogs.sum("age"), dogs.average("age")) == (
        1,
        7,
        16,
        3.2,
    )
    assert dogs.sum("owner.age") == 72
    assert dogs.max(Dog.owner.age) == 36
    assert dogs.where("age > 99").sum("owner.age") == 0
    none = dogs.where("age > 99")
    assert (none.min("age"), none.max("age"), none.sum("age"), none.average("age")) == (
        None,
        None,
        0,
        None,
    )
    with realm.write():
        noon = datetime(2024, 1, 1, 12, tzinfo=timezone.utc)
        item = realm.create(
            Everything, id=1, counts=[3, 1, 2], scores=[0.5], maybe_born=noon, score=0.25
        )
    assert item.counts and (
        item.counts.results.min(),
        item.counts.results.sum(),
        item.counts.results.average(),
    ) == (1, 6, 2.0)
    assert list(item.counts.results.sort("self")) == [1, 2, 3]
    assert realm.objects(Everything).max("maybe_born") == noon
    assert realm.objects(Everything).sum("score") == 0.25
    with realm.write():
        item.counts[:] = [2**63 - 1, 1]
    assert item.counts.results.average() == 2.0**62
    with pytest.raises(toft.OverflowError) as raised:
        item.counts.results.sum()
    assert isinstance(raised.value, OverflowError)
    for wrong in ("name", "tags", "owner", "owner.name"):
        with pytest.raises(toft.UnsupportedAggregateError):
            dogs.sum(wrong)
    with pytest.raises(TypeError):
        dogs.sum()
    with pytest.raises(AttributeError):
        dogs.sum("nothing")


def test_columns_as_arrays(realm: toft.Realm) -> None:
    numpy = pytest.importorskip("numpy")
    noon = datetime(2024, 1, 1, 12, tzinfo=timezone.utc)
    with realm.write():
        one = realm.create(
            Everything,
            id=1,
            flag=True,
            count=5,
            ratio=0.5,
            score=1.5,
            title="a",
            picture=b"x",
            born=noon,
            maybe_count=7,
        )
        realm.create(Everything, id=2, other=one, maybe_title="b")
    columns = realm.objects(Everything).columns()
    assert columns["count"].dtype == numpy.int64 and columns["count"].tolist() == [5, 0]
    assert columns["flag"].dtype == numpy.bool_ and columns["flag"].tolist() == [True, False]
    assert columns["ratio"].dtype == numpy.float32 and columns["score"].tolist() == [1.5, 0.0]
    assert columns["title"].tolist() == ["a", ""] and columns["picture"].tolist() == [b"x", b""]
    assert columns["born"].tolist() == [noon.replace(tzinfo=None), datetime(1970, 1, 1)]
    assert columns["maybe_count"].tolist() == [7, None] and columns[
        "maybe_count"
    ].mask.tolist() == [False, True]
    assert columns["maybe_title"].tolist() == [None, "b"]
    assert columns["other"].mask.tolist() == [True, False]
    assert list(realm.objects(Everything).columns("score", "id")) == ["score", "id"]
    assert realm.objects(Everything).where("id > 5").columns("id")["id"].shape == (0,)


def test_columns_as_lists(realm: toft.Realm) -> None:
    with realm.write():
        for number in range(3000):
            realm.create(
                Everything,
                id=number,
                title=f"title {number}",
                maybe_count=number if number % 3 else None,
            )
    lists = realm.objects(Everything).where("id >= 5").lists("title", "maybe_count")
    assert lists["title"] == [f"title {number}" for number in range(5, 3000)]
    assert lists["maybe_count"] == [number if number % 3 else None for number in range(5, 3000)]
    for wrong, error in (("tags", AttributeError), ("counts", TypeError)):
        with pytest.raises(error):
            realm.objects(Everything).lists(wrong)


def test_columns_hold_dates_beyond_pythons(realm: toft.Realm) -> None:
    numpy = pytest.importorskip("numpy")
    with realm.write():
        realm.create(Everything, id=1)
    import ctypes

    from toft import _ffi, _lib, _values

    item = realm.objects(Everything)[0]
    far = _ffi.toft_value(type=_values.DATE, date=_ffi.toft_date(10**12, 5000))
    with realm.write():
        single = item._rows.single(item)  # type: ignore[attr-defined]
        key = single.binding.property("born").key
        _lib.library().toft_object_set(single.handle().address, key, ctypes.byref(far))
        realm.create(Everything, id=2)
    with pytest.raises(ValueError, match="1000000000000 seconds"):
        realm.objects(Everything)[0].born
    assert [each.born.year for each in realm.objects(Everything) if each.id == 2] == [1970]
    born = realm.objects(Everything).columns("born")["born"]
    assert born[0] == numpy.datetime64(10**12 * 1_000_000 + 5, "us")


def test_inverse_properties_are_parts_of_paths(realm: toft.Realm, dogs: toft.Results[Dog]) -> None:
    people = realm.objects(Person)
    assert [each.name for each in people.where("dogs.@count == 2")] == ["Ada"]
    assert [each.name for each in people.where("ANY dogs.tags == 'rex'")] == ["Ada"]
    assert names(dogs.where("owner.dogs.name == 'Tim'")) == ["Rex", "Tim"]
    assert names(dogs.where("owner.dogs.@min.age == 3").sort("-name")) == ["Tim", "Rex"]


class Street(toft.Object):
    größe: int
    full_name: str = toft.field(name="voller-Name", default="")
    nächste: Street | None


def test_names_hold_letters_beyond_ascii(path: Path) -> None:
    with toft.open(path, [Street]) as realm:
        with realm.write():
            last = realm.create(Street, größe=3, full_name="Lange Straße")
            realm.create(Street, größe=5, nächste=last)
        streets = realm.objects(Street)
        assert len(streets.where("größe > 4 AND nächste.größe == 3")) == 1
        assert len(streets.where("voller-Name CONTAINS 'Straße'")) == 1
        assert len(streets.where("nächste.voller-Name == 'Lange Straße'")) == 1
        assert streets.sort("-größe")[0].größe == 5


def test_queries_of_any_length_and_nesting_end(dogs: toft.Results[Dog]) -> None:
    for depth in (1, 10, 100):
        assert names(dogs.where("(" * depth + "age == 7" + ")" * depth)) == ["Ann"]
    for text in ("(" * 100_000 + "age == 7", "NOT " * 100_000, "age == 7 AND " * 50_000):
        with pytest.raises(toft.QueryError):
            dogs.where(text).count()
    assert len(dogs.where(" OR ".join(f"age == {age}" for age in range(2_000)))) == 5
    assert len(dogs.where("name MATCHES $0", "(a*)*b" + "a" * 1_000)) == 0
    with pytest.raises(toft.QueryError, match="2000 steps"):
        dogs.where("name MATCHES $0", "a" * 20_000)


def test_a_plan_can_be_read(dogs: toft.Results[Dog]) -> None:
    assert "age" in dogs.where("age > 3").explain()


def test_a_query_is_text_again(dogs: toft.Results[Dog]) -> None:
    assert dogs.where("age > 0").query.startswith("age > 0")
    found = dogs.where("age >= $0 and name != $1", 3, "it's").sort("name").limit(2).where("age < 9")
    text = r"age >= 3 AND name != 'it\'s' SORT(name ASC) LIMIT(2) FILTER(age < 9)"
    assert found.query == text
    assert dogs.where(text).query == text
    assert [dog.name for dog in dogs.where(text)] == [dog.name for dog in found]
    assert dogs.where(Dog.age > 3).query == "age > 3"


def test_an_alias_stands_for_a_path(realm: toft.Realm, dogs: toft.Results[Dog]) -> None:
    realm.alias(Dog, "years", "age")
    assert len(dogs.where("years > 3")) == len(dogs.where("age > 3"))
    assert dogs.where("years > 3").query == "age > 3"
    assert [dog.age for dog in dogs.sort("years")] == [dog.age for dog in dogs.sort("age")]
    with pytest.raises(toft.InvalidArgumentError, match="UTF-8"):
        realm.alias(Dog, "\ud800", "age")
    realm.alias(Dog, "years", None)
    with pytest.raises(toft.InvalidQueryError):
        dogs.where("years > 3")


def test_an_alias_stands_for_a_path_in_groups_aggregates_and_texts(
    realm: toft.Realm, dogs: toft.Results[Dog]
) -> None:
    realm.alias(Dog, "years", "age")
    realm.alias(Dog, "master", "owner")
    realm.alias(Person, "called", "name")
    assert dogs.max("years") == 7 and dogs.average("years") == dogs.average("age")
    assert dogs.group_by("master.called").count() == {None: 3, "Ada": 2}
    assert dogs.group_by("owner.name").max("years") == {None: 7, "Ada": 3}
    found = dogs.where("master.called == 'Ada'").sort("-years").distinct("years")
    text = found.query
    assert text == "owner.name == 'Ada' SORT(age DESC) DISTINCT(age)"
    realm.alias(Dog, "master", None)
    realm.alias(Dog, "years", "name")
    assert found.query == text and names(dogs.where(text)) == names(found)
    with pytest.raises(toft.InvalidQueryError, match="Did you mean 'years'"):
        dogs.where("yeasr == 1")
    with pytest.raises(toft.NoSuchPropertyError):
        dogs.max("nothing")
    with pytest.raises(toft.NoSuchPropertyError):
        dogs.group_by("nothing")


def test_keys_of_dictionaries_and_mixed_values_in_groups_and_aggregates(
    realm: toft.Realm,
) -> None:
    with realm.write():
        for id, value in enumerate([3, "x", [1, 2], None, {"a": 1}]):
            realm.create(Note, id=id, anything=value, named={"a b": id % 2, "it's": id})
    notes = realm.objects(Note)
    assert notes.group_by("named['a b']").count() == {0: 3, 1: 2}
    assert notes.max("named['it\\'s']") == 4 and notes.sum("named['a b']") == 2
    assert notes.group_by("named['a b']").max("named['a b']") == {0: 0, 1: 1}
    assert [note.id for note in notes.sort("-named['it\\'s']")] == [4, 3, 2, 1, 0]
    realm.alias(Note, "point", "named['a b']")
    assert [note.id for note in notes.where("point == 1")] == [1, 3]
    assert notes.where("point == 1").query == "named['a b'] == 1"
    # Lists and dictionaries are neither least nor greatest, and no keys.
    assert notes.max("anything") == "x" and notes.min("anything") == 3
    with pytest.raises(toft.TypeMismatchError, match="anything: lists"):
        notes.group_by("anything").count()
    assert notes.where("id < 2").group_by("anything").count() == {3: 1, "x": 1}


def test_explain_counts_what_is_sorted_and_knows_of_an_owner_that_is_gone(
    realm: toft.Realm, dogs: toft.Results[Dog]
) -> None:
    with realm.write():
        for id in range(5):
            realm.create(Note, id=id, anything=-id)
        person = realm.create(Person, name="Eve")
        realm.create(Dog, name="Pug", owner=person)
    two = realm.objects(Note).where("id IN {1, 3}")
    assert "read 0 objects" in two.explain()
    assert "read 2 objects" in two.sort("anything").explain()
    found = person.dogs.where("age >= 0")
    assert "1 result" in found.explain()
    with realm.write():
        realm.delete(person)
    with pytest.raises(toft.CollectionInvalidatedError):
        found.explain()


def test_a_question_about_an_object_in_no_database_does_not_add_it(
    dogs: toft.Results[Dog], realm: toft.Realm
) -> None:
    new, ada = Dog(name="New"), Person(name="New")
    with realm.write():
        note = realm.create(Note, id=1, anything=[1])
        assert new not in dogs and new not in dogs[0].friends
        assert new not in note.many and [new] not in note.many and new not in note.named.values()
        note.members.discard(new)
        with pytest.raises(ValueError, match="is not in the results"):
            dogs.index(new)
        for ask in (
            lambda: dogs.where(Dog.owner == ada),
            lambda: dogs.where("owner IN $0", [ada]),
            lambda: toft.Query("owner == $0").matches(dogs[0], ada),
            lambda: realm.object(Note, ada),
        ):
            with pytest.raises(toft.InvalidArgumentError, match="is in no database: say realm.add"):
                ask()
        assert new.realm is None and ada.realm is None
        dogs[0].friends.append(new)  # memory that asked is used again
    assert new in dogs and ada.is_valid and len(dogs) == 6 and len(realm.objects(Person)) == 1


def test_what_is_written_one_by_one_leaves_no_object_behind(
    dogs: toft.Results[Dog], realm: toft.Realm
) -> None:
    new = Dog(name="New")
    with realm.write():
        note = realm.create(Note, id=1, members={1}, named={"a": dogs[0]}, many=[1, 2, 3])
        for fail in (
            lambda: note.members.update([new, dogs[1], object()]),
            lambda: note.members.__ior__([2, new, {3}]),
            lambda: note.named.update({"a": new, "b.c": 1}),
            lambda: note.named.update({"a": new, "b": object()}),
            lambda: note.many.__setitem__(slice(None, None, 2), [new, object()]),
            lambda: dogs[0].friends.__setitem__(slice(None, None, -1), [new]),
        ):
            with pytest.raises((toft.TypeMismatchError, ValueError)):
                fail()
            assert note.members == {1} and note.named == {"a": dogs[0]} and note.many == [1, 2, 3]
            assert len(dogs) == 5 and new.realm is None
        note.members.update([new, 2])
        note.named.update({"a": new})
        note.many[::2] = [new, new]
    assert len(dogs) == 6 and new in note.members and note.many == [new, 2, new]


def test_what_cannot_be_among_results_has_no_index(dogs: toft.Results[Dog]) -> None:
    for wrong in (5, "Rex", None, [dogs[0]]):
        assert wrong not in dogs
        with pytest.raises(ValueError, match="is not in the results"):
            dogs.index(wrong)  # type: ignore[arg-type]


def test_limits_may_be_huge_and_are_whole(dogs: toft.Results[Dog], realm: toft.Realm) -> None:
    for huge in (2**63, 2**64, 2**64 + 1, 10**5000):
        assert len(dogs.limit(huge)) == 5 and len(dogs.offset(huge)) == 0
        with pytest.raises(IndexError):
            dogs[huge]
    for wrong in (1.5, "1", None):
        with pytest.raises(TypeError):
            dogs.limit(wrong)  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            dogs.offset(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        realm.compact_step(1.5)  # type: ignore[arg-type]


def test_bad_queries_say_where_they_are_wrong(dogs: toft.Results[Dog]) -> None:
    with pytest.raises(toft.QuerySyntaxError) as raised:
        dogs.where("age > > 3")
    assert (
        "^" in raised.value.detail
        and raised.value.number > 0
        and isinstance(raised.value, ValueError)
    )
    for query, arguments, error in [
        ("agee > 3", (), toft.InvalidQueryError),
        ("age > 'x'", (), toft.QueryTypeMismatchError),
        ("age > $0", (), toft.InvalidQueryArgumentError),
        ("age > $0", ("x",), toft.QueryError),
    ]:
        with pytest.raises(error):
            dogs.where(query, *arguments)
    for results in (
        lambda: dogs.sort("nothing"),
        lambda: dogs.distinct("nothing"),
        lambda: dogs.sort(),
        lambda: dogs.limit(-1),
    ):
        with pytest.raises(toft.Error):
            results()
    for wrong in (3, None, ["age"]):
        with pytest.raises(TypeError):
            dogs.where(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        dogs.where("age > $0", object())
    with pytest.raises(ValueError):
        dogs.where("name == '\ud800'")


def test_another_thread_ends_a_query(realm: toft.Realm) -> None:
    with realm.write():
        count = 60_000
        # All different: a text that repeats is tested once for many objects.
        titles = [f"{'a' * 40}b{number}" for number in range(count)]
        realm.insert_many(Everything, {"id": range(count), "title": titles})
    slow = " AND ".join(f"title LIKE '*{'a*' * number}b*'" for number in range(1, 31))
    found = realm.objects(Everything).where(slow)
    ended = threading.Event()

    def interrupt() -> None:
        while not ended.wait(0.001):
            realm.interrupt()

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(toft.InterruptedError):
            found.count()
    finally:
        ended.set()
        thread.join()
    assert found.count() == count


@pytest.mark.parametrize(
    "condition",
    [
        "title LIKE[c] $0",
        "NOT title LIKE[c] $0",
        "ANY titles LIKE[c] $0",
        "title LIKE[c] ANY titles",
        "title MATCHES '.*a{1900}b'",
        "ALL titles MATCHES '.*a{1900}b' SORT(id DESC)",
    ],
)
def test_the_look_at_one_long_text_is_interrupted(realm: toft.Realm, condition: str) -> None:
    # To look at all of it takes a minute.
    pattern = "*" + "a" * 10_000 + "b"
    long = "a" * 2_000_000
    titles = [pattern if condition.endswith("ANY titles") else long]
    with realm.write():
        realm.create(Everything, id=1, title=long, titles=titles)
    interrupter = threading.Timer(0.3, realm.interrupt)
    interrupter.start()
    arguments = [pattern] if "$0" in condition else []
    with pytest.raises(toft.InterruptedError):
        len(realm.objects(Everything).where(condition, *arguments))
    interrupter.join()
    assert len(realm.objects(Everything).where("title LIKE '*a*'")) == 1


class Flagged(toft.Object):
    id: int = toft.field(primary_key=True)
    name: str
    flag: bool
    flags: set[bool]
    left: toft.Mixed
    right: toft.Mixed
    things: list[toft.Mixed]
    kin: set[Flagged]


@pytest.fixture
def flagged() -> Iterator[toft.Results[Flagged]]:
    with toft.open_in_memory([Flagged]) as realm:
        with realm.write():
            for number, (left, right) in enumerate(
                ((5, 5.0), ("Ab", "aB"), (True, True), (5, 6), (None, None), (10**30, 10.0**30))
            ):
                one = realm.create(Flagged, id=number, name=f"n{number}", flag=True, flags=[True])
                one.left = Decimal(left) if number == 5 else left
                one.right = right
                one.things = [left if number < 5 else "x", 0]
                one.kin = [one]
        yield realm.objects(Flagged)


def test_a_set_of_booleans_is_a_list_of_them_only_if_it_has_each(
    flagged: toft.Results[Flagged],
) -> None:
    for path in ("flags", "kin.flag"):
        assert flagged.where(f"{path} == {{true, false}}").count() == 0
        assert flagged.where(f"{path} != {{true, false}}").count() == 6
        assert flagged.where(f"{path} == {{true}}").count() == 6


def test_two_mixed_values_are_compared_by_value_where_case_says_nothing(
    flagged: toft.Results[Flagged],
) -> None:
    def found(query: str) -> list[int]:
        return [one.id for one in flagged.where(query)]

    assert found("left == right") == [0, 2, 4]
    assert found("left ==[c] right") == [0, 1, 2, 4]
    assert found("left !=[c] right") == [3, 5]
    assert found("left == 1000000000000000000000000000000") == [5]
    assert found("left > 99999999999999999999999999999999999999") == []
    assert found("right >= 1000000000000000019884624838657") == []
    assert found("right >= 1000000000000000019884624838656") == [5]
    assert found("things[0].@type == {'int', 'string'}") == [0, 1, 3, 5]


@pytest.mark.parametrize("name", ["id", "name", "left", "flag"])
def test_many_values_are_found_as_one_by_one(flagged: toft.Results[Flagged], name: str) -> None:
    values = {
        "id": [*range(2, 900)],
        "name": [f"n{number}" for number in range(2, 900)],
        "left": [5, True, *map(str, range(500))],
        "flag": [False] * 300,
    }[name]
    alone = {one.id for value in values for one in flagged.where(f"{name} == $0", value)}
    places = [f"${index}" for index in range(len(values))]
    alike = " OR ".join(f"{name} == {place}" for place in places)
    unlike = " AND ".join(f"{name} != {place}" for place in places)
    assert {one.id for one in flagged.where(f"{name} IN $0", values)} == alone
    assert {one.id for one in flagged.where(alike, *values)} == alone
    others = {one.id for one in flagged} - alone
    assert {one.id for one in flagged.where(f"NOT {name} IN $0", values)} == others
    assert {one.id for one in flagged.where(unlike, *values)} == others
    if name != "flag":
        assert "is one of" in flagged.where(alike, *values).explain()
