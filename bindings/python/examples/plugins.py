"""Parts of a program that know nothing of each other, in one file: plugins.py DATABASE

Prints:
the host sees ['Document']
the plug-in links its comment to report
a tool without classes: Comment has ['text', 'document'], 1 of 1 is on report
the host goes on: 2 documents
"""

from __future__ import annotations

import sys

import toft


class Document(toft.Object):
    name: str = toft.field(primary_key=True)


class Comment(toft.Object):
    """Of a plug-in: it knows the host's class, and the host not the plug-in's."""

    text: str
    document: Document | None


def plug_in(path: str) -> None:
    with toft.open(path, [Document, Comment]) as realm, realm.write():  # adds its class
        report = realm.object(Document, "report")
        assert report is not None
        realm.create(Comment, text="good", document=report)
        print(f"the plug-in links its comment to {report.name}")


def tool(path: str) -> None:
    """Knows no class: it takes those of the file."""
    with toft.open(path, mode="existing") as realm:
        [comment] = realm.objects("Comment")
        names = list(comment.to_dict())
        count = len(realm.objects("Comment").where("document.name == $0", comment.document.name))
        print(f"a tool without classes: Comment has {names}, {count} of 1 is on report")


def main(path: str) -> None:
    with toft.open(path, Document) as realm:
        with realm.write():
            realm.create(Document, name="report")
        print(f"the host sees {list(realm.classes)}")
        plug_in(path)
        tool(path)
        with realm.write():
            realm.create(Document, name="letter")
        print(f"the host goes on: {len(realm.objects(Document))} documents")


if __name__ == "__main__":
    main(sys.argv[1])
