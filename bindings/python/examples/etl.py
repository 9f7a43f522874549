"""Loads a table, corrects it, and asks for totals: etl.py DATABASE

Prints:
6 sales are loaded
north 47.50, south 31.00
open: 2, paid: 4
2 more are paid, 1 is corrected: north 47.50, south 41.00
1 old sale is deleted, 5 are left
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator
from datetime import date
from enum import Enum

import toft


class State(Enum):
    OPEN = "open"
    PAID = "paid"


class Sale(toft.Object):
    number: int = toft.field(primary_key=True)
    shop: str = toft.field(indexed=True)
    day: date
    amount: float
    state: State = State.OPEN
    note: str | None


TABLE = """\
number,shop,day,amount,state,note
1,north,2023-12-30,12.50,paid,
2,north,2024-01-02,20.00,paid,by phone
3,south,2024-01-02,8.00,paid,
4,south,2024-01-03,23.00,open,
5,north,2024-01-04,5.00,open,
6,north,2024-01-04,10.00,paid,
"""


def rows(table: str) -> Iterator[dict[str, object]]:
    for row in csv.DictReader(io.StringIO(table)):
        yield {
            **row,
            "number": int(row["number"]),
            "day": date.fromisoformat(row["day"]),
            "amount": float(row["amount"]),
            "note": row["note"] or None,
        }


def totals(realm: toft.Realm) -> str:
    sums = realm.objects(Sale).group_by("shop").sum("amount")
    return ", ".join(f"{shop} {total:.2f}" for shop, total in sorted(sums.items()))


def main(path: str) -> None:
    with toft.open(path, Sale) as realm:
        sales = realm.objects(Sale)
        with realm.write():
            print(realm.insert_many(Sale, rows(TABLE)), "sales are loaded")
        print(totals(realm))
        states = sales.group_by("state").count()
        print(f"open: {states[State.OPEN]}, paid: {states[State.PAID]}")
        with realm.write():
            paid = sales.where("state == $0", State.OPEN).update(state=State.PAID)
            corrected = realm.insert_many(Sale, [{"number": 3, "amount": 18.0}], update="modified")
        print(f"{paid} more are paid, {corrected} is corrected: {totals(realm)}")
        with realm.write():
            old = sales.where("day < $0", date(2024, 1, 1)).delete()
        print(f"{old} old sale is deleted, {len(sales)} are left")


if __name__ == "__main__":
    main(sys.argv[1])
