"""A list property does what Python's own list does."""

from __future__ import annotations

import random

import pytest
import toft
from models import Dog, Everything


@pytest.fixture
def rex(realm: toft.Realm) -> Dog:
    realm.begin_write()
    return realm.create(Dog, name="Rex")


def test_a_list_does_whatever_pythons_list_does(realm: toft.Realm) -> None:
    seed = random.randrange(2**32)
    print("seed", seed)
    chance = random.Random(seed)
    model: list[int] = []
    with realm.write():
        counts = realm.create(Everything, id=1).counts

        def index() -> int:
            return chance.randint(-len(model) - 2, len(model) + 2)

        def cut() -> slice:
            return slice(
                *(chance.choice([None, index()]) for _ in range(2)),
                chance.choice([None, None, 1, 2, -1, -3]),
            )

        def some() -> list[int]:
            return [chance.randint(0, 9) for _ in range(chance.randint(0, 4))]

        for _ in range(1500):
            number, one, many, where, span = (
                chance.randint(0, 9),
                chance.randint(0, 9),
                some(),
                index(),
                cut(),
            )
            steps = [
                lambda each: each.append(one),
                lambda each: each.extend(many),
                lambda each: each.insert(where, one),
                lambda each: each.pop(),
                lambda each: each.pop(where),
                lambda each: each.remove(number),
                lambda each: each.reverse(),
                lambda each: each.__setitem__(where, one),
                lambda each: each.__setitem__(span, many),
                lambda each: each.__delitem__(where),
                lambda each: each.__delitem__(span),
                lambda each: each.__getitem__(where),
                lambda each: each.__getitem__(span),
                lambda each: each.index(number),
                lambda each: each.index(number, 1, where),
                lambda each: each.count(number),
                lambda each: number in each,
                lambda each: len(each),
                lambda each: list(each),
                lambda each: list(reversed(each)),
                lambda each: each.clear() if len(model) > 30 else None,
            ]
            step = chance.choice(steps)
            assert outcome(step, counts) == outcome(step, model), seed
            assert counts == model, seed


def outcome(step, each):  # type: ignore[no-untyped-def]
    try:
        return step(each)
    except (IndexError, ValueError) as error:
        return IndexError if isinstance(error, IndexError) else ValueError


def test_assigning_replaces_and_augmented_assignment_extends(rex: Dog) -> None:
    rex.tags = ["a", "b"]
    tags = rex.tags
    rex.tags += ["c"]
    assert tags == ["a", "b", "c"] and repr(tags) == "['a', 'b', 'c']"
    rex.tags = rex.tags
    assert tags == ["a", "b", "c"]
    rex.tags = (tag.upper() for tag in list(tags))
    assert tags == ["A", "B", "C"]
    assert tags != ["A"] and tags != "ABC"


def test_moving_and_swapping(rex: Dog) -> None:
    rex.tags = list("abcd")
    rex.tags.move(0, -1)
    assert rex.tags == list("bcda")
    rex.tags.swap(0, 2)
    assert rex.tags == list("dcba")


def test_a_list_of_objects_can_be_asked(rex: Dog) -> None:
    realm = rex.realm
    assert realm is not None
    rex.friends = [
        realm.create(Dog, name=name, age=age) for name, age in [("A", 3), ("B", 1), ("C", 2)]
    ]
    friends = rex.friends
    assert [dog.name for dog in friends.where("age > 1").sort("age")] == ["C", "A"]
    assert friends.results.sum("age") == 6
    assert friends[1] in friends and rex not in friends
    assert friends.index(friends[2]) == 2
    realm.delete(friends[0])
    assert [dog.name for dog in friends] == ["B", "C"]


def test_what_cannot_be_in_a_list_is_not_in_it(rex: Dog) -> None:
    rex.tags = ["a"]
    assert 3 not in rex.tags and None not in rex.tags and object() not in rex.tags
    with pytest.raises(ValueError):
        rex.tags.index(3)


def test_asking_whether_a_list_has_an_object_does_not_add_it(rex: Dog) -> None:
    draft = Dog(name="draft")
    assert draft not in rex.friends and draft.realm is None
    rex.friends.append(draft)
    assert draft in rex.friends and draft.realm is rex.realm


def test_a_loop_over_a_list_sees_what_is_changed_ahead_of_it(rex: Dog) -> None:
    rex.tags = [str(number) for number in range(600)]
    seen = []
    for tag in rex.tags:
        seen.append(tag)
        if tag == "1":
            del rex.tags[2:599]
    assert seen == ["0", "1", "599"]


def test_wrong_values_change_nothing(rex: Dog) -> None:
    rex.tags = ["a"]
    for wrong in ([3], ["b", None], ["b", 1.5], [["c"]]):
        with pytest.raises(TypeError):
            rex.tags = wrong
        with pytest.raises(TypeError):
            rex.tags.extend(wrong)
        assert rex.tags == ["a"]
    with pytest.raises(TypeError):
        rex.tags = "abc"
    with pytest.raises(IndexError):
        rex.tags[7]
    with pytest.raises(IndexError):
        rex.tags[-2] = "x"
    with pytest.raises(toft.IndexOutOfRangeError) as raised:
        rex.tags[2**70]
    assert raised.value.code == toft.Status.ERROR_INDEX_OUT_OF_RANGE
    with pytest.raises(ValueError):
        rex.tags[::2] = ["a", "b", "c"]


def test_an_index_is_whole(rex: Dog) -> None:
    rex.tags = ["a", "b"]
    for wrong in ("a", 1.0, None, (0,)):
        for use in (
            lambda: rex.tags[wrong],  # type: ignore[index]
            lambda: rex.tags.__setitem__(wrong, "x"),  # type: ignore[index]
            lambda: rex.tags.__delitem__(wrong),  # type: ignore[arg-type]
            lambda: rex.tags.insert(wrong, "x"),  # type: ignore[arg-type]
            lambda: rex.tags.pop(wrong),  # type: ignore[arg-type]
            lambda: rex.tags.move(wrong, 0),  # type: ignore[arg-type]
        ):
            with pytest.raises(TypeError, match="a list has an int or a slice as its index"):
                use()
    rex.tags.insert(True, "c")
    assert rex.tags == ["a", "c", "b"]


def test_every_second_element_is_replaced_or_none(rex: Dog) -> None:
    rex.tags = list("abcde")
    for wrong in (["x", 5, "z"], ["x", "y", None], ["x", "y", "\ud800"]):
        for span in (slice(None, None, 2), slice(None, None, -2)):
            with pytest.raises((TypeError, ValueError)):
                rex.tags[span] = wrong
            assert rex.tags == list("abcde")
    rex.tags[::-2] = ["x", "y", "z"]
    assert rex.tags == list("zbydx")


def test_the_list_of_a_deleted_object_is_an_error(rex: Dog) -> None:
    tags = rex.tags
    assert rex.realm is not None
    rex.realm.delete(rex)
    with pytest.raises(toft.CollectionInvalidatedError):
        len(tags)
    with pytest.raises(toft.CollectionInvalidatedError):
        "a" in tags
    assert repr(tags).startswith("<List: ")
