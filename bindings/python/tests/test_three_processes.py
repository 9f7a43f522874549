"""Three processes commit to one file, and each follows all of them by its change sets alone."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import toft

COMMITS = 1000


class Account(toft.Object):
    id: int = toft.field(primary_key=True)
    balance: int = 0


class Entry(toft.Object):
    id: int = toft.field(primary_key=True)
    text: str = ""


class Board(toft.Object):
    id: int = toft.field(primary_key=True)
    numbers: set[int]
    scores: dict[str, int]


class Done(toft.Object):
    worker: int = toft.field(primary_key=True)


MODELS = [Account, Entry, Board, Done]


def follow_and_commit(path: str, worker: int, seed: int) -> dict[str, object]:
    """The work of each process."""
    choice = random.Random(seed)
    copy: list[tuple[int, str]] = []
    numbers: list[int] = []
    scores: dict[str, int] = {}
    versions: list[int] = []
    with toft.open(path, MODELS) as realm:
        entries = realm.objects(Entry).sort("id")

        def replay(changes: toft.Changes) -> None:
            versions.append(changes.version)
            if changes.is_initial:
                copy[:] = [(entry.id, entry.text) for entry in entries]
                return
            for index in reversed(changes.deletions):
                del copy[index]
            for index in changes.insertions:
                copy.insert(index, (entries[index].id, entries[index].text))
            for index in changes.modifications_after:
                copy[index] = (entries[index].id, entries[index].text)

        board = realm.object(Board, 1)
        assert board is not None

        def replay_numbers(changes: toft.Changes) -> None:
            if changes.is_initial:
                numbers[:] = board.numbers
            for index in reversed(changes.deletions):
                del numbers[index]
            for index in changes.insertions:
                numbers.insert(index, board.numbers.results[index])

        def replay_scores(changes: toft.Changes) -> None:
            if changes.is_initial:
                scores.update(board.scores)
            for key in changes.deleted_keys:
                del scores[key]
            for key in changes.inserted_keys:
                assert key not in scores
            for key in changes.inserted_keys + changes.modified_keys:
                scores[key] = board.scores[key]

        entries.observe(replay)
        board.numbers.observe(replay_numbers)
        board.scores.observe(replay_scores)
        for commit in range(COMMITS):
            with realm.write():
                source, target = choice.sample(range(10), 2)
                amount = choice.randrange(100)
                giver, taker = realm.object(Account, source), realm.object(Account, target)
                assert giver is not None and taker is not None
                giver.balance -= amount
                taker.balance += amount
                assert realm.objects(Account).sum("balance") == 10_000
                realm.create(Entry, id=commit * 3 + worker, text=f"{worker}/{commit}")
                board.numbers ^= {choice.randrange(50) for _ in range(3)}
                board.scores[f"key {choice.randrange(50)}"] = commit
                board.scores.pop(f"key {choice.randrange(50)}", None)
                mine = realm.object(Entry, choice.randrange(commit + 1) * 3 + worker)
                if mine is not None:
                    if choice.random() < 0.3:
                        realm.delete(mine)
                    else:
                        mine.text += "*"
            realm.dispatch()
        with realm.write():
            realm.create(Done, worker=worker)
        while len(realm.objects(Done)) < 3:
            realm.wait(5)
        while realm.dispatch():
            pass
        realm.refresh()
        final = [(entry.id, entry.text) for entry in entries]
        return {
            "follows": copy == final,
            "follows the set": numbers == list(board.numbers) == sorted(numbers),
            "follows the dictionary": scores == board.scores,
            "forward": versions == sorted(versions),
            "final": [final, sorted(numbers), sorted(scores.items())],
            "sum": realm.objects(Account).sum("balance"),
            "calls": len(versions),
        }


def test_three_processes_commit_and_each_follows_all_by_change_sets(tmp_path: Path) -> None:
    path = str(tmp_path / "shared.toft")
    seed = random.randrange(1 << 32)
    print("seed", seed)
    with toft.open(path, MODELS) as realm:
        with realm.write():
            for account in range(10):
                realm.create(Account, id=account, balance=1000)
            realm.create(Board, id=1)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    workers = [
        subprocess.Popen(
            [sys.executable, __file__, path, str(worker), str(seed + worker)],
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for worker in range(3)
    ]
    outcomes = [json.loads(worker.communicate(timeout=300)[0]) for worker in workers]
    for outcome in outcomes:
        assert outcome["follows"], "the copy that was kept by change sets is what is there"
        assert outcome["follows the set"] and outcome["follows the dictionary"]
        assert outcome["forward"], "versions never go back"
        assert outcome["sum"] == 10_000
        assert outcome["calls"] > 1
    assert outcomes[0]["final"] == outcomes[1]["final"] == outcomes[2]["final"]
    with toft.open(path, MODELS) as realm:
        assert realm.check().problems == ()
        assert len(realm.objects(Done)) == 3


if __name__ == "__main__":
    print(json.dumps(follow_and_commit(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
