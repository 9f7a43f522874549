"""A DataFrame of pandas in, one out, with nothing lost on the way: frames.py DATABASE

Prints:
3 rows are in
Int64 datetime64[us, UTC]
[4611686018427387905, <NA>, 3]
True
"""

from __future__ import annotations

import sys
from datetime import datetime

import pandas
import toft


class Reading(toft.Object):
    station: str
    at: datetime
    count: int | None
    level: float | None


def main(path: str) -> None:
    frame = pandas.DataFrame(
        {
            "station": ["a", "a", "b"],
            "at": pandas.date_range("2024-02-29 12:00", periods=3, freq="h", tz="UTC"),
            "count": pandas.array([2**62 + 1, None, 3], dtype="Int64"),  # no float holds it
            "level": [0.5, None, 1.5],
        }
    )
    with toft.open(path, Reading) as realm:
        with realm.write():
            print(realm.insert_many(Reading, frame), "rows are in")
        out = realm.objects(Reading).to_pandas()
        print(out["count"].dtype, out["at"].dtype)
        print(out["count"].tolist())
        print(bool((out["at"] == frame["at"]).all()))


if __name__ == "__main__":
    main(sys.argv[1])
