"""The cells of a notebook, one after the other: notebook.py DATABASE

Prints:
<Results of Person: 3>
['Ada', 'Ben']
Person is declared again: 3 people, ADA, BEN
Class 'Person' has no property 'agee'. Did you mean 'age'?
by position
a table of 3 rows
"""

# %% Open
from __future__ import annotations

import re
import sys

import toft


class Person(toft.Object):
    name: str = toft.field(primary_key=True)
    age: int = 0


realm = toft.open(sys.argv[1], Person)

# %% Put something in
with realm.write():
    realm.insert_many(Person, {"name": ["Ada", "Ben", "Cid"], "age": [36, 52, 7]})
people = realm.objects(Person)
print(people)

# %% Ask
print([each.name for each in people.where("age > 18").sort("name")])


# %% Run the cell with the class again, with a method more
class Person(toft.Object):  # type: ignore[no-redef]  # noqa: F811
    name: str = toft.field(primary_key=True)
    age: int = 0

    def shout(self) -> str:
        return self.name.upper()


with realm.write():
    realm.upsert(Person, name="Ada", age=37)
adults = realm.objects(Person).where("age > 36")
shouted = [each.shout() for each in adults]  # type: ignore[attr-defined]
print(f"Person is declared again: {len(people)} people, {', '.join(shouted)}")

# %% Make mistakes
try:
    people.where("agee > 3")
except toft.QueryError as error:
    print(error.message)
try:
    people["Ada"]  # type: ignore[call-overload]
except TypeError as error:
    found = re.search("by position", str(error))
    print(found[0] if found else error)

# %% Look
html = people.head()._repr_html_()  # what a notebook shows
print(f"a table of {html.count('<tr>') - 1} rows")
