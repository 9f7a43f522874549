"""Frozen realms: one version, for ever, for any number of threads."""

from __future__ import annotations

import gc
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import toft
from models import Dog, Person


class Other(toft.Object):
    count: int


@pytest.fixture
def dogs(realm: toft.Realm) -> toft.Results[Dog]:
    with realm.write():
        ada = realm.create(Person, name="Ada")
        realm.insert_many(
            Dog, ({"name": str(age), "age": age, "owner": ada, "tags": ["x"]} for age in range(100))
        )
    return realm.objects(Dog)


def test_a_frozen_realm_stays_at_its_version(dogs: toft.Results[Dog], realm: toft.Realm) -> None:
    old = dogs.where(Dog.age > 90)
    with realm.freeze() as frozen:
        assert frozen.is_frozen and not realm.is_frozen and frozen.freeze() is frozen
        then, ninth, first = old.freeze(), dogs[9].freeze(), frozen.objects(Dog)[0]
        assert then.freeze() is then and ninth.freeze() is ninth
        with realm.write():
            dogs.update(age=0, tags=[])
            realm.delete(dogs[0])
        assert len(old) == 0 and [dog.age for dog in then] == list(range(91, 100))
        assert (ninth.age, list(ninth.tags), ninth.owner and ninth.owner.name) == (9, ["x"], "Ada")
        assert frozen.version < realm.version and not frozen.refresh() and frozen.dispatch() == 0
        assert first.is_valid and first.name == "0" and realm.resolve(first) is None
        assert frozen.objects(Person)[0].dogs.freeze().count() == 100
        assert frozen.check()
        # And back.
        assert realm.resolve(then).count() == 0 and realm.resolve(ninth) == dogs[8]
        assert frozen.resolve(old).count() == 9 and frozen.resolve(dogs[8]) == frozen.resolve(ninth)
    assert not frozen.is_open and first.name == "0", "what was got from it keeps the version"
    with pytest.raises(toft.ClosedError):
        frozen.objects(Dog)
    frozen.close()


def test_a_frozen_realm_that_was_closed_says_so(dogs: toft.Results[Dog], realm: toft.Realm) -> None:
    frozen = realm.freeze()
    rex = frozen.objects(Dog)[0]
    frozen.close()
    frozen.close()
    for ask in (
        lambda: frozen.objects(Dog),
        lambda: frozen.version,
        lambda: frozen.resolve(dogs[0]),
        lambda: frozen.info,
    ):
        with pytest.raises(toft.ClosedError, match="The frozen realm has been closed"):
            ask()
    assert not frozen.is_open and rex.name == dogs[0].name
    for wrong in (None, realm, "Rex"):
        with pytest.raises(toft.TypeMismatchError, match="An object is due"):
            realm.resolve(wrong)  # type: ignore[type-var]


def test_a_write_transaction_is_not_in_it(dogs: toft.Results[Dog], realm: toft.Realm) -> None:
    with realm.write():
        dogs.update(age=1)
        new = realm.create(Dog, name="new")
        assert dogs.freeze().sum("age") == sum(range(100)) and dogs[5].freeze().age == 5
        with pytest.raises(toft.NoSuchObjectError, match="commit"):
            new.freeze()
    assert dogs.freeze().sum("age") == 100 and new.freeze() is not new
    with pytest.raises(toft.InvalidArgumentError):
        Dog(name="draft").freeze()


def test_it_is_neither_written_nor_observed(dogs: toft.Results[Dog], realm: toft.Realm) -> None:
    with realm.freeze() as frozen:
        with pytest.raises(toft.ReadOnlyError):
            frozen.begin_write()
        first = frozen.objects(Dog)[0]
        for change in (
            lambda: setattr(first, "age", 3),
            lambda: first.increment("age"),
            lambda: first.tags.append("y"),
            lambda: frozen.create(Dog, name="x"),
            lambda: frozen.objects(Dog).update(age=1),
            lambda: frozen.delete(first),
        ):
            with pytest.raises((toft.ReadOnlyError, toft.NotInTransactionError)):
                change()
        for observed in (frozen, first, frozen.objects(Dog), first.tags):
            with pytest.raises(toft.ObservationUnavailableError):
                observed.observe(lambda _: None)
        assert first.age == 0 and list(first.tags) == ["x"]


def test_a_version_is_kept_until_the_last_thing_goes(
    dogs: toft.Results[Dog], realm: toft.Realm
) -> None:
    first = dogs[0].freeze()
    for age in range(20):
        with realm.write():
            dogs.update(age=age)
    assert realm.info.latest_version - realm.info.oldest_pinned_version > 15
    assert first.age == 0
    del first
    gc.collect()
    with realm.write():
        dogs.update(age=0)
    assert realm.info.latest_version - realm.info.oldest_pinned_version < 5


def test_a_realm_without_declared_classes_freezes_too(
    dogs: toft.Results[Dog], realm: toft.Realm
) -> None:
    with toft.open(realm.path) as plain, plain.freeze() as frozen:
        assert frozen.classes == plain.classes
        assert frozen.objects("Dog").where("age > 97").count() == 2
        with realm.freeze() as other, toft.open(realm.path, [Other]) as without:
            with pytest.raises(toft.NoSuchClassError):
                without.resolve(other.objects(Dog))
    with toft.open_in_memory([Dog, Person]) as memory, pytest.raises(toft.WrongRealmError):
        memory.resolve(dogs)


def test_many_threads_read_one_object_and_one_result(
    dogs: toft.Results[Dog], realm: toft.Realm
) -> None:
    """Half of the threads read lists and links, which no column holds, of the objects whose columns
    the others read.
    """
    frozen = realm.freeze()
    for _ in range(20):
        shared = list(frozen.objects(Dog).where(Dog.age >= 50))
        owners = [dog.owner for dog in shared]
        start = threading.Barrier(8)

        def read(
            lane: int,
            shared: list[Dog] = shared,
            owners: list[Person | None] = owners,
            start: threading.Barrier = start,
        ) -> int:
            start.wait()
            for age, (dog, owner) in enumerate(zip(shared, owners), 50):
                assert owner is not None and len(owner.dogs) == 100
                if lane % 2:
                    assert list(dog.tags) == ["x"] and dog.tags.results.count() == 1
                assert (dog.age, dog.name) == (age, str(age))
                assert dog.owner is not None and len(dog.owner.dogs) == 100
            return frozen.objects(Dog).where(Dog.age > lane).count()

        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(read, range(8))) == list(range(99, 91, -1))
    with realm.write():
        dogs.delete()
    assert frozen.objects(Dog).count() == 100
