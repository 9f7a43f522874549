"""Results as tables of Arrow, and such tables as objects."""

from __future__ import annotations

import gc
import random
import threading
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import toft

pyarrow = pytest.importorskip("pyarrow")

NOON = datetime(2024, 2, 29, 12, 30, tzinfo=timezone.utc)


class Address(toft.EmbeddedObject):
    street: str
    number: int | None


class Maker(toft.Object):
    name: str = toft.field(primary_key=True)
    country: str | None


class Shop(toft.Object):
    city: str


class Item(toft.Object):
    id: int = toft.field(primary_key=True)
    title: str | None
    count: int | None
    ratio: toft.Float32 | None
    score: float = 2.5
    ok: bool | None
    data: bytes | None
    at: datetime | None
    day: date | None
    price: Decimal | None
    code: UUID | None
    mark: toft.ObjectId | None
    colour: str
    anything: Any
    maker: Maker | None
    shop: Shop | None
    next: Item | None
    address: Address | None
    labels: list[str]
    makers: list[Maker]
    numbers: set[int]
    scores: dict[str, float]


class Level(Enum):
    LOW = 1
    HIGH = 2


class Entry(toft.Object):
    id: int = toft.field(primary_key=True)
    level: Level
    day: date | None
    key: str = toft.field(default_factory=lambda: "made")
    name: str = toft.field(name="title", default="none")


CLASSES = [Item, Maker, Shop, Address]


@pytest.fixture
def items(path: Path) -> Any:
    with toft.open(path, CLASSES) as realm:
        with realm.write():
            acme = realm.create(Maker, name="Acme", country="DE")
            bolt = realm.create(Maker, name="Bolt")
            shop = realm.create(Shop, city="Ulm")
            one = realm.create(
                Item, id=1, title="é", count=2**62 + 1, ratio=0.5, score=0.1, ok=True, data=b"\0",
                at=NOON, day=date(2024, 2, 29), price=Decimal("1.50"), code=UUID(int=1),
                mark=toft.ObjectId(bytes(range(12))), colour="red", anything=[1, "a"], maker=acme,
                shop=shop, labels=["b", "a"], makers=[bolt, acme], numbers={3, 1},
                scores={"x": 1.5}, address=Address(street="Main", number=5),
            )  # fmt: skip
            realm.create(Item, id=2, colour="blue", price=Decimal("-2"), next=one)
        yield realm


def test_pyarrow_has_every_type(items: toft.Realm) -> None:
    table = pyarrow.table(items.objects(Item))
    types = {field.name: str(field.type) for field in table.schema}
    assert types["at"] == "timestamp[us, tz=UTC]"
    assert types["price"] == "decimal128(38, 2)"
    assert types["scores"].startswith("map<large_string, double")
    assert "uuid" in types["code"] and "json" in types["anything"]
    first, second = table.to_pylist()
    assert first["at"] == NOON and first["price"] == Decimal("1.50")
    assert first["code"] in (UUID(int=1), UUID(int=1).bytes)
    assert first["maker"] == "Acme" and first["makers"] == ["Bolt", "Acme"]
    assert first["address"] == {"street": "Main", "number": 5}
    assert first["labels"] == ["b", "a"] and first["numbers"] == [1, 3]
    assert dict(first["scores"]) == {"x": 1.5} and first["count"] == 2**62 + 1
    assert second["next"] == 1 and second["title"] is None and second["address"] is None
    assert table.schema.field("id").nullable is False


def test_key_paths_become_columns_of_polars_pandas_and_duckdb(items: toft.Realm) -> None:
    polars = pytest.importorskip("polars")
    duckdb = pytest.importorskip("duckdb")
    results = items.objects(Item).sort("-id")
    flat = results.to_arrow("id", "maker.country", Item.next.title, "address.street")
    expected = [(2, None, "é", None), (1, "DE", None, "Main")]
    assert polars.DataFrame(flat).rows() == expected
    assert duckdb.sql("FROM flat").fetchall() == expected
    frame = pyarrow.table(flat).to_pandas()
    assert frame["id"].tolist() == [2, 1] and frame["maker.country"].tolist()[1] == "DE"
    names = ["id", "maker.country", "next.title", "address.street"]
    assert list(frame.columns) == names == polars.DataFrame(flat).columns
    assert "maker.country" in repr(flat)


def test_duckdb_takes_a_table_on_threads_of_its_own(items: toft.Realm) -> None:
    duckdb = pytest.importorskip("duckdb")
    found = items.objects(Item).to_arrow()
    connection = duckdb.connect()
    connection.register("found", found)
    assert connection.sql('SELECT id, "at", price, maker FROM found ORDER BY id').fetchall() == [
        (1, NOON, Decimal("1.50"), "Acme"),
        (2, None, Decimal("-2.00"), None),
    ]


def test_texts_that_repeat_are_categories(items: toft.Realm) -> None:
    polars = pytest.importorskip("polars")
    with items.write():
        items.insert_many(
            Item, ({"id": 10 + n, "colour": ["red", "green"][n % 2]} for n in range(2_000))
        )
    table = pyarrow.table(items.objects(Item).where("id >= 10").to_arrow("colour", "id"))
    assert pyarrow.types.is_dictionary(table.schema.field("colour").type)
    frame = table.to_pandas()
    assert str(frame["colour"].dtype) == "category"
    assert frame["colour"].value_counts().to_dict() == {"red": 1_000, "green": 1_000}
    assert polars.DataFrame(table)["colour"].cast(polars.String).to_list()[:2] == ["red", "green"]


def test_a_parquet_file_goes_there_and_back(items: toft.Realm, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    names = [each for each in pyarrow.table(items.objects(Item)).column_names if each != "shop"]
    parquet.write_table(pyarrow.table(items.objects(Item).to_arrow(*names)), tmp_path / "items")
    parquet.write_table(pyarrow.table(items.objects(Maker)), tmp_path / "makers")
    with toft.open_in_memory(CLASSES) as realm:
        with realm.write():
            assert realm.insert_many(Maker, parquet.read_table(tmp_path / "makers")) == 2
            assert realm.insert_many(Item, parquet.read_table(tmp_path / "items")) == 2
        before = items.objects(Item).to_dicts()
        after = realm.objects(Item).to_dicts()
        for each in before:
            each["shop"] = None
        assert after == before
        assert realm.check()


def test_results_of_one_realm_are_rows_of_another(items: toft.Realm) -> None:
    with toft.open_in_memory(CLASSES) as realm:
        with realm.write():
            realm.insert_many(Maker, items.objects(Maker))
            realm.insert_many(Shop, items.objects(Shop))
            names = ["id", "colour", "maker", "next", "scores", "address"]
            realm.insert_many(Item, items.objects(Item).to_arrow(*names))
        one, two = realm.objects(Item)
        assert one.maker.name == "Acme" and two.next.id == 1 and one.score == 2.5
        assert one.address.street == "Main" and two.address is None
        assert [each.city for each in realm.objects(Shop)] == ["Ulm"]


def test_rows_of_a_table_update_objects(items: toft.Realm) -> None:
    table = pyarrow.table({"id": [2, 3], "colour": ["black", "white"], "score": [None, 1.0]})
    with items.write():
        with pytest.raises(toft.NullNotAllowedError, match="Row 0: .*score"):
            items.insert_many(Item, table, update="modified")
        table = table.drop_columns(["score"])
        assert items.insert_many(Item, table, update="modified") == 2
    assert [(each.id, each.colour, each.score) for each in items.objects(Item).sort("id")] == [
        (1, "red", 0.1),
        (2, "black", 2.5),
        (3, "white", 2.5),
    ]


def test_defaults_and_types_of_the_programs_own_are_kept(path: Path) -> None:
    with toft.open(path, [Entry]) as realm, realm.write():
        days = pyarrow.array([date(2024, 2, 29), None])
        realm.insert_many(Entry, pyarrow.table({"id": [1, 2], "day": days, "key": ["a", "b"]}))
        realm.insert_many(Entry, pyarrow.table({"id": [3], "level": [2], "key": ["c"]}))
        realm.insert_many(Entry, pyarrow.table({"id": [4], "name": ["d"]}))
        realm.insert_many(Entry, pyarrow.table({"id": [5], "title": ["e"], "key": ["e"]}))
        with pytest.raises(toft.TypeMismatchError, match="is no Level"):
            realm.insert_many(Entry, pyarrow.table({"id": [6], "level": [3], "key": ["f"]}))
        found = [(e.id, e.level, e.day, e.key, e.name) for e in realm.objects(Entry)]
    assert found == [
        (1, Level.LOW, date(2024, 2, 29), "a", "none"),
        (2, Level.LOW, None, "b", "none"),
        (3, Level.HIGH, None, "c", "none"),
        (4, Level.LOW, None, "made", "d"),
        (5, Level.LOW, None, "e", "e"),
    ]


def test_tables_that_are_wrong_change_nothing(items: toft.Realm) -> None:
    before = items.objects(Item).to_dicts()
    naive = pyarrow.array([datetime(2024, 1, 1)])
    for error, words, table in (
        (toft.NoSuchPropertyError, "Did you mean 'title'", {"id": [5], "titel": ["x"]}),
        (toft.NoSuchObjectError, "Row 1: .*'Nobody'", {"id": [5, 6], "maker": ["Acme", "Nobody"]}),
        (toft.TypeMismatchError, "no time zone", {"id": [5], "at": naive}),
        (toft.TypeMismatchError, "can't be made of", {"id": [5], "title": [5]}),
        (toft.TypeMismatchError, "does not hold", {"id": [5], "count": [0.5]}),
        (toft.DuplicatePrimaryKeyError, "Row 1: ", {"id": [5, 1]}),
        (toft.UnsupportedError, "duration", {"id": [5], "count": [timedelta(1)]}),
    ):
        given = pyarrow.table({**table, "colour": ["x"] * len(table["id"])})
        words = words.replace("duration", "tDu")
        with items.write(), pytest.raises(error, match=words):
            items.insert_many(Item, given)
    assert items.objects(Item).to_dicts() == before
    with pytest.raises(toft.NotInTransactionError):
        items.insert_many(Item, pyarrow.table({"id": [5]}))


def test_a_stream_is_read_once(items: toft.Realm) -> None:
    class Once:
        capsule = items.objects(Maker).__arrow_c_stream__()

        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return self.capsule

    once = Once()
    with toft.open_in_memory(CLASSES) as realm, realm.write():
        assert realm.insert_many(Maker, once) == 2
        with pytest.raises(toft.InvalidArgumentError, match="has been released"):
            realm.insert_many(Maker, once)


def test_a_stream_shows_its_version_on_any_thread_after_its_realm(items: toft.Realm) -> None:
    reader = pyarrow.RecordBatchReader.from_stream(items.objects(Item).to_arrow("id"))
    with items.write():
        items.delete_all()
    items.close()
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(reader.read_all().to_pydict()))
    thread.start()
    thread.join()
    assert found == [{"id": [1, 2]}]


def test_a_table_goes_to_any_thread_and_shows_the_moment_of_its_making(items: toft.Realm) -> None:
    table = items.objects(Item).to_arrow("id")
    with items.write():
        items.delete_all(Item)
        assert pyarrow.table(items.objects(Item).to_arrow("id")).num_rows == 0
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(pyarrow.table(table).to_pydict()))
    thread.start()
    thread.join()
    assert found == [{"id": [1, 2]}]


def test_streams_that_nobody_reads_let_go_of_their_version(items: toft.Realm) -> None:
    for _ in range(3):
        items.objects(Item).__arrow_c_stream__()
        items.objects(Item).to_arrow("id").__arrow_c_schema__()
    gc.collect()
    with items.write():
        items.create(Item, id=9, colour="x")
    assert len(items.pins) <= 1


def test_columns_lead_over_links(items: toft.Realm) -> None:
    results = items.objects(Item)
    assert results.lists("id", "maker.country", "maker", "next", "shop.city", "address.number") == {
        "id": [1, 2],
        "maker.country": ["DE", None],
        "maker": ["Acme", None],
        "next": [None, 1],
        "shop.city": ["Ulm", None],
        "address.number": [5, None],
    }
    [key, nothing] = results.lists("shop")["shop"]
    assert nothing is None
    assert items.object(Shop, key).city == "Ulm"
    numpy = pytest.importorskip("numpy")
    columns = results.columns(Item.maker.country, "next.next", "next.price")
    assert [*columns] == ["maker.country", "next.next", "next.price"]
    assert numpy.ma.getmaskarray(columns["next.next"]).all()
    assert columns["next.price"].tolist() == [None, Decimal("1.50")]
    pytest.importorskip("pandas")
    frame = results.to_pandas("maker.name", "next.at", "next.count")
    assert frame["next.at"][1] == NOON and frame["next.count"][1] == 2**62 + 1
    assert frame["next.count"].isna().tolist() == [True, False]
    polars = pytest.importorskip("polars")
    assert results.to_polars("next.day", "next").rows() == [(None, None), (date(2024, 2, 29), 1)]
    assert results.to_polars("maker")["maker"].dtype == polars.String


def test_paths_that_are_no_columns_are_refused(items: toft.Realm) -> None:
    results = items.objects(Item)
    for error, path in (
        (toft.NoSuchPropertyError, "maker.nmae"),
        (toft.NoSuchPropertyError, "title.x"),
        (toft.TypeMismatchError, "makers.name"),
        (toft.TypeMismatchError, "labels"),
        (toft.TypeMismatchError, Item.scores["x"]),
        (toft.TypeMismatchError, "next.anything"),
    ):
        for read in (results.lists, results.columns, results.to_pandas, results.to_polars):
            with pytest.raises(error):
                read(path)
    for path in ("maker.nmae", "makers.name", "title.x"):
        with pytest.raises((toft.NoSuchPropertyError, toft.TypeMismatchError)):
            pyarrow.table(results.to_arrow(path))


def test_random_links_give_what_the_objects_say(path: Path) -> None:
    seed = random.randrange(1 << 32)
    chosen = random.Random(seed)
    with toft.open(path, CLASSES) as realm:
        with realm.write():
            realm.insert_many(Item, [{"id": n, "colour": str(n % 7)} for n in range(3_000)])
            every = list(realm.objects(Item))
            for each in every:
                each.next = chosen.choice([None, *chosen.sample(every, 3)])
            for each in chosen.sample(every, 500):
                realm.delete(each)
        results = realm.objects(Item).sort("colour", "-id")
        expected = [
            (e.id, e.next and e.next.id, e.next and e.next.next and e.next.next.colour)
            for e in results
        ]
        paths = "id", "next", "next.next.colour"
        assert [*zip(*results.lists(*paths).values())] == expected, seed
        table = pyarrow.table(results.to_arrow(*paths))
        assert [*zip(*table.to_pydict().values())] == expected, seed
        assert realm.check()
