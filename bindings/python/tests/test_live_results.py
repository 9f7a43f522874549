"""Results that are kept give what fresh ones give, whoever changes what.

Results are evaluated again only after a change of their own dependencies: so each kind of them is
compared with new ones after random changes by the same realm, another one and another process.
"""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import toft


class Tag(toft.EmbeddedObject):
    text: str
    weight: int = 0


class Team(toft.Object):
    id: int = toft.field(primary_key=True)
    name: str
    members = toft.linking_objects("Member", "team")


class Member(toft.Object):
    id: int = toft.field(primary_key=True)
    age: int | None = toft.field(indexed=True)
    name: str
    team: Team | None
    boss: Member | None
    friends: list[Member]
    liked: set[Member]
    named: dict[str, Member | None]
    owned: list[Item] = toft.field(delete_rule="cascade")
    anything: toft.Mixed
    tag: Tag | None
    tags: list[Tag]
    scores: list[int]
    words: set[str]
    counts: dict[str, int]
    reports = toft.linking_objects("Member", "boss")


class Item(toft.Object):
    id: int = toft.field(primary_key=True)
    price: int
    owners = toft.linking_objects("Member", "owned")


class Unrelated(toft.Object):
    x: int


CLASSES = [Tag, Team, Member, Item, Unrelated]

QUERIES = [
    "age > 20",
    "age == 7",
    "age > 5 SORT(name ASC, id ASC)",
    "TRUEPREDICATE SORT(team.name ASC, id ASC) LIMIT(9)",
    "TRUEPREDICATE SORT(boss.team.name DESC, id ASC) OFFSET(2)",
    "age < 30 SORT(age DESC) DISTINCT(team.name)",
    "team.name BEGINSWITH 't1'",
    "boss.boss.age > 10",
    "ANY friends.age > 30",
    "ALL friends.team.name != 't1'",
    "friends.@count > 2",
    "friends.@sum.age > 60",
    "ANY liked.name == 'n3'",
    "ANY reports.age > 20",
    "reports.@count == 1",
    "@links.@count > 3",
    "@links.Member.friends.@count > 1",
    "SUBQUERY(friends, $f, $f.age > 10 AND $f.team.name == 't2').@count > 0",
    "named['a'].age > 10",
    "ANY named.@keys == 'b'",
    "ANY named.age > 35",
    "owned.@sum.price > 20",
    "ANY owned.price == 3",
    "anything == 3",
    "anything.@type == 'string'",
    "anything.age > 10",
    "anything['k'] == 2",
    "anything[0] == 1",
    "anything.@size == 2",
    "tag.weight > 5",
    "ANY tags.text == 'w3'",
    "tags.@sum.weight > 8",
    "ANY scores > 35",
    "scores[0] == 4",
    "scores.@max > 30",
    "ANY words == 'w2'",
    "words.@count == 2",
    "counts['a'] > 10",
    "ANY counts.@keys == 'b'",
]


def kept(realm: toft.Realm) -> list[toft.Results[Any]]:
    """Results of every kind."""
    members = realm.objects(Member)
    made: list[toft.Results[Any]] = [members.where(query) for query in QUERIES]
    made += [members, realm.objects(Team), realm.objects(Item), realm.objects(Tag)]
    made += [
        realm.objects(Item).where("ANY owners.age > 20"),
        realm.objects(Team).where("members.@count > 3"),
        realm.objects(Team).where("ANY members.boss.age > 20"),
        realm.objects(Tag).where("weight > 3"),
        members.where("age > 3").snapshot().where("age > 10"),
    ]
    for member in list(members)[:3]:
        made += [
            member.friends.results,
            member.friends.where("age > 10"),
            member.friends.where("team.name == 't1' SORT(age ASC)"),
            member.liked.where("age > 10"),
            member.named.where("age > 10"),
            member.named.results,
            member.owned.where("price > 2"),
            member.tags.results,
            member.tags.where("weight > 3"),
            member.reports,
            member.reports.where("age > 10"),
            member.scores.results,
            member.scores.results.sort("-self").limit(3),
            member.scores.results.offset(1),
            member.words.results.sort("-self"),
            member.counts.results.sort("self"),
        ]
    return made


def told(results: toft.Results[Any], is_counted: bool) -> Any:
    """The contents of results, in one of two orders of reading."""
    try:
        asked = (len(results), bool(results)) if is_counted else None
        first = results.first()
        found = list(results)
        assert bool(results) == (len(results) > 0)
        assert first == (found[0] if found else None)
        assert asked is None or asked == (len(found), len(found) > 0)
        return found
    except toft.Error as error:
        return type(error).__name__


class Changes:
    """Random changes of a realm."""

    def __init__(self, realm: toft.Realm, seed: int, lane: int) -> None:
        self.realm, self.random, self.next = realm, random.Random(seed), lane * 1_000_000

    def commit(self, *, is_bulky: bool = False) -> None:
        with self.realm.write():
            for _ in range(self.random.randint(1, 3)):
                self.change()
            if is_bulky:
                self.bulk()

    def bulk(self) -> None:
        """More than the records of commits are read for: a long list and many rows."""
        for member in self.some(Member, 1):
            member.scores.extend(range(3_000))
            member.friends.extend(self.some(Member, 3))
        rows = [{"x": each} for each in range(12_000)]
        self.realm.insert_many(Unrelated, {"x": [each["x"] for each in rows]})

    def some(self, cls: Any, count: int) -> list[Any]:
        every = list(self.realm.objects(cls))
        return self.random.sample(every, min(count, len(every)))

    def new_id(self) -> int:
        self.next += 1
        return self.next

    def create(self) -> None:
        team = self.random.choice([*self.realm.objects(Team), None])
        self.realm.create(
            Member,
            id=self.new_id(),
            age=self.random.choice([None, *range(40)]),
            name=f"n{self.random.randrange(9)}",
            team=team,
        )
        if self.random.random() < 0.3:
            self.realm.create(Team, id=self.new_id(), name=f"t{self.random.randrange(4)}")
        if self.random.random() < 0.5:
            self.realm.create(Item, id=self.new_id(), price=self.random.randrange(9))

    def change(self) -> None:
        members = list(self.realm.objects(Member))
        if len(members) < 8 or self.random.random() < 0.15:
            return self.create()
        one, other = self.random.choice(members[:6]), self.random.choice(members)
        number, letter = self.random.randrange(40), self.random.choice("abc")
        changes: list[Callable[[], Any]] = [
            lambda: self.realm.delete(self.random.choice(members)),
            lambda: [self.realm.delete(team) for team in self.some(Team, 1)],
            lambda: [self.realm.delete(item) for item in self.some(Item, 1)],
            lambda: setattr(one, "age", number),
            lambda: setattr(one, "name", f"n{number % 9}"),
            lambda: setattr(one, "boss", other),
            lambda: setattr(one, "boss", None),
            lambda: [setattr(one, "team", team) for team in self.some(Team, 1)],
            lambda: [setattr(team, "name", f"t{number % 4}") for team in self.some(Team, 1)],
            lambda: one.friends.append(other),
            lambda: one.friends.clear() if number % 3 == 0 else None,
            lambda: one.friends.pop() if one.friends else None,
            lambda: one.liked.add(other),
            lambda: one.liked.discard(other),
            lambda: one.named.update({letter: other}),
            lambda: one.named.pop(letter) if letter in one.named else None,
            lambda: [one.owned.append(item) for item in self.some(Item, 1)],
            lambda: [setattr(item, "price", number % 9) for item in self.some(Item, 1)],
            lambda: setattr(one, "anything", self.random.choice([1, 3, "x", None, other])),
            lambda: setattr(one, "anything", self.random.choice([{"k": 2}, [1, 2], {"k": [1]}])),
            lambda: setattr(one, "tag", self.random.choice([None, Tag(text="x", weight=number)])),
            lambda: one.tag and setattr(one.tag, "weight", number % 9),
            lambda: one.tags.append(Tag(text=f"w{number % 5}", weight=number % 9)),
            lambda: one.tags.pop() if one.tags else None,
            lambda: one.scores.insert(0, number),
            lambda: one.scores.pop() if one.scores else None,
            lambda: one.words.add(f"w{number % 4}"),
            lambda: one.words.discard(f"w{number % 4}"),
            lambda: one.counts.update({letter: number}),
            lambda: one.counts.pop(letter) if letter in one.counts else None,
            lambda: self.realm.objects(Member).where("age > 30").update(age=number),
            lambda: self.realm.create(Unrelated, x=number),
            lambda: self.realm.upsert(Member, id=one.id, age=number, name="n1"),
        ]
        self.random.choice(changes)()


CHILD = """
import sys
sys.path[:0] = sys.argv[3:5]
import toft
from test_live_results import CLASSES, Changes
with toft.open(sys.argv[1], CLASSES) as realm:
    changes = Changes(realm, int(sys.argv[2]), 9)
    for line in sys.stdin:
        changes.commit(is_bulky=line.strip() == "bulk")
        print("done", flush=True)
"""


@pytest.fixture
def child(path: Path) -> Iterator[Callable[[bool], None]]:
    """Makes another process commit."""
    here = Path(__file__).resolve().parent
    command = [sys.executable, "-c", CHILD, str(path), "5", str(here), str(here.parent)]
    with subprocess.Popen(command, stdin=-1, stdout=-1, text=True) as process:
        stdin, stdout = process.stdin, process.stdout
        assert stdin and stdout

        def commit(is_bulky: bool) -> None:
            print("bulk" if is_bulky else "some", file=stdin, flush=True)
            assert stdout.readline() == "done\n"

        yield commit
        stdin.close()


@pytest.mark.parametrize("seed", range(3))
def test_kept_results_are_those_of_new_ones(
    path: Path, child: Callable[[bool], None], seed: int
) -> None:
    chance = random.Random(seed)
    with toft.open(path, CLASSES) as realm, toft.open(path, CLASSES) as other:
        own, others = Changes(realm, seed, 1), Changes(other, seed + 100, 2)
        with realm.write():
            for _ in range(12):
                own.create()
        results = kept(realm)
        token = realm.objects(Item).observe(lambda _: None) if seed == 1 else None
        for step in range(120):
            is_bulky = chance.random() < 0.03
            what = chance.randrange(5)
            if what == 0:
                child(is_bulky)
            elif what == 1:
                others.commit(is_bulky=is_bulky)
            elif what == 2:
                within(realm, own, results, chance)
            else:
                own.commit(is_bulky=is_bulky)
            compare(results, chance.sample(range(len(results)), 30), f"seed {seed}, step {step}")
            if chance.random() < 0.1:
                results = kept(realm)
        if token is not None:
            token.stop()


def within(
    realm: toft.Realm, own: Changes, results: list[toft.Results[Any]], chance: random.Random
) -> None:
    """A transaction in which results are asked, and which may be cancelled."""
    realm.begin_write()
    for _ in range(3):
        own.change()
        compare(results, chance.sample(range(len(results)), 8), "within")
    if chance.random() < 0.4:
        realm.cancel()
    else:
        realm.commit()


def compare(results: list[toft.Results[Any]], which: list[int], where: str) -> None:
    for index in which:
        live = results[index]
        fresh = fresh_copy(live)
        is_counted = index % 2 == 0
        expected = told(fresh, not is_counted)
        assert told(live, is_counted) == expected, (where, index, str(live))


def fresh_copy(results: toft.Results[Any]) -> toft.Results[Any]:
    """New results of the same query, not yet evaluated."""
    return results._session.realm.resolve(results)


@pytest.fixture
def members(path: Path) -> Iterator[toft.Results[Member]]:
    """6,000 members of ten names, each with the age of a tenth of its number."""
    with toft.open(path, CLASSES) as realm:
        with realm.write():
            rows = range(6_000)
            names, ages = [f"n{each % 10}" for each in rows], [each // 10 for each in rows]
            realm.insert_many(Member, {"id": rows, "name": names, "age": ages})
        yield realm.objects(Member)


@pytest.mark.parametrize("query", ["name == 'n3'", "name == 'n3' SORT(age ASC)", "age IN {3, 9}"])
def test_results_that_were_not_counted_have_a_first_and_indices(
    members: toft.Results[Member], query: str
) -> None:
    expected = [each.id for each in members.where(query)]
    assert members.where(query) and members.where(query)[0].id == expected[0]
    first, last = members.where(query).first(), members.where(query).last()
    assert first and last and (first.id, last.id) == (expected[0], expected[-1])
    found = members.where(query)
    assert [found[index].id for index in range(len(expected))] == expected
    found = members.where(query)
    assert next(iter(found)).id == expected[0] and len(found) == len(expected)
    with pytest.raises(toft.IndexOutOfRangeError):
        members.where(query)[len(expected)]


def test_results_of_nothing_are_false_and_have_no_first(members: toft.Results[Member]) -> None:
    for none in (members.where("name == 'x'"), members.where("name == 'n3'").offset(600)):
        assert not none and none.first() is None and none.last() is None
        with pytest.raises(toft.IndexOutOfRangeError):
            none[0]


def test_a_loop_that_takes_the_first_away_sees_each(members: toft.Results[Member]) -> None:
    found, seen = members.where("name == 'n3' AND age < 50"), []
    with members._session.realm.write():
        while first := found.first():
            seen.append(first.id)
            first.name = "seen"
    assert seen == list(range(3, 500, 10)) and not found


def test_results_are_valid_while_what_they_were_made_from_exists(path: Path) -> None:
    with toft.open(path, CLASSES) as realm:
        with realm.write():
            ada = realm.create(Member, id=1, name="Ada")
            ada.friends.append(realm.create(Member, id=2, name="Bob"))
            ada.scores.extend([3, 1, 2])
        made = [ada.friends.where("age == null"), ada.scores.results, ada.reports]
        members = realm.objects(Member)
        assert list(ada.scores.results.offset(1)) == [1, 2]
        assert list(ada.scores.results.sort("self").offset(1).limit(1)) == [2]
        assert all(each.is_valid for each in [*made, members])
        with toft.open(path, CLASSES) as other, other.write():
            other.delete(other.objects(Member).where("id == 1"))
        assert not any(each.is_valid for each in made) and members.is_valid
        for each in made:
            with pytest.raises(toft.CollectionInvalidatedError):
                bool(each)
