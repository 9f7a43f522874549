"""A call that is refused changes nothing, however late it is refused: every way to write with every
kind of refusal, in random order, and nothing of the database may differ afterwards.
"""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import pytest
import toft
from toft import _values as values


class NoLengthError(Exception):
    """The exception of the program's own type."""


def _stored(value: complex) -> float:
    if value.imag:
        raise NoLengthError
    return value.real


Length = Annotated[complex, toft.StoredAs(float, _stored, complex)]


class Leaf(toft.EmbeddedObject):
    text: str = ""
    count: int = 0
    when: datetime | None
    any: toft.Mixed
    length: Length | None
    notes: dict[str, toft.Mixed]
    next: Leaf | None
    leaves: list[Leaf]
    named: dict[str, Leaf | None]
    friend: Tree | None


class Tree(toft.Object):
    id: int = toft.field(primary_key=True)
    name: str = toft.field(default="tree", indexed=True)
    when: datetime | None
    day: date | None
    short: toft.Float32 = 0.0
    price: Decimal | None
    any: toft.Mixed
    leaf: Leaf | None
    leaves: list[Leaf]
    named: dict[str, Leaf | None]
    words: list[str]
    numbers: set[int]
    mixed: set[toft.Mixed]
    notes: dict[str, toft.Mixed]
    friend: Tree | None
    friends: list[Tree]
    crowd: set[Tree]


class Number(toft.Object):
    """Its keys are counted."""

    id: int = toft.field(primary_key=True, auto_increment=True)
    tree: Tree | None
    word: str = toft.field(default="", name="stored_word")


CLASSES = [Tree, Leaf, Number]
LONG = b"x" * ((1 << 24) + 1)
NOW = datetime(2026, 11, 28, tzinfo=timezone.utc)


class Dump:
    """All that a realm holds: rows as the library writes them, with the keys of the file."""

    def __init__(self, realm: toft.Realm) -> None:
        self.lines: list[str] = []
        for cls in CLASSES:
            keys = [each._rows.key(each._row) for each in realm.objects(cls)]
            self.lines.append(f"{cls.__name__} {keys}")
            if cls is not Leaf:
                file = io.StringIO()
                realm.objects(cls).write_json_lines(file)
                self.lines += file.getvalue().splitlines()
            else:
                moments = [each.any for each in realm.objects(cls).where(r"\any != nil")]
                self.lines.append(repr([toft.plain.named(each) for each in moments]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dump) and self.lines == other.lines


class Forest:
    """A realm with trees, other realms' objects, and what no call takes."""

    def __init__(self, realm: toft.Realm, other: toft.Realm, choice: random.Random) -> None:
        self.realm = realm
        self.choice = choice
        exact: Any = values.Instant(1_000_000_000, 123_456_789)
        far: Any = values.Instant(2**62, 0)
        with realm.write():
            for id in range(4):
                realm.create(
                    Tree,
                    id=id,
                    when=far if id == 3 else exact,
                    any={"list": [1, True, {"deep": b""}], "when": NOW},
                    leaf={"when": far if id == 2 else exact, "next": {"text": "inner", "any": [1]}},
                    leaves=[{"text": "a", "when": exact}, {"text": "b", "leaves": [{"text": "c"}]}],
                    named={"k": {"text": "k", "when": far}, "none": None},
                    words=["x", "y", "x"],
                    numbers={1, 2},
                    mixed={1, True, float("nan"), "x"},
                    notes={"a": [1, {"b": None}], "b": 2},
                )
            for tree in realm.objects(Tree):
                tree.friend = realm.object(Tree, (tree.id + 1) % 4)
                tree.friends = [tree, tree.friend]
                tree.crowd = {tree}
            realm.create(Number, tree=realm.object(Tree, 1))
            gone = realm.create(Tree, id=99)
            realm.delete(gone)
        self.gone = gone
        with other.write():
            self.foreign = other.create(Tree, id=1)

    # ----------------------------------------------------------------------------------------------
    # What is refused

    def tree(self) -> Tree:
        found = self.realm.object(Tree, self.choice.randrange(4))
        assert found is not None
        return found

    def wrong_word(self) -> Any:
        return self.choice.choice([5, None, b"x", "\ud800", ["x"], LONG.decode(), object()])

    def wrong_mixed(self) -> Any:
        deep: Any = []
        for _ in range(101):
            deep = [deep]
        return self.choice.choice(
            [
                deep,
                object(),
                2**64,
                {"a.b": 1},
                {"$x": 1},
                {1: 2},
                [1, {"k": [object()]}],
                {"k": self.foreign},
                [datetime(2020, 1, 1)],
                [LONG],
                [Leaf()],
                {"\ud800": 1},
            ]
        )

    def wrong_tree(self) -> Any:
        """A value that is not a link to a tree."""
        return self.choice.choice([self.foreign, self.gone, Leaf(), Number(), 5, {"id": 1}])

    def wrong_leaf(self) -> dict[str, Any]:
        """The values of a leaf with a refused one, somewhere deep within."""
        leaf: dict[str, Any] = {"text": "new", "when": NOW, "any": {"fine": [1, 2]}}
        which = self.choice.randrange(13)
        if which == 0:
            leaf["text"] = self.wrong_word()
        elif which == 1:
            leaf["any"] = self.wrong_mixed()
        elif which == 2:
            leaf["length"] = 1j
        elif which == 3:
            leaf["notes"] = {"fine": 1, "bad.key": 2}
        elif which == 4:
            leaf["friend"] = self.wrong_tree()
        elif which == 5:
            leaf["friend"] = Tree(id=50, leaf=Leaf(**self.wrong_leaf()))
        elif which == 6:
            leaf["friend"] = Tree(id=50, friends=[Tree(id=51), Number()])
        elif which == 7:
            leaf["leaves"] = [{"text": "fine"}, self.wrong_leaf()]
        elif which == 8:
            leaf["named"] = {"fine": {}, self.choice.choice(["a.b", "$a", "fine2"]): {"count": "x"}}
        elif which == 9:
            leaf["leaves"] = [self.tree().leaf]  # it has an owner
        elif which == 10:
            leaf["when"] = datetime(2020, 1, 1)
        elif which == 11:
            for _ in range(101):
                leaf = {"text": "deep", "next": leaf}
        else:
            leaf["next"] = self.wrong_leaf()
        return leaf

    def wrong_values(self) -> dict[str, Any]:
        """Properties of a tree; the last one is refused."""
        given: dict[str, Any] = {
            "name": "other",
            "leaf": {"text": "other", "next": {}},
            "named": {"k": {"text": "other"}, "z": {}},
            "words": ["other"],
            "notes": {"other": [NOW]},
            "friend": Tree(id=60 + self.choice.randrange(1000), name="new"),
        }
        for name in self.choice.sample([*given], self.choice.randrange(len(given))):
            del given[name]
        wrong: list[tuple[str, Any]] = [
            ("leaf", self.wrong_leaf()),
            ("leaves", [{"text": "fine"}, self.wrong_leaf()]),
            ("named", {"k": {"text": "fine"}, "l": self.wrong_leaf()}),
            ("named", {"k": None, "bad.key": {}}),
            ("words", ["fine", self.wrong_word()]),
            ("notes", {"fine": 1, "k": self.wrong_mixed()}),
            ("notes", {"fine": 1, "$k": 1}),
            ("any", self.wrong_mixed()),
            ("short", 1e300),
            ("price", "x"),
            ("day", NOW),
            ("friend", self.wrong_tree()),
            ("friend", Tree(id=70, any=self.wrong_mixed())),
            ("friends", [Tree(id=80), self.wrong_tree()]),
            ("crowd", [Tree(id=90), self.wrong_tree()]),
        ]
        name, value = self.choice.choice(wrong)
        given.pop(name, None)
        return {**given, name: value}

    # ----------------------------------------------------------------------------------------------
    # Ways to write

    def ways(self) -> list[Callable[[], object]]:
        realm, tree, choice = self.realm, self.tree(), self.choice
        wrong = self.wrong_values()
        name, value = list(wrong.items())[-1]
        leaf, word, mixed = self.wrong_leaf(), self.wrong_word(), self.wrong_mixed()
        update: Any = choice.choice(["all", "modified"])
        new = 100 + choice.randrange(1000)
        unlike: Any = [1, 5, "x"]

        def raising(*items: Any) -> Iterator[Any]:
            yield from items
            raise NoLengthError

        def set_list(index: Any, items: Any) -> None:
            tree.leaves[index] = items

        def set_named(key: str, item: Any) -> None:
            tree.named[key] = item

        return [
            lambda: setattr(tree, name, value),
            lambda: realm.upsert(Tree, id=tree.id, **wrong),
            lambda: realm.create(Tree, id=new, **wrong),
            lambda: realm.create(Tree, id=tree.id, leaf={"text": "taken"}, friend=Tree(id=new)),
            lambda: realm.add(Tree(id=tree.id, **wrong), update=update),
            lambda: realm.add(Tree(id=new, friend=Tree(id=tree.id, **wrong)), update=update),
            lambda: realm.add(Number(tree=Tree(id=tree.id, **wrong)), update=update),
            lambda: realm.create(Number, tree=Tree(id=tree.id)),
            lambda: set_list(0, leaf),
            lambda: set_list(slice(0, 2), [{"text": "fine"}, leaf]),
            lambda: set_list(slice(0, 2, 2), [leaf]),
            lambda: set_list(slice(None, None, -1), [{"text": "fine"}, leaf]),
            lambda: tree.leaves.append(leaf),  # type: ignore[arg-type]
            lambda: tree.leaves.insert(0, leaf),  # type: ignore[arg-type]
            lambda: tree.leaves.extend([Leaf(), leaf]),  # type: ignore[list-item]
            lambda: tree.leaves.extend(raising(Leaf())),
            lambda: set_named("k", leaf),
            lambda: set_named("a.b", {"text": "fine"}),
            lambda: tree.named.update({"k": {"text": "fine"}, "none": {}, "z": leaf}),
            lambda: tree.named.update({"k": None, "$": None}),
            lambda: tree.named.setdefault("new", leaf),  # type: ignore[arg-type]
            lambda: tree.words.extend(["fine", word]),
            lambda: tree.words.extend(raising("fine")),
            lambda: tree.words.__setitem__(slice(None, None, 2), ["fine", word]),
            lambda: tree.words.__setitem__(slice(0, 2), ["fine", word]),
            lambda: tree.numbers.update([5, 6], [7, "x"]),  # type: ignore[list-item]
            lambda: tree.numbers.symmetric_difference_update(unlike),
            lambda: tree.numbers.intersection_update([1], raising(2)),
            lambda: tree.mixed.update([Tree(id=new), mixed]),
            lambda: tree.mixed.symmetric_difference_update([1, Tree(id=new), mixed]),
            lambda: tree.notes.update({"a": Tree(id=new), "b": mixed}),
            lambda: tree.notes["a"].append(mixed),
            lambda: tree.notes["a"].extend([Tree(id=new), mixed]),
            lambda: tree.any.update({"list": 5, "z": mixed}),
            lambda: tree.any["list"].__setitem__(slice(0, 2), [5, mixed]),
            lambda: tree.friends.extend([Tree(id=new), self.wrong_tree()]),
            lambda: tree.friends.append(Tree(id=new, leaf=Leaf(**leaf))),
            lambda: tree.friends.__setitem__(slice(None, None, 1), [tree, self.wrong_tree()]),
            lambda: realm.objects(Tree).update(name="all", words=["all", word]),
            lambda: realm.objects(Tree).update(name="all", any=mixed),
            lambda: realm.objects(Tree).update(friend=Tree(id=new), any=mixed),
            lambda: realm.insert_many(Tree, [{"id": new}, {"id": new + 1, **wrong}]),
            lambda: realm.insert_many(Tree, [{"id": tree.id, "name": "row"}, wrong], update=update),
            lambda: realm.insert_many(
                Tree, [{"id": tree.id, "name": "row"}, {"id": 1, **wrong}], update=update
            ),
            lambda: realm.insert_many(
                Tree, [Tree(id=tree.id, leaf=Leaf()), Tree(id=2, **wrong)], update=update
            ),
            lambda: realm.insert_many(
                Tree, {"id": [0, 1, 2], "any": [1, self.foreign, mixed]}, update=update
            ),
            lambda: realm.insert_many(Tree, raising({"id": 1, "name": "row"}), update=update),
            lambda: realm.insert_many(Number, [{"tree": tree}, {"tree": self.wrong_tree()}]),
            lambda: realm.from_json(Tree, self.wrong_json(tree.id), update=update),
            lambda: realm.read_json_lines(Tree, self.wrong_json_lines(tree.id), update=update),
            lambda: realm.read_csv(Tree, ["id,name\n", f"{tree.id},row\n", "x,y\n"], update=update),
        ]

    def wrong_json(self, id: int) -> str:
        wrong: dict[str, Any] = self.choice.choice(
            [
                {"id": 1, "leaf": {"text": "fine", "leaves": [{"count": "x"}]}},
                {"id": 1, "name": "fine", "friend": 12345},
                {"id": 1, "notes": {"a.b": 1}},
                {"id": 1, "friend": {"id": 2, "leaf": {"friend": {"id": 3, "words": 5}}}},
                {"name": "no key"},
            ]
        )
        return json.dumps([{"id": id, "name": "json", "leaf": {"text": "json"}}, wrong])

    def wrong_json_lines(self, id: int) -> Iterable[str]:
        return [f"{json.dumps(row)}\n" for row in json.loads(self.wrong_json(id))]


def test_a_call_that_is_refused_changes_nothing(path: Path) -> None:
    seed = random.randrange(1 << 32)
    print("seed", seed)
    choice = random.Random(seed)
    with toft.open(path, CLASSES) as realm, toft.open_in_memory(CLASSES) as other:
        forest = Forest(realm, other, choice)
        ways = len(forest.ways())
        for _ in range(6):
            with realm.write():
                if choice.random() < 0.5:  # something waits to be written
                    tree = forest.tree()
                    tree.name, tree.friends = f"tree {choice.random()}", [tree]
                    tree.leaves.append(Leaf(text="kept"))
                before, leaves = Dump(realm), [*realm.objects(Leaf)]
                for place in choice.sample(range(ways), ways):
                    draft = Tree(id=500)
                    with pytest.raises(
                        (toft.Error, NoLengthError, TypeError, ValueError, AttributeError)
                    ):
                        forest.ways()[place]()
                        raise AssertionError(f"the way {place} was not refused: seed {seed}")
                    assert draft.realm is None
                    assert Dump(realm) == before, f"seed {seed}, way {place}"
                assert [*realm.objects(Leaf)] == leaves
                if choice.random() < 0.5:
                    realm.cancel()


def test_what_was_to_become_live_is_in_no_database_again(path: Path) -> None:
    with toft.open(path, CLASSES) as realm, realm.write():
        tree = realm.create(Tree, id=1, leaf={"text": "old"})
        leaf, friend = tree.leaf, Tree(id=2)
        drafts = [Leaf(text="new", friend=friend), Leaf(any=object())]
        with pytest.raises(toft.TypeMismatchError):
            tree.leaves = drafts
        assert [each.realm for each in (*drafts, friend)] == [None, None, None]
        with pytest.raises(toft.TypeMismatchError):
            realm.insert_many(Tree, [Tree(id=3, friend=friend), {"id": 4, "words": [5]}])
        assert friend.realm is None and tree.leaf == leaf
        drafts[1].any = 1
        tree.leaves = drafts
        assert tree.leaves[0].friend == friend and friend.realm is realm


def test_a_number_that_was_counted_for_what_is_refused_is_given_again(path: Path) -> None:
    with toft.open(path, CLASSES) as realm, realm.write():
        assert realm.create(Number).id == 1
        with pytest.raises(toft.TypeMismatchError):
            realm.insert_many(Number, [{}, {"word": "x"}, {"word": 5}])
        assert realm.create(Number).id == 2


def test_observers_hear_nothing_of_what_is_refused(path: Path) -> None:
    with toft.open(path, CLASSES) as realm:
        with realm.write():
            tree = realm.create(Tree, id=1, leaf={"text": "old"})
        heard: list[toft.Changes] = []
        with realm.objects(Tree).observe(heard.append, initial=False):
            with realm.write():
                with pytest.raises(toft.TypeMismatchError):
                    realm.upsert(Tree, id=1, name="new", leaf={"text": "new", "any": object()})
                realm.create(Number)
            with realm.write():
                realm.create(Tree, id=2)
            for _ in range(50):
                if not heard:
                    realm.wait(1)
            assert [each.modifications for each in heard] == [()]
            assert tree.name == "tree"
