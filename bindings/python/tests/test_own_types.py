"""Types of the program's own, stored as another type."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import pytest
import toft


@dataclass(frozen=True, order=True)
class Money:
    cents: int

    @staticmethod
    def cents_of(money: Money) -> int:
        return money.cents

    @staticmethod
    def of_cents(cents: int) -> Money:
        if cents < 0:
            raise ValueError("no debts")
        return Money(cents)


class Email(str):
    """A text that is checked."""


def _email(text: str) -> Email:
    if "@" not in text:
        raise ValueError("no @")
    return Email(text)


def _length(seconds: float) -> timedelta:
    return timedelta(seconds=seconds)


def _never(value: Any) -> Any:
    raise KeyError(value)


Price = Annotated[Money, toft.StoredAs(int, Money.cents_of, Money.of_cents)]
Length = Annotated[timedelta, toft.StoredAs(float, timedelta.total_seconds, _length)]
Address = Annotated[Email, toft.StoredAs(str, str, _email)]
Moment = Annotated[
    float,
    toft.StoredAs(
        datetime,
        lambda seconds: datetime.fromtimestamp(seconds, timezone.utc),
        lambda date: date.timestamp(),
        zero=1.0,
    ),
]


class Film(toft.Object):
    id: Price = toft.field(primary_key=True)
    title: str
    price: Price
    length: Length = timedelta(minutes=90)
    maybe: Length | None
    contact: Address | None
    prices: list[Price]
    lengths: set[Length]
    named: dict[str, Price]
    gaps: list[Length | None]
    seen: Moment
    next: Film | None


class Letter(toft.Object):
    sender: Address


GIVEN: dict[str, Any] = {
    "price": Money(5),
    "length": timedelta(hours=2),
    "maybe": timedelta(milliseconds=1500),
    "contact": Email("a@b"),
    "prices": [Money(3), Money(1), Money(3)],
    "lengths": {timedelta(seconds=1), timedelta(0)},
    "named": {"a": Money(9)},
    "gaps": [None, timedelta(1)],
    "seen": 2.5,
}


@pytest.fixture
def films(path: Path) -> Any:
    with toft.open(path, [Film, Letter]) as realm:
        yield realm
        assert not realm.check().problems


def test_values_come_back_as_they_were_put_and_are_stored_as_said(
    films: toft.Realm, path: Path
) -> None:
    with films.write():
        films.create(Film, id=Money(1), title="created", **GIVEN)
        films.add(Film(id=Money(2), title="added", **GIVEN))
        films.insert_many(Film, [{"id": Money(3), "title": "inserted", **GIVEN}])
    for film in [*films.objects(Film), films.object(Film, Money(2)), films.objects(Film)[2]]:
        assert film is not None
        assert {name: getattr(film, name) for name in GIVEN} == GIVEN
        assert type(film.price) is Money and type(film.contact) is Email
        assert Money(1) in film.prices and timedelta(0) in film.lengths
        assert film.prices.index(Money(1)) == 1 and film.named["a"] == Money(9)
    assert films.objects(Film).lists("price")["price"] == [Money(5)] * 3
    assert films.objects(Film).max(Film.length) == timedelta(hours=2)
    assert films.objects(Film).sum("price") == 15
    with toft.open(path) as plain:
        stored = plain.objects("Film")[0]
        assert (stored.price, stored.length, stored.maybe) == (5, 7200.0, 1.5)
        assert stored.contact == "a@b" and list(stored.gaps) == [None, 86400.0]


def test_collections_are_edited_and_objects_updated_with_them(films: toft.Realm) -> None:
    with films.write():
        film = films.create(Film, id=Money(1), title="x", **GIVEN)
        film.prices.append(Money(4))
        film.prices[0] = Money(2)
        film.lengths.add(timedelta(9))
        film.lengths.discard(timedelta(0))
        film.named["b"] = Money(1)
        film.maybe = None
        assert films.objects(Film).update(length=timedelta(5)) == 1
    assert list(film.prices) == [Money(2), Money(1), Money(3), Money(4)]
    assert set(film.lengths) == {timedelta(seconds=1), timedelta(9)}
    assert dict(film.named) == {"a": Money(9), "b": Money(1)}
    assert film.maybe is None and film.length == timedelta(5)


def test_what_is_not_given_is_read_of_the_stored_zero(films: toft.Realm) -> None:
    with films.write():
        film = films.create(Film, id=Money(1), title="x")
    assert (film.price, film.length, film.maybe) == (Money(0), timedelta(minutes=90), None)
    assert film.seen == 1.0 and Film(id=Money(2), title="y").price == Money(0)
    with pytest.raises(TypeError, match="sender"):
        Letter()
    with films.write(), pytest.raises(toft.NullNotAllowedError, match="Letter.sender"):
        films.create(Letter)
    names = {each.name: each.type for each in toft.fields(Film)}
    assert names["price"] is Money and names["lengths"] is timedelta


def test_expressions_are_asked_with_them(films: toft.Realm) -> None:
    with films.write():
        for cents in range(5):
            films.create(
                Film,
                id=Money(cents),
                title=str(cents),
                length=timedelta(hours=cents),
                maybe=None if cents == 1 else timedelta(cents),
                prices=[Money(cents), Money(9)],
                named={"k": Money(cents)},
                contact=Email(f"{cents}@x"),
            )

    def found(condition: toft.Condition) -> str:
        return "".join(film.title for film in films.objects(Film).where(condition))

    assert found(Film.length > timedelta(hours=2)) == "34"
    assert found(Film.id == Money(3)) == "3" and found(Film.id != Money(3)) == "0124"
    assert found(Film.length.in_([timedelta(0), timedelta(hours=4)])) == "04"
    assert found(Film.length.between(timedelta(hours=1), timedelta(hours=2))) == "12"
    assert found(Film.maybe == None) == "1"  # noqa: E711
    assert found(Film.maybe == Film.maybe) == "01234"
    assert found(Film.prices.contains(Money(2))) == "2"
    assert found(Film.prices.any() < Money(1)) == "0"
    assert found(Film.prices.any() == Money(4)) == "4"
    assert found(Film.named["k"] >= Money(4)) == "4" and found(Film.named.contains("k")) == "01234"
    assert found(Film.prices.length() == 2) == "01234"
    assert found(Film.contact.startswith("3@")) == "3"
    assert [f.title for f in films.objects(Film).where("length > $0", 7200.0).sort("-id")] == [
        "4",
        "3",
    ]
    with pytest.raises(toft.TypeMismatchError, match="Film.length: 3 is no timedelta"):
        found(Film.length > 3)  # type: ignore[operator]
    assert films.objects(Film).group_by(Film.length).count()[timedelta(hours=1)] == 1


def test_what_a_converter_refuses_is_told_with_property_and_value(path: Path) -> None:
    class Odd(toft.Object):
        name: str
        secret: Annotated[Money, toft.StoredAs(int, _never, Money.of_cents)] | None
        price: Price

    with toft.open(path, [Odd]) as realm:
        with realm.write():
            with pytest.raises(
                toft.TypeMismatchError, match=r"Odd.secret: Money.*KeyError"
            ) as told:
                realm.create(Odd, name="x", secret=Money(1))
            assert isinstance(told.value.__cause__, KeyError)
            with pytest.raises(toft.TypeMismatchError, match=r"Odd.price: 'much' is no Money"):
                realm.create(Odd, name="x", price="much")
            odd = realm.create(Odd, name="x", price=Money(2))
            with pytest.raises(toft.TypeMismatchError, match="Odd.price"):
                odd.price = 3  # type: ignore[assignment]
            with pytest.raises(toft.NullNotAllowedError, match="price"):
                odd.price = None  # type: ignore[assignment]
        assert len(realm.objects(Odd)) == 1
        with toft.open(path) as plain, plain.write():
            plain.objects("Odd")[0].price = -1
        realm.refresh()
        with pytest.raises(toft.TypeMismatchError, match=r"Odd.price: the file holds -1.*no debts"):
            print(odd.price)


def test_json_has_what_is_stored(films: toft.Realm, tmp_path: Path) -> None:
    with films.write():
        two = films.create(Film, id=Money(2), title="two")
        film = films.create(Film, id=Money(1), title="one", next=two, **GIVEN)
    assert film.to_dict()["length"] == timedelta(hours=2)
    text = film.to_json()
    assert '"length": 7200.0' in text and '"next": 2' in text
    with toft.open(tmp_path / "copy.toft", [Film, Letter]) as copied, copied.write():
        [first] = copied.from_json(Film, two.to_json())
        [second] = copied.from_json(Film, text)
        assert second.to_dict() == film.to_dict() and second.next == first
        with pytest.raises(toft.TypeMismatchError, match="no @"):
            copied.from_json(Letter, '{"sender": "nobody"}')
    assert films.objects(Film).to_json() == f"[{two.to_json()}, {text}]"


def test_only_what_the_file_can_hold_is_stored_as(path: Path) -> None:
    class Wrong(toft.Object):
        a: Annotated[Money, toft.StoredAs(list, _never, _never)]
        b: Annotated[Money, toft.StoredAs(Film, _never, _never)]

    with pytest.raises(toft.InvalidSchemaError) as told:
        toft.open(path, [Wrong, Film])
    assert "Wrong.a" in told.value.detail and "Wrong.b: StoredAs takes" in told.value.detail


def test_every_type_of_the_file_can_stand_for_one(path: Path) -> None:
    class Each(toft.Object):
        a: Annotated[str, toft.StoredAs(bytes, str.encode, bytes.decode)]
        b: Annotated[str, toft.StoredAs(UUID, UUID, str)]
        c: Annotated[int, toft.StoredAs(toft.Float32, float, int)]
        d: Annotated[str, toft.StoredAs(bool, bool, str)]

    with toft.open(path, [Each]) as realm:
        with realm.write():
            made = realm.create(Each, a="é", b=str(UUID(int=7)), c=3, d="x")
        assert (made.a, made.b, made.c, made.d) == ("é", str(UUID(int=7)), 3, "True")
