"""Objects as values: made, matched, copied and sent without a database: values.py DATABASE

Prints:
Card(title='write', done=False) must be given a title
a card called write
the copy has 2 labels, the original 1
{"title": "write", "done": false, "labels": ["today"], "after": null}
a pickled card: Card(title='write', done=False)
in the database: ['think', 'write']
"""

from __future__ import annotations

import copy
import pickle
import sys

import toft


class Card(toft.Object):
    title: str
    done: bool = False
    labels: list[str] = []
    after: Card | None = None


def main(path: str) -> None:
    card = Card(title="write", labels=["today"], after=Card(title="think", done=True))
    try:
        Card()  # type: ignore[call-arg]
    except TypeError:
        print(f"{card!r} must be given a title")
    match card:
        case Card(title=title, done=False):
            print(f"a card called {title}")
    other = copy.deepcopy(card)
    other.labels.append("tomorrow")
    print(f"the copy has {len(other.labels)} labels, the original {len(card.labels)}")
    print(Card(title="write", labels=["today"]).to_json())
    print(f"a pickled card: {pickle.loads(pickle.dumps(card))!r}")
    with toft.open(path, Card) as realm:
        with realm.write():
            realm.add(card)  # and the one that it links to
        print(f"in the database: {[each.title for each in realm.objects(Card).sort('title')]}")


if __name__ == "__main__":
    main(sys.argv[1])
