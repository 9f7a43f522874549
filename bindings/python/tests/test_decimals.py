"""Decimals: what is stored, compared and computed, next to Python's decimal module."""

from __future__ import annotations

import decimal
import json
import random
import struct
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import toft

#: The library's arithmetic, as Python's decimal module has it.
CONTEXT = decimal.Context(
    prec=34, Emin=-6143, Emax=6144, clamp=1, rounding=decimal.ROUND_HALF_EVEN, traps=[]
)
SPELLED = (
    "0 -0 0.00 0E+3 0E-6176 1 1.0 1.00 -1.50 1E+3 0.1 1E-6176 9.99E+100 NaN Infinity -Infinity "
    "9999999999999999999999999999999999 9.999999999999999999999999999999999E+6144 "
    "1.000000000000000000000000000000000E-6143 123456789012345678901234567890.1234"
).split()


class Item(toft.Object):
    price: Decimal
    discount: Decimal | None
    count: int
    weight: float
    prices: list[Decimal]


@pytest.fixture
def realm(path: Path) -> Any:
    with toft.open(path, [Item]) as realm:
        yield realm


@pytest.fixture
def numbers() -> random.Random:
    seed = random.randrange(2**32)
    print("seed", seed)
    return random.Random(seed)


def drawn(numbers: random.Random) -> Decimal:
    """A number of the format: few or many digits, near the limits, or one of `SPELLED`."""
    if numbers.random() < 0.1:
        return Decimal(numbers.choice(SPELLED))
    digits = "".join(
        numbers.choice(numbers.choice(("0123456789", "09", "05", "5")))
        for _ in range(numbers.choice((1, 2, 3, 17, 33, 34, 35, 36, 50)))
    )
    exponent = numbers.choice(
        (0, 0, -2, -len(digits), numbers.randint(-40, 40), numbers.randint(-6200, 6111))
    )
    number = CONTEXT.create_decimal(f"{numbers.choice(('', '-'))}{digits}E{exponent}")
    return Decimal("0E-6176") if number.is_nan() else number


def rank(number: Any) -> tuple[int, Any]:
    """A key of sorting: NaN comes before the numbers, whose exact values are compared."""
    return (0, 0) if number != number else (1, number)


def same(one: Any, other: Any) -> bool:
    """Whether both are spelled alike."""
    return str(one) == str(other)


def test_every_number_keeps_its_digits(realm: toft.Realm, numbers: random.Random) -> None:
    given = [*map(Decimal, SPELLED), *(drawn(numbers) for _ in range(3000))]
    with realm.write():
        realm.insert_many(Item, {"price": given, "discount": [None, *given[1:]]})
    items = realm.objects(Item)
    assert [str(each.price) for each in items] == [*map(str, given)]
    assert [str(each) for each in items.columns("price")["price"]] == [*map(str, given)]
    assert items[0].discount is None
    with realm.write():
        items[0].prices = given[:300]
        items[0].prices.append(Decimal("2.50"))
    assert [*map(str, items[0].prices)] == [*map(str, given[:300]), "2.50"]


def test_a_decimal_that_is_added_to_old_objects_is_zero_in_them(path: Path) -> None:
    older = type("Ticket", (toft.Object,), {"__annotations__": {"count": int}})
    newer = type("Ticket", (toft.Object,), {"__annotations__": {"count": int, "price": Decimal}})
    with toft.open(path, [older]) as realm, realm.write():
        realm.create(older, count=1)
    with toft.open(path, [newer]) as realm:
        tickets = realm.objects(newer)
        assert [str(each.price) for each in tickets] == ["0"]
        assert same(tickets.columns("price")["price"][0], "0")
        assert tickets.where("price == 0").count() == 1 and same(tickets.sum("price"), "0")


def test_more_digits_are_rounded_half_to_even_and_other_nans_are_one(realm: toft.Realm) -> None:
    with realm.write():
        item = realm.create(Item)
        assert same(item.price, "0") and item.discount is None
        for given, stored in (
            ("1" * 34 + "5", "1.111111111111111111111111111111112E+34"),
            ("1" * 33 + "25", "1.111111111111111111111111111111112E+34"),
            ("2" * 34 + "5", "2.222222222222222222222222222222222E+34"),
            ("9" * 35, "1.000000000000000000000000000000000E+35"),
            ("5.1E-6177", "1E-6176"),
            ("1E+6144", "1.000000000000000000000000000000000E+6144"),
            ("0E+7000", "0E+6111"),
            ("-sNaN12", "NaN"),
        ):
            item.price = Decimal(given)
            assert same(item.price, stored), given
        item.price = 7  # type: ignore[assignment]
        assert same(item.price, "7")
        item.price = 10**34 + 5  # type: ignore[assignment]
        assert same(item.price, "1.000000000000000000000000000000000E+34")


def test_what_would_become_infinite_or_0_is_refused(realm: toft.Realm) -> None:
    with realm.write():
        item = realm.create(Item, price=Decimal("1.5"))
        for text in ("5E-6177", "1E-999999", "1E+6145", "-1E+6145", "9.9E+999999"):
            with pytest.raises(toft.InvalidArgumentError, match="range of a decimal"):
                item.price = Decimal(text)
            with pytest.raises(toft.InvalidArgumentError, match="range of a decimal"):
                realm.insert_many(Item, [{"price": Decimal(text)}])
        assert same(item.price, "1.5") and len(realm.objects(Item)) == 1
        for text in ("Infinity", "-Infinity", "0E-999999"):
            item.price = Decimal(text)
            assert item.price == Decimal(text)


@pytest.mark.parametrize("spelled", ["1E+6145", "-1E+6145", "5E-6177", "-1E-7000"])
def test_queries_lists_and_json_refuse_what_is_beyond_the_range(
    realm: toft.Realm, spelled: str
) -> None:
    number = Decimal(spelled)
    with realm.write():
        item = realm.create(Item, price=Decimal("1.50"), prices=[Decimal(1)])
        for attempt in (
            lambda: item.prices.append(number),
            lambda: realm.create(Item, price=number),
            lambda: realm.objects(Item).where("price == $0", number).count(),
            lambda: item.prices.index(number),
            lambda: realm.from_json(Item, f'{{"price": "{spelled}"}}'),
        ):
            with pytest.raises((toft.Error, ValueError)):
                attempt()
        assert same(item.price, "1.50") and [*map(str, item.prices)] == ["1"]
    for text in (spelled, f"'{spelled}'", f"decimal({spelled})"):
        with pytest.raises(toft.QueryError):
            realm.objects(Item).where(f"price == {text}")


def test_queries_sorts_and_groups_compare_by_value(
    realm: toft.Realm, numbers: random.Random
) -> None:
    def weight(price: Decimal) -> float:
        kind = numbers.randrange(4)
        if kind == 0:
            return struct.unpack("<d", numbers.randbytes(8))[0]  # type: ignore[no-any-return]
        return float(price) if kind == 1 else numbers.randint(-9, 9) / 2 ** numbers.randrange(60)

    prices = [drawn(numbers) for _ in range(1000)]
    prices += [numbers.choice(prices).next_plus(CONTEXT) for _ in range(200)]
    prices += [Decimal(numbers.randint(-30, 30)) / 10 for _ in range(300)]
    weights = [weight(price) for price in prices]
    counts = [numbers.randint(-3, 3) for _ in prices]
    with realm.write():
        realm.insert_many(Item, {"price": prices, "weight": weights, "count": counts})
    items = realm.objects(Item)

    def holds(operator: str, one: Any, other: Any) -> bool:
        left, right = rank(one), rank(other)
        if operator in ("==", "<=", ">=") and left == right:
            return True
        if operator == "!=":
            return left != right
        if left[0] == 0 or right[0] == 0:
            return False
        return left < right if operator in ("<", "<=") else operator != "==" and left > right

    bounds: list[Any] = [numbers.choice(prices) for _ in range(60)]
    bounds += [0, 1, -3, 2**63 - 1, 0.1, 1.0, -2.5, float("inf"), numbers.choice(weights)]
    for bound in bounds:
        for operator in ("==", "!=", "<", "<=", ">", ">="):
            exact = Decimal(bound)
            for name, column in (("price", prices), ("weight", weights), ("count", counts)):
                if name == "count" and exact.is_infinite():
                    continue
                found = items.where(f"{name} {operator} $0", bound).count()
                expected = sum(holds(operator, Decimal(each), exact) for each in column)
                assert found == expected, (name, operator, bound)
    for operator in ("==", "!=", "<", "<=", ">", ">="):
        for name, column in (("weight", weights), ("count", counts)):
            expected = sum(
                holds(operator, one, Decimal(other)) for one, other in zip(prices, column)
            )
            assert items.where(f"price {operator} {name}").count() == expected, (operator, name)
    among = [numbers.choice(prices), 1, 0.5, None, Decimal("NaN")]
    keys = {rank(Decimal(each)) for each in among if each is not None}
    assert items.where("price IN $0", among).count() == sum(rank(each) in keys for each in prices)
    low, high = Decimal("-1.5"), Decimal("2.00")
    assert items.where("price BETWEEN {-1.50, 2}").count() == sum(
        low <= each <= high for each in prices if not each.is_nan()
    )
    assert [*map(str, (each.price for each in items.sort(Item.price)))] == [
        *map(str, sorted(prices, key=rank))
    ]
    firsts: dict[Any, Decimal] = {}
    for price in prices:
        firsts.setdefault(rank(price), price)
    assert [str(each.price) for each in items.distinct("price")] == [*map(str, firsts.values())]


def test_literals_are_decimals_beside_decimals(realm: toft.Realm) -> None:
    with realm.write():
        for text in ("0.1", "0.10", "0.3", "12345678901234567890.5", "1E+400", "NaN"):
            realm.create(Item, price=Decimal(text), weight=0.1)
    items = realm.objects(Item)
    for query, count in (
        ("price == 0.1", 2),
        ("price == weight", 0),
        ("price == 0.1 + 0.2", 1),
        ("price * 3 == 0.3", 2),
        ("price == 12345678901234567890.5", 1),
        ("price > 12345678901234567890", 2),
        ("price == 1e400", 1),
        ("price == nan", 1),
        ("price == '0.1'", 2),
        ("price < inf", 5),
        ("price == null", 0),
        ("discount == null", 6),
        ("price / 0 == null", 6),
    ):
        assert items.where(query).count() == count, query
    assert items.where("price == $0", 0.1).count() == 0, "the double 0.1 is not 0.1"
    assert items.where("price == $0", Decimal("0.100")).count() == 2


def test_arithmetic_of_queries_is_that_of_python(realm: toft.Realm, numbers: random.Random) -> None:
    computations = {
        "+": CONTEXT.add,
        "-": CONTEXT.subtract,
        "*": CONTEXT.multiply,
        "/": CONTEXT.divide,
    }
    pairs = [(drawn(numbers), drawn(numbers)) for _ in range(1500)]
    pairs += [(one, one.next_minus(CONTEXT)) for one, _ in pairs[:300] if not one.is_nan()]
    for operator, compute in computations.items():
        results = [
            None if operator == "/" and other == 0 else compute(one, other) for one, other in pairs
        ]
        with realm.write():
            realm.objects(Item).delete()
            realm.insert_many(
                Item,
                {
                    "price": [one for one, _ in pairs],
                    "discount": [other for _, other in pairs],
                    "prices": [[] if each is None else [each] for each in results],
                },
            )
        items = realm.objects(Item)
        wrong = items.where(f"NOT price {operator} discount == prices[0] AND prices.@count == 1")
        assert [(each.price, each.discount, [*each.prices]) for each in wrong] == [], operator
        nulls = items.where(f"price {operator} discount == null")
        assert nulls.count() == results.count(None)


def test_aggregates_are_those_of_python(realm: toft.Realm, numbers: random.Random) -> None:
    for size in (0, 1, 2, 700):
        prices = [drawn(numbers) for _ in range(size)]
        if size == 700:
            prices = [each for each in prices if not each.is_infinite()]
        with realm.write():
            realm.objects(Item).delete()
            realm.insert_many(Item, {"price": prices, "count": [1] * len(prices)})
            realm.create(Item, prices=prices, count=2)
        rows = realm.objects(Item).where("count == 1")
        known = [each for each in prices if not each.is_nan()]
        total = Decimal(0)
        for each in known:
            total = CONTEXT.add(total, each)
        mean = CONTEXT.divide(total, Decimal(len(known))) if known else None
        assert same(rows.sum("price"), total)
        assert same(rows.average("price"), mean)
        assert rows.min("price") == min(known, default=None)
        assert rows.max("price") == max(known, default=None)
        if not total.is_nan():
            one = realm.objects(Item).where("count == 2")
            assert one.where("prices.@sum == $0", total).count() == 1
            if known:
                assert one.where("prices.@avg == $0", mean).count() == 1
                extremes = min(known), max(known)
                assert one.where("prices.@min == $0 && prices.@max == $1", *extremes).count() == 1
    with realm.write():
        realm.create(Item, price=Decimal("1.50"), count=7)
        realm.create(Item, price=Decimal("2.50"), count=7)
    groups = realm.objects(Item).where("count == 7").group_by("count")
    assert same(groups.sum("price")[7], "4.00") and same(groups.average("price")[7], "2.00")
    assert same(groups.max("price")[7], "2.50")


def test_bytes_that_are_no_canonical_number_are_read_as_the_standard_says() -> None:
    from toft import decimals

    for bits, text in (
        ((6176 << 113) | 10**34, "0"),
        (((6176 - 2) << 113) | (10**34 - 1), "99999999999999999999999999999999.99"),
        ((0b11 << 125) | (6174 << 111), "0.00"),
        ((0b11111 << 122) | 7, "NaN"),
        ((0b11110 << 122) | 7, "Infinity"),
    ):
        assert str(decimals.decode(bits.to_bytes(16, "little"))) == text
    for text in SPELLED:
        assert str(decimals.decode(decimals.encode(Decimal(text)))) == text


def test_what_is_no_decimal_is_refused(realm: toft.Realm) -> None:
    with realm.write():
        item = realm.create(Item, price=Decimal("1.50"))
        for wrong in ("1.5", 1.5, b"1", [Decimal(1)]):
            with pytest.raises(toft.TypeMismatchError):
                item.price = wrong  # type: ignore[assignment]
        with pytest.raises(toft.TypeMismatchError):
            item.count = Decimal(1)  # type: ignore[assignment]
        assert same(item.price, "1.50")
    for query in ("price == 'abc'", "price BEGINSWITH 'a'", "price == true", "price == T1:0"):
        with pytest.raises(toft.QueryError):
            realm.objects(Item).where(query).count()
    for declared in ({"primary_key": True}, {"indexed": True}):
        Wrong = type(
            "Wrong",
            (toft.Object,),
            {"__annotations__": {"price": Decimal}, "price": toft.field(**declared)},
        )
        with pytest.raises(toft.InvalidSchemaError, match="decimal128"):
            toft.open_in_memory([Wrong])


def test_json_has_decimals_as_text(realm: toft.Realm) -> None:
    with realm.write():
        item = realm.create(Item, price=Decimal("1.50"), prices=[Decimal("1E+3")])
        text = item.to_json()
        assert json.loads(text)["price"] == "1.50" and json.loads(text)["prices"] == ["1E+3"]
        (made,) = realm.from_json(Item, text)
        assert same(made.price, "1.50") and same(made.prices[0], "1E+3")
        with pytest.raises(toft.TypeMismatchError, match="price"):
            realm.from_json(Item, json.dumps({"price": "not one"}))
