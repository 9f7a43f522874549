"""A program in which a type checker knows every query: typed.py DATABASE

Prints:
Rex is 3, of Ada
['Ada']
oldest: 5, on average 4.0
"""

from __future__ import annotations

import sys

import toft


class Person(toft.Object):
    name: toft.Property[str] = toft.field(primary_key=True)
    dogs: toft.Property[toft.Results[Dog]] = toft.linking_objects("Dog", "owner")


class Dog(toft.Object):
    name: toft.Property[str]
    age: toft.Property[int] = toft.field(default=0)
    owner: toft.Property[Person | None] = toft.field(default=None)
    tags: toft.Property[list[str]] = toft.field(default_factory=list)


def good_dogs(realm: toft.Realm, youngest: int) -> toft.Results[Dog]:
    is_good = Dog.tags.contains("good") & (Dog.age >= youngest)
    return realm.objects(Dog).where(is_good).sort(Dog.age.desc(), Dog.name)


def main(path: str) -> None:
    with toft.open(path, [Person, Dog]) as realm:
        with realm.write():
            ada = realm.add(Person(name="Ada"))
            realm.add(Dog(name="Rex", age=3, owner=ada, tags=["good"]))
            realm.add(Dog(name="Max", age=5))
        for dog in good_dogs(realm, youngest=2):
            print(f"{dog.name} is {dog.age}, of {dog.owner.name if dog.owner else 'nobody'}")
        owners = realm.objects(Person).where(Person.dogs.any(Dog.name.istartswith("r")))
        print([person.name for person in owners])
        oldest: int | None = realm.objects(Dog).max(Dog.age)
        print(f"oldest: {oldest}, on average {realm.objects(Dog).average(Dog.age)}")


if __name__ == "__main__":
    main(sys.argv[1])
