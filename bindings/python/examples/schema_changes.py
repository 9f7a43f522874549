"""Possible changes of a class from one version of a program to the next: schema_changes.py DATABASE

New classes, properties and indexes are added to the file. Undeclared properties stay there: version
3 finds the years that version 2 did not declare. A property's type can't change: give the new one
another name and copy the values.

Prints:
1: {'title': 'Emma', 'year': '1815'}
2: {'title': 'Emma', 'pages': 0, 'author': None}
3: {'title': 'Emma', 'year': '1815', 'published': 1815}
refused: property 'Book.year' is string in the file and int in the declared schema
"""

from __future__ import annotations

import sys

import toft


def first(path: str) -> None:
    class Book(toft.Object):
        title: str = toft.field(primary_key=True)
        year: str

    with toft.open(path, Book) as realm, realm.write():
        print("1:", realm.create(Book, title="Emma", year="1815").to_dict())


def second(path: str) -> None:
    class Author(toft.Object):
        name: str

    class Book(toft.Object):  # without year, with two properties and an index more
        title: str = toft.field(primary_key=True)
        pages: int = toft.field(indexed=True)
        author: Author | None

    with toft.open(path, [Book, Author]) as realm:
        print("2:", realm.objects(Book)[0].to_dict())


def third(path: str) -> None:
    class Book(toft.Object):
        title: str = toft.field(primary_key=True)
        year: str
        published: int | None

    with toft.open(path, Book) as realm:
        with realm.write():
            for book in realm.objects(Book).where("published == null AND year != ''"):
                book.published = int(book.year)
        print("3:", realm.objects(Book)[0].to_dict())


def wrong(path: str) -> None:
    class Book(toft.Object):
        title: str = toft.field(primary_key=True)
        year: int

    try:
        toft.open(path, Book)
    except toft.SchemaMismatchError as error:
        print("refused:", error.detail)


def main(path: str) -> None:
    for version in (first, second, third, wrong):
        version(path)


if __name__ == "__main__":
    main(sys.argv[1])
