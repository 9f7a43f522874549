"""Dates with nanoseconds, which datetime alone would cut off."""

from __future__ import annotations

import copy
import io
import pickle
from datetime import date, datetime, timedelta, timezone
from pathlib import Path

import pytest
import toft

NOW = datetime(2026, 11, 28, 12, 30, tzinfo=timezone.utc)
FINE = toft.Timestamp.of(NOW, 7)
EAST = timezone(timedelta(hours=3))


class Event(toft.Object):
    id: int = toft.field(primary_key=True)
    at: datetime = toft.field(default=FINE, indexed=True)
    maybe: datetime | None
    any: toft.Mixed
    dates: list[datetime]
    notes: dict[str, toft.Mixed]


def test_they_are_equal_and_in_order_to_the_nanosecond() -> None:
    later = toft.Timestamp.of(NOW, 8)
    assert NOW != FINE and FINE != NOW and FINE == toft.Timestamp.of(NOW, 7)
    assert NOW < FINE < later and later > FINE > NOW and NOW <= FINE <= FINE >= FINE >= NOW
    assert not (FINE < NOW or FINE <= NOW or NOW > FINE or NOW >= FINE)
    assert sorted([later, NOW, FINE]) == [NOW, FINE, later]
    assert len({FINE, NOW, later, FINE.astimezone(EAST)}) == 3
    assert toft.Timestamp.of(NOW, 0) == NOW and hash(toft.Timestamp.of(NOW, 0)) == hash(NOW)
    assert FINE != 5 and FINE != date(2026, 11, 28) and FINE is not None
    with pytest.raises(TypeError):
        _ = FINE < 5
    with pytest.raises(ValueError, match="nanosecond"):
        toft.Timestamp.of(NOW, 1000)


def test_they_keep_their_nanoseconds() -> None:
    for each in (
        FINE.astimezone(EAST),
        FINE + timedelta(hours=1) - timedelta(hours=1),
        timedelta(0) + FINE,
        FINE.replace(tzinfo=timezone.utc),
        copy.copy(FINE),
        copy.deepcopy(FINE),
        pickle.loads(pickle.dumps(FINE)),
    ):
        assert each == FINE and each.nanosecond == 7
    assert FINE.replace(microsecond=1).nanosecond == 0
    assert FINE.replace(nanosecond=9) == toft.Timestamp.of(NOW, 9)
    assert FINE - NOW == timedelta(0) and NOW - FINE == timedelta(0)


def test_they_are_written_with_nine_digits() -> None:
    assert FINE.isoformat() == "2026-11-28T12:30:00.000000007+00:00"
    assert str(FINE.replace(tzinfo=None)) == "2026-11-28 12:30:00.000000007"
    assert FINE.isoformat(timespec="seconds") == NOW.isoformat()
    assert toft.Timestamp.of(NOW, 0).isoformat() == NOW.isoformat()
    assert repr(FINE) == "Timestamp('2026-11-28T12:30:00.000000007+00:00')"


@pytest.mark.parametrize("moment", [FINE, toft.Timestamp.of(NOW.replace(year=1969), 999)])
def test_they_are_read_as_they_were_written_in_every_way(path: Path, moment: datetime) -> None:
    with toft.open(path, [Event]) as realm, realm.write():
        event = realm.create(
            Event, id=1, at=moment, maybe=moment, any=[moment], dates=[moment], notes={"k": moment}
        )
        assert (
            event.at == event.maybe == event.any[0] == event.dates[0] == event.notes["k"] == moment
        )
        assert realm.objects(Event).where(Event.at == moment).count() == 1
        assert realm.objects(Event).where("at == $0", moment.replace(microsecond=0)).count() == 0
        assert realm.objects(Event).lists("at") == {"at": [moment]}
        assert [each.at for each in realm.objects(Event)] == [moment]
        realm.insert_many(Event, [{"id": 2, "at": moment}])
        realm.insert_many(Event, {"id": [3], "at": [moment]})
        realm.objects(Event).update(maybe=moment)
        text = realm.objects(Event).sort("id").to_json()
        lines = io.StringIO()
        realm.objects(Event).write_json_lines(lines)
        for read in (
            lambda: realm.from_json(Event, text),
            lambda: realm.read_json_lines(Event, lines.getvalue().splitlines(keepends=True)),
        ):
            realm.delete_all()
            read()
            assert [each.at for each in realm.objects(Event)] == [moment] * 3
            assert [each.maybe for each in realm.objects(Event)] == [moment] * 3
