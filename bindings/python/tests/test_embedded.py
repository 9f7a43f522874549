"""Embedded objects live in one owner, and go with it."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import pytest
import toft
from toft import adding


class Address(toft.EmbeddedObject):
    street: str
    floor: int = 1
    owner: Resident | None
    annex: Address | None
    rooms: list[Address]
    residents = toft.linking_objects("Resident", "home")


class Resident(toft.Object):
    id: int = toft.field(primary_key=True)
    visits: int = 0
    home: Address | None
    earlier: list[Address]
    named: dict[str, Address | None]


CLASSES = [Resident, Address]


@pytest.fixture
def writing(path: Path):
    with toft.open(path, CLASSES) as realm:
        realm.begin_write()
        yield realm
        if realm.is_writing:
            realm.commit()


def streets(realm: toft.Realm) -> list[str]:
    return [each.street for each in realm.objects(Address)]


def nested(count: int) -> Address:
    """So many addresses within one another."""
    outer = Address(street=f"{count}")
    for number in range(count - 1, 0, -1):
        outer = Address(street=f"{number}", annex=outer)
    return outer


def test_a_hundred_addresses_may_be_within_one_another(writing: toft.Realm) -> None:
    ann = writing.create(Resident, id=1, home=nested(100))
    assert len(streets(writing)) == 100 and json.loads(ann.to_json())["home"]["annex"]
    with pytest.raises(toft.ValueTooLongError, match=r"Address\.annex.* 100 within"):
        writing.create(Resident, id=2, home=nested(101))
    assert len(streets(writing)) == 100 and len(writing.objects(Resident)) == 1
    last = writing.objects(Address).where("street == '100'")[0]
    with pytest.raises(toft.ValueTooLongError):
        last.rooms.append(Address(street="one too many"))
    assert len(last.rooms) == 0 and len(streets(writing)) == 100
    assert writing.check()


def test_an_address_is_set_replaced_and_deleted(writing: toft.Realm) -> None:
    ann = writing.create(Resident, id=1)
    elm = Address(street="Elm")
    ann.home = elm
    assert elm.realm is writing and ann.home == elm
    ann.home.street = "Elm St"
    assert elm.street == "Elm St" and [each.id for each in elm.residents] == [1]
    ann.home = {"street": "Oak", "annex": {"street": "annex"}}
    assert not elm.is_valid
    assert streets(writing) == ["Oak", "annex"] and ann.home.annex.street == "annex"
    oak = ann.home
    ann.home = oak  # what it has stays
    assert oak.is_valid
    ann.home = None
    assert streets(writing) == []


def test_a_list_owns_its_elements(writing: toft.Realm) -> None:
    ann = writing.create(Resident, id=1)
    ann.earlier = [Address(street=each) for each in "abc"]
    ann.earlier.append(Address(street="d"))
    ann.earlier.insert(0, Address(street="e"))
    ann.earlier += [{"street": "f"}]
    assert [each.street for each in ann.earlier] == list("eabcdf")
    ann.earlier[1] = Address(street="A")
    del ann.earlier[0]
    ann.earlier[1:3] = [Address(street="x")]
    ann.earlier.move(0, 3)
    ann.earlier.reverse()
    assert [each.street for each in ann.earlier] == ["A", "f", "d", "x"]
    assert sorted(streets(writing)) == ["A", "d", "f", "x"]
    ann.earlier = ann.earlier
    ann.earlier = list(ann.earlier)  # the same, in the same order
    assert len(ann.earlier) == 4
    assert Address(street="A") not in ann.earlier and ann.earlier[0] in ann.earlier
    ann.earlier.clear()
    assert streets(writing) == []


def test_a_dictionary_owns_its_values(writing: toft.Realm) -> None:
    ann = writing.create(Resident, id=1, named={"a": Address(street="a"), "n": None})
    ann.named["b"] = Address(street="b")
    ann.named["a"] = {"street": "A"}
    assert sorted(streets(writing)) == ["A", "b"] and ann.named["n"] is None
    del ann.named["b"]
    assert streets(writing) == ["A"]
    ann.named = {"c": Address(street="c")}
    assert streets(writing) == ["c"]
    ann.named = {}
    assert streets(writing) == []


WRONG = {"street": "wrong", "floor": "first"}


@pytest.fixture
def settled(writing: toft.Realm) -> Resident:
    """Somebody with an address wherever one can be."""
    return writing.create(
        Resident,
        id=1,
        home={"street": "home", "annex": {"street": "annex"}},
        earlier=[{"street": "a"}, {"street": "b", "rooms": [{"street": "room"}]}, {"street": "c"}],
        named={"x": {"street": "x", "rooms": [{"street": "closet"}]}, "n": None},
    )


def test_an_assignment_that_fails_changes_nothing(settled: Resident) -> None:
    realm, before = settled.realm, settled.to_dict()
    assert realm is not None
    kept, all_streets = list(settled.earlier), sorted(streets(realm))
    inner = {"street": "new", "annex": WRONG}  # what is in it fails once it is there
    for fail in (
        lambda: setattr(settled, "home", WRONG),
        lambda: setattr(settled, "home", inner),
        lambda: setattr(settled, "earlier", [Address(street="new"), WRONG]),
        lambda: setattr(settled, "earlier", [Address(street="new"), inner]),
        lambda: setattr(settled, "earlier", [Address(street="new"), None]),
        lambda: settled.earlier.extend([{"street": "new"}, inner]),
        lambda: settled.earlier.__setitem__(1, WRONG),
        lambda: settled.earlier.__setitem__(slice(0, 2), [{"street": "new"}, WRONG]),
        lambda: setattr(settled, "named", {"k": {"street": "new"}, "z": WRONG}),
        lambda: settled.named.__setitem__("k", inner),
        lambda: settled.named.update({"k": {"street": "new"}, "z": 5}),
    ):
        with pytest.raises(toft.TypeMismatchError):
            fail()
        assert settled.to_dict() == before and sorted(streets(realm)) == all_streets
        assert list(settled.earlier) == kept
    for fail in (
        lambda: settled.earlier.__setitem__(1, inner),
        lambda: setattr(settled, "named", {"x": {"street": "new"}, "n": WRONG}),
        lambda: setattr(settled, "named", {"n": {"street": "new"}, "x": None, "z": inner}),
        lambda: settled.named.__setitem__("x", inner),
        lambda: settled.named.update({"x": {"street": "new"}, "n": {"street": "new"}, "z": 5}),
        lambda: settled.named.update({"x": None, "z": inner}),
    ):
        with pytest.raises(toft.TypeMismatchError):
            fail()
        assert settled.to_dict() == before and sorted(streets(realm)) == all_streets


def test_an_upsert_that_fails_changes_nothing(settled: Resident) -> None:
    realm, before = settled.realm, settled.to_dict()
    assert realm is not None
    kept, all_streets = list(settled.earlier), sorted(streets(realm))
    new = {"street": "new"}
    for update in ("all", "modified"):
        for given in (
            {"home": new, "earlier": [new, WRONG]},
            {"earlier": [new], "named": {"x": new, "y": WRONG}},
            {"home": {**new, "rooms": [new, WRONG]}, "named": {"n": new}},
            {"home": new, "earlier": [new], "named": {"x": new}, "visits": "many"},
        ):
            with pytest.raises(toft.TypeMismatchError):
                realm.upsert(Resident, {"id": 1, "visits": 7, **given}, update=update)
            assert settled.to_dict() == before and sorted(streets(realm)) == all_streets
            assert list(settled.earlier) == kept
        draft = Resident(id=1, earlier=[Address(**new)])
        draft.home, draft.named = Address(**new), {"x": Address(**new), "y": Address(**WRONG)}
        with pytest.raises(toft.TypeMismatchError):
            realm.add(draft, update=update)
        assert settled.to_dict() == before and list(settled.earlier) == kept
    again = realm.upsert(Resident, {"id": 1, "visits": 7, "earlier": [new], "named": {"x": new}})
    assert again == settled and settled.visits == 7 and [*settled.named] == ["x"]
    assert sorted(streets(realm)) == ["annex", "home", "new", "new"]


def test_what_comes_twice_in_a_graph_is_set_twice(writing: toft.Realm) -> None:
    ann = writing.create(Resident, id=1, earlier=[{"street": "old"}])
    first = Resident(id=1, earlier=[Address(street="first")])
    first.home = Address(
        street="home",
        owner=Resident(id=1, earlier=[Address(street="second"), Address(street="third")]),
    )
    writing.add(first, update="all")
    assert [each.street for each in ann.earlier] in (["first"], ["second", "third"])
    assert len(streets(writing)) == len(ann.earlier) + 1


def test_a_row_that_fails_leaves_one_that_was_updated_before_it_as_it_was(
    settled: Resident,
) -> None:
    realm, home = settled.realm, settled.home
    assert realm is not None
    with pytest.raises(toft.TypeMismatchError):
        realm.from_json(
            Resident,
            '[{"id": 1, "home": {"street": "new"}}, {"id": 2, "home": {"street": 5}}]',
            update="all",
        )
    assert home is not None and settled.home == home and home.street == "home"
    assert realm.object(Resident, 2) is None and "new" not in streets(realm)


def test_a_graph_that_fails_takes_no_address_from_one_that_was_there(settled: Resident) -> None:
    realm, before = settled.realm, settled.to_dict()
    assert realm is not None
    all_streets = sorted(streets(realm))
    for update in ("all", "modified"):
        wrong: Any = "many"
        other = Resident(id=2, home=Address(street="other"), visits=wrong)
        for graph in (
            Resident(id=1, visits=5),
            Resident(id=1, home=Address(street="new", owner=other)),
            Resident(id=1, named={"x": Address(street="new", owner=other), "z": None}),
        ):
            graph.earlier = [Address(street="new", owner=other)]
            with pytest.raises(toft.TypeMismatchError):
                realm.add(graph, update=update)
            assert settled.to_dict() == before and sorted(streets(realm)) == all_streets


def test_what_cannot_fail_is_not_copied(settled: Resident, monkeypatch: pytest.MonkeyPatch) -> None:
    realm = settled.realm
    assert realm is not None
    monkeypatch.setattr(adding, "detached", lambda value: pytest.fail(f"a copy of {value}"))
    new = {"street": "Grüße", "floor": 2, "annex": {"street": "inner"}, "owner": settled}
    realm.upsert(Resident, id=1, visits=2, home=new, earlier=[new, new], named={"x": new})
    settled.home = new
    settled.named = {"x": new, "y": None}
    settled.named.update({"x": new, "z": new})
    realm.add(Resident(id=1, home=Address(**new)), update="all")
    assert settled.home.annex is not None and settled.home.owner == settled
    assert len(streets(realm)) == 2  # what the last one has not is empty


def test_what_a_default_is_set_to_is_the_address_that_is_stored(settled: Resident) -> None:
    stored = settled.named.setdefault("k", {"street": "new"})  # type: ignore[arg-type]
    assert stored == settled.named["k"] and stored.realm is settled.realm
    assert settled.named.setdefault("k", Address(street="other")) == stored
    assert settled.named.setdefault("k", None) == stored
    assert settled.earlier is not None


def test_an_owner_is_deleted_together_with_what_it_owns(settled: Resident) -> None:
    realm = settled.realm
    assert realm is not None
    home, earlier = settled.home, settled.earlier
    realm.delete([settled, home], settled, earlier, realm.objects(Address))
    assert streets(realm) == [] and len(realm.objects(Resident)) == 0
    with pytest.raises(toft.ObjectDeletedError):
        realm.delete(home)
    bob = realm.create(Resident, id=2)
    with pytest.raises(toft.ObjectDeletedError):
        realm.delete(bob, settled)
    assert bob.is_valid  # it is told before anything is deleted


def test_every_second_address_is_replaced_or_none(settled: Resident) -> None:
    realm, before = settled.realm, settled.to_dict()
    assert realm is not None
    all_streets, new = sorted(streets(realm)), {"street": "new"}
    for wrong in ([new, WRONG], [new, None], [Address(**new), 5]):
        with pytest.raises((toft.TypeMismatchError, toft.EmbeddedObjectError, TypeError)):
            settled.earlier[::2] = wrong
        assert settled.to_dict() == before and sorted(streets(realm)) == all_streets
    settled.earlier[::-2] = [{"street": "z"}, {"street": "x"}]
    assert [each.street for each in settled.earlier] == ["x", "b", "z"]


def test_what_is_popped_is_a_copy_in_no_database(writing: toft.Realm) -> None:
    bob = writing.create(Resident, id=2)
    ann = writing.create(
        Resident,
        id=1,
        earlier=[{"street": "a"}, {"street": "b", "floor": 2, "owner": bob}],
        named={"c": {"street": "c", "annex": {"street": "d"}}, "n": None, "z": {"street": "z"}},
    )
    ann.earlier[1].rooms = [Address(street="room", rooms=[Address(street="corner")])]
    popped = ann.earlier.pop()
    assert popped.realm is None and (popped.street, popped.floor, popped.owner) == ("b", 2, bob)
    assert ann.named.popitem()[1].street == "z" and ann.named.pop("n") is None
    bob.home, bob.named = popped, {"c": ann.named.pop("c")}
    assert bob.home.rooms[0].rooms[0].street == "corner" and bob.named["c"].annex.street == "d"
    assert sorted(streets(writing)) == ["a", "b", "c", "corner", "d", "room"]


def test_a_whole_graph_is_added_with_its_owner(writing: toft.Realm) -> None:
    landlord = Resident(id=2)
    ann = Resident(
        id=1,
        home=Address(street="Elm", owner=landlord, annex=Address(street="annex")),
        earlier=[Address(street="a", rooms=[Address(street="room")])],
    )
    landlord.home = Address(street="far", owner=ann)
    writing.add(ann)
    assert ann.home.owner == landlord and landlord.home.owner == ann
    assert ann.earlier[0].rooms[0].street == "room"
    assert len(streets(writing)) == 5
    writing.delete(ann)
    assert streets(writing) == ["far"] and landlord.home.owner is None


def test_values_create_it_too(writing: toft.Realm) -> None:
    ann = writing.create(
        Resident, id=1, home=Address(street="Elm"), earlier=[{"street": "a"}, Address(street="b")]
    )
    assert ann.home.street == "Elm" and [each.street for each in ann.earlier] == ["a", "b"]
    writing.upsert(Resident, id=1, home={"street": "Oak"})
    assert ann.home.street == "Oak" and len(ann.earlier) == 2
    writing.upsert(Resident, id=1, home=None, earlier=[], update="modified")
    assert streets(writing) == []


def test_it_has_one_owner(writing: toft.Realm) -> None:
    ann = writing.create(Resident, id=1, home=Address(street="Elm"))
    bob = writing.create(Resident, id=2, earlier=[Address(street="kept")])
    owned = ann.home
    for give in (
        lambda: setattr(bob, "home", owned),
        lambda: bob.earlier.append(owned),
        lambda: setattr(bob, "earlier", [owned]),
        lambda: setattr(bob, "earlier", [owned, Address(street="x")]),
        lambda: writing.create(Resident, id=3, home=owned),
        lambda: writing.add(Resident(id=3, home=owned)),
        lambda: writing.add(Address(street="alone")),
        lambda: writing.create(Address, street="alone"),
    ):
        with pytest.raises(toft.EmbeddedObjectError):
            give()
    twice = Address(street="twice")
    for give in (
        lambda: setattr(bob, "earlier", [twice, twice]),
        lambda: writing.add(Resident(id=3, home=twice, earlier=[twice])),
        lambda: writing.create(Resident, id=3, home=twice, earlier=[twice]),
    ):
        with pytest.raises(toft.EmbeddedObjectError, match="twice"):
            give()
    with pytest.raises(toft.TypeMismatchError):
        bob.home = 5
    with pytest.raises(toft.TypeMismatchError):
        bob.earlier.append(Resident(id=4))
    assert writing.object(Resident, 3) is None
    assert streets(writing) == ["Elm", "kept"]
    bob.home = Address(**{**owned.to_dict(), "owner": None})
    assert bob.home.street == "Elm" and bob.home != owned


def test_it_is_a_part_of_its_owner_in_plain_python(writing: toft.Realm) -> None:
    ann = writing.create(
        Resident, id=1, home=Address(street="Elm", annex=Address(street="annex")), earlier=[]
    )
    ann.home.owner = ann
    plain = ann.to_dict()
    assert plain["home"]["annex"]["street"] == "annex" and plain["home"]["owner"] == 1
    text = ann.to_json()
    writing.delete(ann)
    [again] = writing.from_json(Resident, text.replace('"owner": 1', '"owner": null'))
    assert again.home.annex.street == "annex" and streets(writing) == ["Elm", "annex"]


def test_detached_objects_are_copied_and_pickled(writing: toft.Realm) -> None:
    ann = Resident(id=1, home=Address(street="Elm"), earlier=[Address(street="a")])
    for other in (copy.deepcopy(ann), pickle.loads(pickle.dumps(ann))):
        assert other.home is not ann.home and other.home.street == "Elm"
        other.id = 2
        writing.add(other, update="all")
    writing.add(ann)
    assert len(streets(writing)) == 4


def test_the_file_knows_embedded_classes(path: Path) -> None:
    with toft.open(path, CLASSES) as realm:
        with realm.write():
            realm.create(Resident, id=1, home={"street": "Elm"})
        assert realm.objects(Resident).where(Resident.home.street == "Elm").first().id == 1
    with toft.open(path) as realm, realm.write():
        found = realm.classes["Address"]
        assert issubclass(found, toft.EmbeddedObject)
        ann = realm.object("Resident", 1)
        ann.home = found(street="Oak", floor=2)
        assert [each.street for each in realm.objects("Address")] == ["Oak"]

    class Address_(toft.Object):
        street: str

    Address_.__name__ = "Address"
    with pytest.raises(toft.SchemaMismatchError) as error:
        toft.open(path, [Address_])
    assert "is embedded in the file" in error.value.detail

    class Keyed(toft.EmbeddedObject):
        id: int = toft.field(primary_key=True)

    with pytest.raises(toft.InvalidSchemaError, match=r"Keyed|schema"):
        toft.open_in_memory(classes=[Keyed])


def test_a_cancelled_transaction_brings_it_back(path: Path) -> None:
    with toft.open(path, CLASSES) as realm:
        with realm.write():
            ann = realm.create(Resident, id=1, home={"street": "Elm"})
        with pytest.raises(ZeroDivisionError), realm.write():
            ann.home = Address(street="Oak")
            _ = 1 / 0
        assert ann.home.street == "Elm" and streets(realm) == ["Elm"]


def test_observers_of_the_owner_are_told_what_lives_in_it(path: Path) -> None:
    seen: dict[str, list[toft.Changes]] = {
        name: [] for name in ("owners", "paths", "list", "object", "embedded")
    }
    with toft.open(path, CLASSES) as realm:
        with realm.write():
            ann = realm.create(
                Resident,
                id=1,
                home={"street": "Elm", "annex": {"street": "annex"}},
                earlier=[{"street": "a"}, {"street": "b", "rooms": [{"street": "room"}]}],
            )
        annex = ann.home.annex
        realm.objects(Resident).observe(seen["owners"].append, initial=False)
        realm.objects(Resident).observe(
            seen["paths"].append, key_paths=["home.floor"], initial=False
        )
        ann.earlier.observe(seen["list"].append, initial=False)
        ann.observe(seen["object"].append)
        annex.observe(seen["embedded"].append)

        def told() -> dict[str, int]:
            while realm.wait(0.2):
                pass
            counts = {name: len(changes) for name, changes in seen.items() if changes}
            return counts

        def last(name: str) -> toft.Changes:
            [changes] = seen[name]
            for each in seen.values():
                each.clear()
            return changes

        assert told() == {}
        with realm.write():
            annex.floor = 2
        assert told() == {"owners": 1, "embedded": 1}
        assert seen["embedded"][0].properties == ("floor",)
        assert last("owners").modifications == (0,)
        with realm.write():
            ann.earlier[1].rooms[0].floor = 3
        assert told() == {"owners": 1, "list": 1}
        assert last("list").modifications == (1,)
        with realm.write():
            ann.home.floor = 4
        assert told() == {"owners": 1, "paths": 1}
        last("paths")
        with realm.write():
            ann.home = Address(street="Oak")  # its annex goes with Elm
        assert told() == {"owners": 1, "paths": 1, "object": 1, "embedded": 1}
        assert seen["embedded"][0].kind == toft.ChangeKind.DELETED
        assert last("object").properties == ("home",)
        with realm.write():
            realm.delete(ann)
        assert told() == {"owners": 1, "paths": 1, "list": 1, "object": 1}
        assert seen["list"][0].kind == seen["object"][0].kind == toft.ChangeKind.DELETED
        assert last("owners").deletions == (0,)
