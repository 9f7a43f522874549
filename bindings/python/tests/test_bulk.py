"""Many objects at once: inserted from rows and columns, updated, deleted, grouped."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import toft
from models import Dog, Everything, Person

NOON = datetime(2024, 2, 29, 12, 30, tzinfo=timezone.utc)


class Sale(toft.Object):
    id: int = toft.field(primary_key=True)
    shop: str | None
    amount: int | None
    price: float = 2.5
    day: datetime | None
    labels: list[str] = toft.field(default_factory=lambda: ["new"])
    seller: Sale | None


@pytest.fixture
def sales(path: Path) -> Any:
    with toft.open(path, [Sale]) as realm:
        yield realm
        if realm.is_writing:
            realm.cancel()


def rows(count: int) -> list[dict[str, Any]]:
    return [
        {"id": number, "shop": "ab"[number % 2], "amount": number, "day": NOON}
        for number in range(count)
    ]


def test_rows_become_objects_and_defaults_hold(sales: toft.Realm) -> None:
    with sales.write():
        assert sales.insert_many(Sale, rows(1000)) == 1000
        assert sales.insert_many(Sale, (row for row in [{"id": -1, "price": 1.0}])) == 1
        assert sales.insert_many(Sale, []) == 0
    assert len(sales.objects(Sale)) == 1001
    last = sales.object(Sale, 999)
    assert last is not None
    assert (last.shop, last.amount, last.price, last.day) == ("b", 999, 2.5, NOON)
    assert last.labels == ["new"]
    odd = sales.object(Sale, -1)
    assert odd is not None and (odd.shop, odd.price, odd.labels) == (None, 1.0, ["new"])


def test_rows_may_have_different_properties_links_and_lists(sales: toft.Realm) -> None:
    with sales.write():
        boss = sales.create(Sale, id=0)
        sales.insert_many(
            Sale,
            [
                {"id": 1, "seller": boss},
                {"labels": ["x", "y"], "id": 2},
                Sale(id=3, seller=Sale(id=4, amount=1)),
            ],
        )
    one, two, three = (sales.object(Sale, number) for number in (1, 2, 3))
    assert one is not None and two is not None and three is not None
    assert one.seller == boss and two.labels == ["x", "y"]
    assert three.seller is not None and three.seller.amount == 1


def test_rows_update_what_exists(sales: toft.Realm) -> None:
    with sales.write():
        sales.insert_many(Sale, rows(10))
        sales.insert_many(Sale, [{"id": 3, "amount": 7}, {"id": 30, "amount": 8}], update="all")
        with pytest.raises(toft.DuplicatePrimaryKeyError, match="Row 0"):
            sales.insert_many(Sale, [{"id": 3}])
    three, thirty = sales.object(Sale, 3), sales.object(Sale, 30)
    assert three is not None and (three.shop, three.amount) == ("b", 7)
    assert thirty is not None and (thirty.amount, thirty.price) == (8, 2.5)
    assert len(sales.objects(Sale)) == 11


def test_all_rows_are_inserted_or_none(sales: toft.Realm) -> None:
    wrong: list[Any] = [*rows(5), {"id": 5, "amount": "x"}]
    with sales.write():
        sales.insert_many(Sale, [{"id": 100}])
        with pytest.raises(toft.TypeMismatchError, match="Row 5: .*amount"):
            sales.insert_many(Sale, wrong)
        with pytest.raises(toft.NoSuchPropertyError, match="Row 1: .*nope"):
            sales.insert_many(Sale, [{"id": 1}, {"id": 2, "nope": 3}])
        with pytest.raises(ZeroDivisionError):
            sales.insert_many(Sale, ({"id": 1 // number} for number in (1, 0)))
        with pytest.raises(toft.DuplicatePrimaryKeyError):
            sales.insert_many(Sale, [Sale(id=1), Sale(id=1)])
    assert [each.id for each in sales.objects(Sale)] == [100]
    with pytest.raises(toft.NotInTransactionError):
        sales.insert_many(Sale, rows(1))


def test_columns_become_objects_and_what_columns_gives_can_be_inserted(sales: toft.Realm) -> None:
    pytest.importorskip("numpy")
    with sales.write():
        sales.insert_many(Sale, {"id": [1, 2], "shop": ("a", None), "amount": [None, 2**62 + 1]})
        sales.insert_many(Sale, rows(50)[10:])
        columns = sales.objects(Sale).columns("id", "shop", "amount", "price", "day")
        before = sales.objects(Sale).lists()
        assert sales.objects(Sale).delete() == 42
        assert sales.insert_many(Sale, columns) == 42
        with pytest.raises(toft.InvalidArgumentError, match="id: 2, shop: 1"):
            sales.insert_many(Sale, {"id": [100, 101], "shop": ["a"]})
        with pytest.raises(toft.NoSuchPropertyError):
            sales.insert_many(Sale, {"nope": [1]})
    assert sales.objects(Sale).lists() == before


def test_a_data_frame_of_pandas_becomes_objects(sales: toft.Realm) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "id": [1, 2, 3],
            "shop": ["a", None, "c"],
            "amount": [1.0, float("nan"), 3.0],  # pandas' way to have an optional int
            "price": [1.5, 2.5, float("inf")],
            "day": pandas.to_datetime(["2024-02-29 12:30", None, "2024-03-01 00:00"]),
        }
    )
    aware = frame.assign(day=frame.day.dt.tz_localize("UTC"))
    elsewhere = aware.assign(id=[4, 5, 6], day=aware.day.dt.tz_convert("Asia/Kolkata"))
    nullable = aware.assign(id=[7, 8, 9], amount=frame.amount.astype("Int64"))
    with sales.write():
        index = {"id": [1], "day": pandas.DatetimeIndex(["2024-02-29 12:30"])}
        for each in (frame, frame.assign(day=frame.day.astype("datetime64[ns]")), index):
            with pytest.raises(toft.TypeMismatchError, match=r"Sale.day.*tz_localize\('UTC'\)"):
                sales.insert_many(Sale, each)
        for each in (aware, elsewhere, nullable):
            assert sales.insert_many(Sale, each) == 3
    found = sales.objects(Sale).lists()
    assert found["shop"] == ["a", None, "c"] * 3
    assert found["amount"] == [1, None, 3] * 3
    midnight = datetime(2024, 3, 1, tzinfo=timezone.utc)
    assert found["day"] == [NOON, None, midnight] * 3
    assert found["price"] == [1.5, 2.5, float("inf")] * 3


def test_two_columns_of_one_name_are_refused(sales: toft.Realm) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[1, 2, 3]], columns=["id", "amount", "id"])
    with sales.write(), pytest.raises(toft.InvalidArgumentError, match="Two columns .*: id"):
        sales.insert_many(Sale, frame)


def test_a_data_frame_of_polars_becomes_objects(sales: toft.Realm) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"id": [1, 2], "amount": [None, 2], "day": [NOON, None]})
    with sales.write():
        assert sales.insert_many(Sale, frame) == 2
    found = sales.objects(Sale).lists("amount", "day")
    assert found == {"amount": [None, 2], "day": [NOON, None]}


def test_points_in_time_need_a_zone_wherever_they_come_from(sales: toft.Realm) -> None:
    class Day(toft.Object):
        day: date | None

    naive = NOON.replace(tzinfo=None)
    with sales.write():
        for refused in ([{"id": 1, "day": naive}], {"id": [1], "day": [naive]}):
            with pytest.raises(toft.TypeMismatchError, match="no time zone"):
                sales.insert_many(Sale, refused)
        with pytest.raises(toft.TypeMismatchError, match="no time zone"):
            sales.create(Sale, id=1, day=naive)
        polars = pytest.importorskip("polars")
        with pytest.raises(toft.TypeMismatchError, match="no time zone"):
            sales.insert_many(Sale, polars.DataFrame({"id": [1], "day": [naive]}))
        numpy = pytest.importorskip("numpy")  # whose type can have none, and is UTC
        moment = numpy.datetime64("2024-02-29T12:30")
        sales.insert_many(Sale, {"id": [1], "day": numpy.array([moment])})
        sales.create(Sale, id=2, day=moment)
        assert not sales.objects(Sale).where("day != $0", NOON)
    pandas = pytest.importorskip("pandas")
    with toft.open_in_memory([Day]) as realm, realm.write():
        realm.insert_many(Day, pandas.DataFrame({"day": pandas.to_datetime(["2024-02-29", None])}))
        assert [each.day for each in realm.objects(Day)] == [date(2024, 2, 29), None]


def test_a_data_frame_of_polars_has_the_types_of_polars(realm: toft.Realm) -> None:
    polars = pytest.importorskip("polars")

    class Reading(toft.Object):
        id: int = toft.field(primary_key=True)
        name: str | None
        data: bytes | None
        at: datetime | None
        day: date | None
        price: Decimal | None
        code: UUID | None
        mark: toft.ObjectId | None
        ok: bool | None
        short: toft.Float32 | None
        count: int | None
        next: Reading | None

    full = {
        "name": "é", "data": b"\0", "at": NOON, "day": date(2024, 2, 29), "price": Decimal("1.5"),
        "code": UUID(int=1), "mark": toft.ObjectId(bytes(12)), "ok": True, "short": 0.5,
        "count": 2**62 + 1,
    }  # fmt: skip
    with toft.open_in_memory([Reading]) as readings:
        assert readings.objects(Reading).to_polars().shape == (0, 12)
        with readings.write():
            one = readings.create(Reading, id=1, **full)
            readings.create(Reading, id=2, next=one)
        frame = readings.objects(Reading).to_polars()
        assert dict(frame.schema) == {
            "id": polars.Int64, "name": polars.String, "data": polars.Binary,
            "at": polars.Datetime("us", "UTC"), "day": polars.Date,
            "price": polars.Decimal(38, 1), "code": polars.String, "mark": polars.String,
            "ok": polars.Boolean, "short": polars.Float32, "count": polars.Int64,
            "next": polars.Int64,
        }  # fmt: skip
        expected = {**full, "code": str(full["code"]), "mark": str(full["mark"]), "next": None}
        assert frame.row(0, named=True) == {"id": 1, **expected}
        second = frame.row(1, named=True)
        assert second.pop("next") is not None and {*second.values()} == {2, None}
        back = frame.drop("next", "code", "mark").with_columns(id=polars.col("id") + 2)
        with readings.write():
            assert readings.insert_many(Reading, back) == 2
            readings.create(Reading, id=9, price=Decimal("NaN"))
        assert readings.object(Reading, 3).price == Decimal("1.5")
        assert len(readings.objects(Reading).to_polars("price", Reading.name)) == 5


def test_all_results_are_updated_at_once(realm: toft.Realm) -> None:
    with realm.write():
        realm.insert_many(Dog, [{"name": str(age), "age": age} for age in range(10)])
        ada = realm.create(Person, name="Ada")
        dogs = realm.objects(Dog)
        young = dogs.where(Dog.age < 4)
        assert young.update(age=5, owner=ada, tags=["x"]) == 4
        assert len(young) == 0 and young.update(age=1) == 0
        assert dogs.update(owner=Person(name="Ben")) == 10
        with pytest.raises(toft.NoSuchPropertyError):
            dogs.update(nmae="x")
        with pytest.raises(toft.TypeMismatchError):
            dogs.update(age="x")
    assert sorted(dog.age for dog in dogs) == [4, 5, 5, 5, 5, 5, 6, 7, 8, 9]
    assert [dog.tags for dog in dogs.where(Dog.tags.length() == 1)] == [["x"]] * 4
    assert {dog.owner.name for dog in dogs if dog.owner} == {"Ben"}
    with pytest.raises(toft.NotInTransactionError):
        dogs.update(age=1)


def test_an_update_is_all_or_none_and_takes_those_that_there_were(realm: toft.Realm) -> None:
    with realm.write():
        rex = realm.create(Dog, name="Rex", age=1)
        dogs = realm.objects(Dog)
        assert dogs.update() == 1
        with pytest.raises(toft.ValueTooLongError):
            dogs.update(age=2, name="x" * 2**24)
        with pytest.raises(toft.NullNotAllowedError):
            dogs.update(name="Max", age=None)
        assert (rex.name, rex.age) == ("Rex", 1)
        assert dogs.update(friends=[Dog(name="Tom", age=7)], age=2) == 1, "Tom came later"
        assert [(dog.name, dog.age) for dog in dogs] == [("Rex", 2), ("Tom", 7)]
        with pytest.raises(toft.PrimaryKeyChangeError):
            realm.create(Person, name="Ada")
            realm.objects(Person).update(name="Ben")
        with pytest.raises(toft.TypeMismatchError):
            rex.friends.results.where("name == 'Tom'").update(tags=[1])
    with pytest.raises(toft.NotInTransactionError):
        dogs.where(Dog.age > 100).update(age=1)


def test_all_results_are_deleted_at_once(realm: toft.Realm) -> None:
    with realm.write():
        realm.insert_many(Dog, [{"name": str(age), "age": age} for age in range(10)])
        assert realm.objects(Dog).where(Dog.age > 6).delete() == 3
        assert realm.objects(Dog).where(Dog.age > 6).delete() == 0
    assert len(realm.objects(Dog)) == 7
    with pytest.raises(toft.NotInTransactionError):
        realm.objects(Dog).delete()


def test_groups_have_counts_sums_means_and_ends(sales: toft.Realm) -> None:
    with sales.write():
        sales.insert_many(Sale, rows(10))
        sales.create(Sale, id=10, shop=None, amount=4)
        boss = sales.create(Sale, id=11, shop="c")
        sales.objects(Sale).where(Sale.id < 2).update(seller=boss)
    by_shop = sales.objects(Sale).group_by("shop")
    assert by_shop.count() == {"a": 5, "b": 5, None: 1, "c": 1}
    assert sales.objects(Sale).group_by("seller.shop").sum("seller.id") == {None: 0, "c": 22}
    assert sales.objects(Sale).group_by(Sale.seller.shop).count() == {None: 10, "c": 2}
    assert by_shop.sum("amount") == {"a": 20, "b": 25, None: 4, "c": 0}
    assert by_shop.average(Sale.amount) == {"a": 4.0, "b": 5.0, None: 4.0, "c": None}
    assert by_shop.min("amount") == {"a": 0, "b": 1, None: 4, "c": None}
    assert by_shop.max("day") == {"a": NOON, "b": NOON, None: None, "c": None}
    assert list(by_shop.count()) == [None, "a", "b", "c"]
    both = sales.objects(Sale).where(Sale.amount < 3).group_by(Sale.shop, "amount").count()
    assert both == {("a", 0): 1, ("b", 1): 1, ("a", 2): 1}
    assert sales.objects(Sale).group_by("seller").count() == {boss: 2, None: 10}
    with pytest.raises(toft.UnsupportedAggregateError):
        by_shop.sum("shop")
    with pytest.raises(toft.NoSuchPropertyError):
        sales.objects(Sale).group_by("nope")
    with pytest.raises(toft.TypeMismatchError):
        sales.objects(Sale).group_by("labels").count()
    with pytest.raises(toft.InvalidArgumentError):
        sales.objects(Sale).group_by()


def test_what_columns_read_can_be_written_back_one_by_one(realm: toft.Realm) -> None:
    numpy = pytest.importorskip("numpy")
    with realm.write():
        item = realm.create(Everything, id=1, born=NOON)
        [born] = realm.objects(Everything).columns("born")["born"]
        assert isinstance(born, numpy.datetime64)
        item.maybe_born = born
        assert item.maybe_born == NOON
        item.maybe_born = numpy.datetime64("NaT", "us")
        assert item.maybe_born is None
        with pytest.raises(toft.TypeMismatchError, match="time zone"):
            item.born = datetime(2024, 1, 1)


def test_the_missing_values_of_pandas_are_none(realm: toft.Realm) -> None:
    pandas = pytest.importorskip("pandas")
    with realm.write():
        item = realm.create(Everything, id=1, maybe_count=pandas.NA, maybe_born=pandas.NaT)
    assert item.maybe_count is None and item.maybe_born is None


def test_arrays_become_objects_as_they_are(realm: toft.Realm) -> None:
    numpy = pytest.importorskip("numpy")
    count = 5000  # more than one call takes
    numbers = numpy.arange(count)
    days = numpy.datetime64("2024-02-29T12:30", "ns") + numbers * numpy.timedelta64(1, "us")
    empty = numpy.ma.array(numbers * 2, mask=numbers % 2 == 0)
    with realm.write():
        realm.insert_many(
            Everything,
            {
                "id": numbers,
                "flag": numbers % 2 == 0,
                "count": numbers.astype("u1"),
                "ratio": numbers / 4,
                "score": numbers[::-1] * 0.5,
                "title": [f"n {number}" for number in range(count)],
                "picture": [b"x" * (number % 3) for number in range(count)],
                "born": days,
                "maybe_count": empty,
                "maybe_born": numpy.where(numbers % 2 == 0, numpy.datetime64("NaT"), days),
                "maybe_flag": numpy.ma.array(numbers % 3 == 0, mask=numbers % 2 == 0),
                "counts": [[number] for number in range(count)],
            },
        )
    found = realm.objects(Everything).lists()
    assert found["id"] == list(range(count))
    assert found["flag"] == [number % 2 == 0 for number in range(count)]
    assert found["count"] == [number % 256 for number in range(count)]
    assert found["ratio"] == [number / 4 for number in range(count)]
    assert found["score"] == [(count - 1 - number) * 0.5 for number in range(count)]
    assert found["title"][4999] == "n 4999" and found["picture"][4999] == b"x"
    assert found["born"][:3] == [NOON + timedelta(microseconds=number) for number in range(3)]
    assert found["maybe_born"][:2] == [None, NOON + timedelta(microseconds=1)]
    assert found["maybe_count"][:4] == [None, 2, None, 6]
    assert found["maybe_flag"][:4] == [None, False, None, True]
    assert list(realm.objects(Everything)[4999].counts) == [4999]


@pytest.mark.parametrize("cells", [[0, "x"], [0, None], [0, 1.5], [0, True], [0, 2**63]])
def test_a_column_of_lists_refuses_what_a_row_refuses(realm: toft.Realm, cells: list[Any]) -> None:
    """Both give the same error for the same row, whichever way it comes, behind as many rows as
    possible.
    """
    with realm.write():
        for before in (0, 4095, 4096):
            column = [0] * before + cells
            ids = list(range(len(column)))
            messages = []
            for rows_or_columns in (
                {"id": ids, "count": column},
                [{"id": number, "count": cell} for number, cell in zip(ids, column)],
            ):
                with pytest.raises(toft.Error) as raised:
                    realm.insert_many(Everything, rows_or_columns)
                messages.append(raised.value.message)
                assert len(realm.objects(Everything)) == 0
            assert messages[0] == messages[1]
            assert messages[0].startswith(f"Row {before + 1}: "), messages


def test_a_wrong_array_is_refused(realm: toft.Realm) -> None:
    numpy = pytest.importorskip("numpy")
    with realm.write():
        for name, wrong in (
            ("count", numpy.array([2**63], "u8")),
            ("count", numpy.array([1.5])),
            ("count", numpy.array([True])),
            ("flag", numpy.array([1])),
            ("score", numpy.array(["x"])),
            ("born", numpy.array([1])),
            ("born", numpy.array(["NaT"], "M8[us]")),
            ("title", numpy.array([1])),
            ("born", numpy.array([300_000], "M8[Y]")),
            ("born", [numpy.datetime64(300_000, "Y")]),
        ):
            with pytest.raises(toft.Error, match="Row 0: "):
                realm.insert_many(Everything, {"id": [1], name: wrong})
        assert realm.insert_many(Everything, {"id": numpy.array([7, 8])}) == 2
        with pytest.raises(toft.DuplicatePrimaryKeyError, match="Row 1: "):
            realm.insert_many(Everything, {"id": numpy.array([9, 8])})
        assert [each.id for each in realm.objects(Everything)] == [7, 8]


def test_texts_of_columns_keep_every_character(realm: toft.Realm) -> None:
    words = ["", "Grüße", "世界", "\0", "a" * 5000, "🐕"]
    with realm.write():
        realm.insert_many(Everything, {"id": list(range(6)), "title": words})
        realm.insert_many(Everything, {"id": [6], "title": [""], "picture": [b""]})
        with pytest.raises(toft.InvalidArgumentError, match="Row 1: "):
            realm.insert_many(Everything, {"id": [8, 9], "title": ["a", "\ud800"]})
    assert realm.objects(Everything).lists("title")["title"] == [*words, ""]


class Tag(toft.EmbeddedObject):
    text: str = ""


class Shelf(toft.Object):
    id: int = toft.field(primary_key=True)
    count: int = 0
    tag: Tag | None
    neighbours: list[Shelf]


def test_an_update_changes_each_object_of_a_list_once_or_none(path: Path) -> None:
    with toft.open(path, [Shelf, Tag]) as realm:
        with realm.write():
            one, two = (realm.create(Shelf, id=number) for number in (1, 2))
            one.neighbours = [two, one, two]
            assert one.neighbours.results.update(count=Shelf.count + 3) == 2
            assert (one.count, two.count) == (3, 3)
            assert one.neighbours.results.update(count=7) == 2
            two.count = 2**63 - 2
            with pytest.raises(OverflowError, match="Nothing was changed"):
                one.neighbours.results.update(count=Shelf.count + 2)
            assert (one.count, two.count) == (7, 2**63 - 2)
            one.tag = Tag(text="mine")
            with pytest.raises(toft.EmbeddedObjectError):
                realm.objects(Shelf).update(count=9, tag=one.tag)
            assert (one.count, two.count, two.tag) == (7, 2**63 - 2, None)
        assert realm.check().problems == ()
