"""Threads with small stacks: what nests deep works there or is an error, and never ends the
process."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys, threading
import toft


class Thing(toft.Object):
    id: int = toft.field(primary_key=True)
    n: int
    m: toft.Mixed
    kids: "list[Thing]"


def nested(shape, depth):
    if shape == "parentheses":
        return "(" * depth + "n == 1" + ")" * depth
    if shape == "negations":
        return "NOT (" * depth + "n == 1" + ")" * depth
    if shape == "sums":
        return "(" * depth + "n" + " + 1)" * depth + " > 5"
    if shape == "groups":
        return "m MATCHES '" + "(" * depth + "a" + ")" * depth + "'"
    query = f"$k{depth - 1}.n > 0" if depth else "n > 0"
    for index in reversed(range(depth)):
        path = f"$k{index - 1}.kids" if index else "kids"
        query = f"SUBQUERY({path}, $k{index}, {query}).@count > 0"
    return query


def ask(realm, shape, depth):
    if shape not in ("lists", "dictionaries"):
        things = realm.objects(Thing).where(nested(shape, depth))
        assert things.explain() and len(things) < 2
        return
    value = 1
    for _ in range(depth):
        value = {"a": value} if shape == "dictionaries" else [value]
    with realm.write():
        thing = realm.upsert(Thing, id=9, m=value)
    assert thing.to_json()


def work(shape):
    with toft.open_in_memory([Thing], name=f"{shape} {threading.get_ident()}") as realm:
        with realm.write():
            first = realm.create(Thing, id=1, n=1)
            first.kids = [first]
        refused = 0
        for depth in (0, 1, 2, *range(3, 120, 3)):
            try:
                ask(realm, shape, depth)
                assert not refused, f"{shape}: {depth} works, {refused} did not"
            except (toft.QueryError, toft.ValueTooLongError) as error:
                assert depth > 2, f"{shape}, {depth}: {error}"
                refused = depth


failures = []


def run(shape):
    try:
        work(shape)
    except BaseException as error:
        failures.append(f"{shape}: {type(error).__name__} {error}")


threading.stack_size(int(sys.argv[1]))
for shape in ("parentheses", "negations", "sums", "groups", "subqueries", "lists", "dictionaries"):
    thread = threading.Thread(target=run, args=(shape,))
    thread.start()
    thread.join()
print(*failures, sep="\\n")
sys.exit(bool(failures))
"""


@pytest.mark.parametrize("kibibytes", [64, 128])
def test_what_nests_deep_is_an_error_where_the_stack_is_small(kibibytes: int) -> None:
    result = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", PROGRAM, str(kibibytes << 10)],
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout + result.stderr
