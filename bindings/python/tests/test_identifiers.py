"""UUIDs and object ids as primary keys, properties and elements."""

from __future__ import annotations

import copy
import json
import os
import pickle
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
import toft

LEAST, GREATEST = UUID(int=0), UUID(int=2**128 - 1)


class Parcel(toft.Object):
    id: toft.ObjectId = toft.field(primary_key=True, default_factory=toft.ObjectId)
    code: UUID = toft.field(indexed=True, default_factory=uuid4)
    batch: toft.ObjectId | None = toft.field(indexed=True)
    receipt: UUID | None
    stops: list[UUID]
    scans: list[toft.ObjectId | None]


@pytest.fixture
def realm(path: Path) -> Any:
    with toft.open(path, [Parcel]) as realm:
        yield realm


def test_both_are_written_and_read_alone_optional_and_in_lists(
    realm: toft.Realm, path: Path
) -> None:
    batch, stop = toft.ObjectId(), uuid4()
    with realm.write():
        parcel = realm.create(Parcel, batch=batch, stops=[LEAST, stop], scans=[batch, None])
        code, key = parcel.code, parcel.id
        assert parcel.receipt is None
        parcel.receipt = GREATEST
        parcel.batch = None
        parcel.stops.append(code)
    with toft.open(path, [Parcel]) as again:
        found = again.object(Parcel, key)
        assert found is not None
        assert (found.id, found.code, found.receipt) == (key, code, GREATEST)
        assert found.batch is None
        assert list(found.stops) == [LEAST, stop, code]
        assert list(found.scans) == [batch, None]
        assert again.object(Parcel, toft.ObjectId()) is None


def test_queries_compare_order_and_list_them(realm: toft.Realm) -> None:
    with realm.write():
        for number in range(300):
            realm.create(Parcel, receipt=None if number % 3 == 0 else uuid4(), stops=[LEAST])
    parcels = list(realm.objects(Parcel))
    one = parcels[17]
    everything = realm.objects(Parcel)
    assert [each.id for each in everything.where(Parcel.code == one.code)] == [one.id]
    assert [each.id for each in everything.where("code == $0", one.code)] == [one.id]
    assert everything.where(f"code == uuid({one.code})").count() == 1
    assert everything.where(f"id == oid({one.id})").count() == 1
    assert everything.where(Parcel.id < one.id).count() == sum(e.id < one.id for e in parcels)
    assert everything.where(Parcel.code >= one.code).count() == sum(
        each.code.bytes >= one.code.bytes for each in parcels
    )
    assert everything.where("code IN $0", [one.code, parcels[3].code, uuid4()]).count() == 2
    assert everything.where("ANY stops == $0", LEAST).count() == 300
    assert everything.where("receipt == NULL").count() == 100
    assert [each.id for each in everything.sort(Parcel.id)] == sorted(each.id for each in parcels)
    for wrong in ("code == 'x'", "id == 3", "code CONTAINS 'x'"):
        with pytest.raises(toft.QueryError):
            everything.where(wrong).count()
    with pytest.raises(toft.QueryError):
        everything.where("code == $0", str(one.code)).count()


def test_columns_dictionaries_and_json_hold_them(realm: toft.Realm) -> None:
    with realm.write():
        rows = [realm.create(Parcel, receipt=None if n else GREATEST) for n in range(3)]
    columns = realm.objects(Parcel).columns("id", "code", "receipt", "batch")
    assert list(columns["id"]) == [each.id for each in rows]
    assert list(columns["code"]) == [each.code for each in rows]
    assert columns["receipt"].tolist() == [GREATEST, None, None]
    assert columns["batch"].tolist() == [None] * 3
    assert rows[0].to_dict()["code"] == rows[0].code
    text = rows[0].to_json()
    assert json.loads(text)["code"] == str(rows[0].code)
    assert json.loads(text)["id"] == str(rows[0].id)
    with realm.write():
        realm.delete(rows[0])
        (made,) = realm.from_json(Parcel, text)
    assert (str(made.id), made.receipt) == (json.loads(text)["id"], GREATEST)
    with realm.write(), pytest.raises(toft.TypeMismatchError, match="code"):
        realm.from_json(Parcel, json.dumps({"code": "not one"}))


def test_a_value_of_another_type_is_refused(realm: toft.Realm) -> None:
    with realm.write():
        parcel = realm.create(Parcel)
        for wrong in ("x", 3, b"0123456789abcdef", toft.ObjectId()):
            with pytest.raises(toft.TypeMismatchError):
                parcel.code = wrong  # type: ignore[assignment]
        for wrong in ("x", 3, b"0123456789ab", uuid4()):
            with pytest.raises(toft.TypeMismatchError):
                parcel.batch = wrong  # type: ignore[assignment]


def test_an_object_id_is_made_of_digits_or_bytes_and_tells_its_time() -> None:
    known = toft.ObjectId("0123456789abcDEF00112233")
    assert str(known) == "0123456789abcdef00112233"
    assert known == toft.ObjectId(known.binary) == toft.ObjectId(known)
    assert repr(known) == "ObjectId('0123456789abcdef00112233')"
    assert known != "0123456789abcdef00112233"
    for wrong in ("", "0" * 23, "0" * 25, "g" + "0" * 23, "00 " * 8, b"", bytes(11), bytes(13)):
        with pytest.raises(ValueError, match="12 bytes|24 hexadecimal"):
            toft.ObjectId(wrong)
    with pytest.raises(TypeError):
        toft.ObjectId(3)  # type: ignore[arg-type]
    made = [toft.ObjectId() for _ in range(10_000)]
    assert len(set(made)) == 10_000
    assert abs(made[0].timestamp - datetime.now(timezone.utc)) < timedelta(minutes=1)
    assert pickle.loads(pickle.dumps(known)) == copy.deepcopy(known) == known
    assert toft.ObjectId(bytes(12)) < known < toft.ObjectId(b"\xff" * 12)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_makes_other_object_ids() -> None:
    parent = toft.ObjectId()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, toft.ObjectId().binary)
        os._exit(0)
    os.waitpid(child, 0)
    assert toft.ObjectId(os.read(reading, 12)).binary[4:9] != parent.binary[4:9]
    os.close(reading)
    os.close(writing)
