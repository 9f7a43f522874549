"""Links that take their targets with them, and links that keep them."""

from __future__ import annotations

from pathlib import Path

import pytest
import toft


class Item(toft.Object):
    name: str = toft.field(primary_key=True)
    after: Item | None = toft.field(delete_rule="cascade")
    orders = toft.linking_objects("Order", "items")


class Order(toft.Object):
    items: list[Item] = toft.field(delete_rule="cascade")
    tags: set[Item] = toft.field(delete_rule="cascade")
    named: dict[str, Item | None] = toft.field(delete_rule="cascade")
    kept: Item | None = toft.field(delete_rule="deny")
    plain: list[Item]


CLASSES = [Order, Item]


@pytest.fixture
def writing(path: Path):
    with toft.open(path, CLASSES) as realm:
        realm.begin_write()
        yield realm
        if realm.is_writing:
            realm.commit()


def names(realm: toft.Realm) -> str:
    return "".join(sorted(each.name for each in realm.objects(Item)))


def test_a_cascade_deletes_what_links_of_each_kind_lead_to(writing: toft.Realm) -> None:
    a, b, c, d, e = (writing.create(Item, name=name) for name in "abcde")
    b.after = a
    a.after = b  # a circle
    order = writing.create(
        Order, items=[b], tags={c}, named={"x": d, "y": None}, plain=[e], kept=None
    )
    other = writing.create(Order, items=[], plain=[a])
    order.items = [b, c]
    writing.delete(order)
    assert names(writing) == "e" and list(other.plain) == []
    other.items = [e]
    other.items = []  # deletes nothing
    writing.delete(other)
    assert names(writing) == "e"


def test_a_denying_link_keeps_its_target(writing: toft.Realm) -> None:
    a = writing.create(Item, name="a")
    b = writing.create(Item, name="b", after=a)
    order = writing.create(Order, kept=a)
    for delete in (
        lambda: writing.delete(a),
        lambda: writing.delete(b),
        lambda: writing.delete(writing.objects(Item)),
        lambda: writing.delete(writing.objects(Item).where("name == 'a'")),
    ):
        with pytest.raises(toft.DeletionDeniedError, match="'Order.kept' of another object"):
            delete()
        assert names(writing) == "ab"
    order.items = [a]
    writing.delete(order)  # what it denies goes with it
    assert names(writing) == "b"
    writing.create(Order, kept=b)
    with pytest.raises(toft.DeletionDeniedError):
        writing.delete_all(Item, Order)
    writing.delete_all()
    assert names(writing) == "" and len(writing.objects(Order)) == 0


def test_what_one_call_deletes_goes_in_any_order(writing: toft.Realm) -> None:
    for turn in range(3):
        a = writing.create(Item, name="a")
        b = writing.create(Item, name="b", after=a)  # a goes with b
        order = writing.create(Order, kept=b, plain=[a], items=[b])
        given = [b, a, order, order.plain, order.items]
        writing.delete(given[turn:] + given[:turn])
        assert names(writing) == "" and len(writing.objects(Order)) == 0
    kept, free = writing.create(Item, name="kept"), writing.create(Item, name="free")
    order = writing.create(Order, kept=kept)
    with pytest.raises(toft.DeletionDeniedError):
        writing.delete(kept, free)
    assert kept.is_valid and order.kept == kept


def test_what_fails_half_way_takes_nothing_along(writing: toft.Realm) -> None:
    old = writing.create(Item, name="old")
    with pytest.raises(toft.DuplicatePrimaryKeyError):
        writing.add(Item(name="new", after=Item(name="old")))
    assert names(writing) == "old"
    with pytest.raises(toft.DuplicatePrimaryKeyError):
        writing.insert_many(Item, [{"name": "x", "after": old}, {"name": "old"}])
    with pytest.raises(toft.Error):
        writing.insert_many(
            Item, [{"name": "x", "after": old}, {"name": "y"}, {"after": None, "name": "old"}]
        )
    assert names(writing) == "old" and old.is_valid
    with pytest.raises(toft.Error):
        writing.from_json(Order, '[{"items": ["old"], "kept": "old"}, {"items": ["none"]}]')
    assert names(writing) == "old" and len(writing.objects(Order)) == 0


def test_wrong_rules_are_refused(path: Path) -> None:
    with pytest.raises(ValueError, match="'nullify', 'cascade' or 'deny', not 'vanish'"):
        toft.field(delete_rule="vanish")  # type: ignore[arg-type]

    class Plain(toft.Object):
        number: int = toft.field(default=1, delete_rule="deny")

    with pytest.raises(toft.InvalidSchemaError) as caught:
        toft.open(path, [Plain])
    assert "has no delete rule" in caught.value.detail


def test_the_rule_is_the_files_and_may_change(path: Path) -> None:
    with toft.open(path, CLASSES) as realm, realm.write():
        realm.create(Order, items=[realm.create(Item, name="a")])
        realm.create(Item, name="b")
    with toft.open(path) as realm:
        rules = {each.name: each.delete_rule for each in toft.fields(realm.classes["Order"])}
        assert rules == {
            **{"items": "cascade", "tags": "cascade", "named": "cascade"},
            **{"kept": "deny", "plain": "nullify"},
        }
        with realm.write():
            realm.delete(realm.objects("Order"))
        assert [each.name for each in realm.objects("Item")] == ["b"]


def test_a_deletion_that_is_denied_deletes_none_of_what_was_given(writing: toft.Realm) -> None:
    a, b, c = (writing.create(Item, name=name) for name in "abc")
    writing.create(Order, kept=c)
    order = writing.create(Order, items=[a, b])
    for given in ([a, order, c], [order, [b, c]], [writing.objects(Item), order]):
        with pytest.raises(toft.DeletionDeniedError):
            writing.delete(given)
        with pytest.raises(toft.TypeMismatchError):
            writing.delete(a, order, "c")
        assert names(writing) == "abc" and [*order.items] == [a, b]
    writing.delete(order, a)
    assert names(writing) == "c"
