"""worker.py DATABASE NUMBER:

commits and follows the commits of all until it is killed. See worker.c, which does the same.
"""

from __future__ import annotations

import os
import sys

import toft

WORKERS, KEPT = 3, 20


class Entry(toft.Object):
    id: int = toft.field(primary_key=True)
    text: str
    part: Part | None
    parts: list[Part]


class Part(toft.EmbeddedObject):
    text: str
    inner: Part | None


class Count(toft.Object):
    worker: int = toft.field(primary_key=True)  # -1: all
    commits: int


def commits_of(realm: toft.Realm, worker: int) -> int:
    count = realm.object(Count, worker)
    return count.commits if count else 0


def commit(realm: toft.Realm, worker: int) -> int:
    with realm.write():
        number = commits_of(realm, worker) + 1
        text = f"{worker}/{number}"
        realm.create(
            Entry,
            id=number * WORKERS + worker,
            text=text,
            part=Part(text=text, inner=Part(text=text)),
            parts=[Part(text=text), Part(text=text, inner=Part(text=text))],
        )
        if last := realm.object(Entry, (number - 1) * WORKERS + worker):
            last.part = Part(text="again")  # the old one goes, with the one in it
        if old := realm.object(Entry, (number - KEPT) * WORKERS + worker):
            realm.delete(old)
        realm.upsert(Count, worker=worker, commits=number)
        realm.upsert(Count, worker=-1, commits=commits_of(realm, -1) + 1)
    return number


def main(path: str, worker: int) -> None:
    copy: list[int] = []
    calls = 0
    realm = toft.open(path, [Entry, Part, Count])
    entries = realm.objects(Entry).sort("id")

    def entries_changed(changes: toft.Changes) -> None:
        nonlocal calls
        calls += 1
        if changes.is_initial:
            copy[:] = [each.id for each in entries]
            return
        for index in reversed(changes.deletions):
            del copy[index]
        for index in changes.insertions:
            copy.insert(index, entries[index].id)
        if copy != [each.id for each in entries]:
            print("the copy differs", file=sys.stderr, flush=True)
            os._exit(3)

    observation = entries.observe(entries_changed)
    assert observation is not None
    os.write(1, f"opened {commits_of(realm, worker)} 0\n".encode())
    while True:
        number = commit(realm, worker)
        os.write(1, f"committed {number} {calls}\n".encode())
        realm.dispatch()


main(sys.argv[1], int(sys.argv[2]))
