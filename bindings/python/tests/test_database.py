"""Opening, transactions, threads, and what goes wrong there."""

from __future__ import annotations

import builtins
import errno
import gc
import os
import signal
import stat
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import toft
from models import ALL, Dog, Everything, Person


def in_thread(work: Callable[[], Any]) -> Any:
    """The result or the exception of `work` on another thread."""
    found: list[Any] = []

    def run() -> None:
        try:
            found.append(work())
        except BaseException as error:
            found.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return found[0]


def test_what_is_committed_is_there_at_the_next_opening(path: Path) -> None:
    with toft.open(path, ALL) as realm, realm.write():
        realm.create(Dog, name="Rex")
    with toft.open(path, ALL) as realm:
        assert [dog.name for dog in realm.objects(Dog)] == ["Rex"]
        assert realm.path == str(path)


def test_databases_in_memory_are_shared_by_name() -> None:
    with (
        toft.open_in_memory([Person, Dog], name="shared") as one,
        toft.open_in_memory([Person, Dog], name="shared") as other,
    ):
        with one.write():
            one.create(Dog, name="Rex")
        other.refresh()
        assert len(other.objects(Dog)) == 1
        with toft.open_in_memory([Person, Dog]) as alone:
            assert len(alone.objects(Dog)) == 0
    del one, other
    gc.collect()
    with toft.open_in_memory([Person, Dog], name="shared") as again:
        assert len(again.objects(Dog)) == 0


def test_new_classes_and_properties_are_added_when_a_file_is_opened(path: Path) -> None:
    with toft.open(path, [Person, Dog]) as realm, realm.write():
        realm.create(Dog, name="Rex")

    def newer() -> type[toft.Object]:
        class Dog(toft.Object):
            name: str
            age: int
            owner: Person | None
            tags: list[str]
            friends: list[Dog]
            chip: str | None = toft.field(indexed=True)

        return Dog

    new_dog = newer()
    with toft.open(path, [Person, new_dog]) as realm:
        rex = realm.objects(new_dog)[0]
        assert rex.name == "Rex" and rex.chip is None  # type: ignore[attr-defined]


def test_a_schema_that_would_lose_data_lists_every_difference(path: Path) -> None:
    with toft.open(path, [Person, Dog]) as realm, realm.write():
        realm.create(Dog, name="Rex")

    def other() -> type[toft.Object]:
        class Dog(toft.Object):
            name: int
            age: str
            owner: Person | None
            tags: list[str]
            friends: list[Dog]

        return Dog

    with pytest.raises(toft.SchemaMismatchError) as raised:
        toft.open(path, [Person, other()])
    assert "name" in raised.value.detail and "age" in raised.value.detail


def test_a_wrong_schema_lists_every_problem() -> None:
    class Wrong(toft.Object):
        one: int = toft.field(primary_key=True)
        two: int = toft.field(primary_key=True)
        ratio: float = toft.field(indexed=True)
        link: Nowhere | None  # type: ignore[name-defined]  # noqa: F821
        back = toft.linking_objects("Nowhere", "link")

    with pytest.raises(toft.InvalidSchemaError) as raised:
        toft.open_in_memory([Wrong])
    assert len(raised.value.detail.splitlines()) >= 4

    class Plain(toft.Object):
        next: Plain

    with pytest.raises(TypeError, match=r"Plain.next: .*Plain \| None"):
        toft.open_in_memory([Plain])

    class Named(toft.Object):
        name: str

    Named.__name__ = "X" * 58
    with pytest.raises(toft.InvalidSchemaError):
        toft.open_in_memory([Named])


def test_files_that_cannot_be_opened_say_why(path: Path, tmp_path: Path) -> None:
    (tmp_path / "damaged").touch()
    with pytest.raises(FileNotFoundError):
        toft.open(path, ALL, mode="existing")
    with pytest.raises(FileNotFoundError):
        toft.open(path, ALL, mode="read_only")
    with pytest.raises(FileNotFoundError):
        toft.open(tmp_path / "nowhere" / "x.toft", ALL)
    with pytest.raises(IsADirectoryError):
        toft.open(tmp_path, ALL)
    path.write_text("This is no database at all, only text. " * 500)
    with pytest.raises(toft.NotADatabaseError) as raised:
        toft.open(path, ALL)
    assert (
        isinstance(raised.value, OSError) and raised.value.code == toft.Status.ERROR_NOT_A_DATABASE
    )
    for wrong in ({"mode": "rw"}, {"classes": [int]}, {"classes": [toft.Object]}):
        with pytest.raises(ValueError):
            arguments: dict[str, Any] = {"path": tmp_path / "y.toft", "classes": ALL, **wrong}
            toft.open(**arguments)
    with pytest.raises(toft.Error):
        toft.open("", ALL)
    with pytest.raises(TypeError):
        toft.open(3, ALL)  # type: ignore[arg-type]
    with toft.open(bytes(tmp_path / "z.toft"), ALL) as realm:  # type: ignore[arg-type]
        assert realm.path == str(tmp_path / "z.toft")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_of_somebody_else_is_denied(path: Path) -> None:
    with toft.open(path, ALL):
        pass
    path.chmod(0)
    try:
        with pytest.raises(PermissionError):
            toft.open(path, ALL)
    finally:
        path.chmod(stat.S_IRUSR | stat.S_IWUSR)


def test_a_truncated_file_is_damaged(path: Path, tmp_path: Path) -> None:
    with toft.open(path, ALL) as realm, realm.write():
        for number in range(1000):
            realm.create(Dog, name=f"Dog {number}" * 10)
    (tmp_path / "damaged").touch()
    os.truncate(path, path.stat().st_size // 2)
    with pytest.raises(toft.FileError):
        with toft.open(path, ALL) as realm:
            assert not realm.check()
            for dog in realm.objects(Dog):
                dog.name
            raise toft.CorruptError("the check said so")


def test_read_only(realm: toft.Realm, path: Path) -> None:
    with realm.write():
        realm.create(Dog, name="Rex")
    with toft.open(path, ALL, mode="read_only") as reader:
        assert reader.objects(Dog)[0].name == "Rex"
        with pytest.raises(toft.ReadOnlyError):
            with reader.write():
                pass


def test_a_file_that_is_only_read_shows_what_it_lacks_as_empty(tmp_path: Path) -> None:
    """A file that comes with a program, which has got another class since."""
    path = tmp_path / "notes"
    Old = type("Note", (toft.Object,), {"__annotations__": {"text": str}})
    with toft.open(path, [Old]) as realm, realm.write():
        realm.insert_many(Old, ({"text": str(number)} for number in range(300)))

    class Note(toft.Object):
        text: str
        stars: int = toft.field(default=5, indexed=True)
        tags: list[str]
        folder: Folder | None

    class Folder(toft.Object):
        name: str = toft.field(primary_key=True)
        notes = toft.linking_objects("Note", "folder")

    with toft.open(path, [Note, Folder], mode="read_only") as realm:
        notes = realm.objects(Note)
        assert len(notes) == 300 and len(realm.objects(Folder)) == 0
        assert realm.object(Folder, "a") is None
        assert {(note.stars, *note.tags, note.folder) for note in notes} == {(0, None)}
        assert len(notes.where("stars == 0 AND folder == null AND tags.@count == 0")) == 300
        assert notes.sum("stars") == 0 and notes.lists("stars")["stars"] == [0] * 300
        assert [str(each) for each in toft.dry_run(path, [Note, Folder])] != []
        assert realm.check()


def test_a_file_without_a_byte_becomes_a_database(tmp_path: Path) -> None:
    path = tmp_path / "empty"
    path.touch()
    for mode in ("read_only", "existing"):
        with pytest.raises(toft.NotADatabaseError, match="is an empty file"):
            toft.open(path, ALL, mode=mode)
        assert path.stat().st_size == 0
    with toft.open(path, ALL) as realm:
        with realm.write():
            realm.create(Dog, name="Rex")
        assert realm.check()


def test_changes_need_a_transaction(realm: toft.Realm) -> None:
    with realm.write():
        rex = realm.create(Dog, name="Rex", tags=["a"])
    attempts: list[Callable[[], object]] = [
        lambda: realm.create(Dog, name="Max"),
        lambda: realm.add(Dog(name="Max")),
        lambda: setattr(rex, "age", 3),
        lambda: setattr(rex, "tags", ["b"]),
        lambda: rex.tags.append("b"),
        lambda: rex.tags.clear(),
        lambda: realm.delete(rex),
        lambda: realm.delete(realm.objects(Dog)),
        lambda: realm.delete_all(Dog),
        lambda: realm.commit(),
        lambda: realm.cancel(),
    ]
    for attempt in attempts:
        with pytest.raises(toft.NotInTransactionError):
            attempt()
    assert len(realm.objects(Dog)) == 1 and rex.tags == ["a"]
    with realm.write():
        with pytest.raises(toft.AlreadyInTransactionError):
            realm.begin_write()


def test_wrong_values_are_refused_with_the_librarys_words(realm: toft.Realm) -> None:
    with realm.write():
        item = realm.create(Everything, id=1)
        wrong: list[tuple[str, Any, type[BaseException]]] = [
            ("flag", 1, TypeError),
            ("count", "3", TypeError),
            ("count", 1.5, TypeError),
            ("count", True, TypeError),
            ("count", None, toft.NullNotAllowedError),
            ("count", 2**63, ValueError),
            ("score", "x", TypeError),
            ("score", 10**400, ValueError),
            ("title", b"x", TypeError),
            ("title", "\ud800", ValueError),
            ("title", "x" * 2**24, toft.ValueTooLongError),
            ("picture", "x", TypeError),
            ("born", "today", TypeError),
            ("born", __import__("datetime").datetime(2024, 1, 1), TypeError),
            ("other", 3, TypeError),
            ("other", [item], TypeError),
            ("other", realm.create(Dog, name="Rex"), TypeError),
            ("others", item, TypeError),
            ("titles", [None], TypeError),
            ("maybe_counts", ["x"], TypeError),
            ("id", 2, toft.PrimaryKeyChangeError),
            ("title", object(), TypeError),
            ("title", {"a": 1}, TypeError),
        ]
        for name, value, error in wrong:
            before = getattr(item, name)
            before = list(before) if isinstance(before, toft.List) else before
            with pytest.raises(error) as raised:
                setattr(item, name, value)
            assert isinstance(raised.value, toft.Error), name
            assert getattr(item, name) == before, name
        with pytest.raises(toft.ReadOnlyPropertyError):
            realm.create(Person, name="Ada").dogs = []
        with pytest.raises(toft.MissingPrimaryKeyError):
            realm.create(Person, age=3)
        with pytest.raises(toft.DuplicatePrimaryKeyError):
            realm.create(Everything, id=1)
        with pytest.raises(AttributeError):
            realm.create(Dog, nmae="Rex")
        with pytest.raises(toft.MissingPrimaryKeyError):
            realm.upsert(Dog, name="Rex")
        with pytest.raises(ValueError):
            realm.upsert(Person, name="Ada", update="some")  # type: ignore[arg-type]
    with pytest.raises(toft.MissingPrimaryKeyError):
        realm.object(Dog, "Rex")
    assert realm.object(Dog, 3) is None  # no object has this key
    with pytest.raises(TypeError):
        realm.object(Person, 3)
    assert realm.object(Person, "nobody") is None

    class Stranger(toft.Object):
        name: str

    for attempt in (
        lambda: realm.objects(Stranger),
        lambda: realm.objects("Stranger"),
        lambda: realm.object(Stranger, 1),
    ):
        with pytest.raises(KeyError):
            attempt()


def test_a_closed_realm_says_so(path: Path) -> None:
    realm = toft.open(path, ALL)
    with realm.write():
        rex = realm.create(Dog, name="Rex", tags=["a"])
    tags, dogs = rex.tags, realm.objects(Dog)
    assert dogs[0].name == "Rex" and rex.name == "Rex"
    rows = list(dogs)
    assert rows[0].name == "Rex"
    realm.close()
    realm.close()
    assert not realm.is_open and not rex.is_valid
    attempts: list[Callable[[], object]] = [
        lambda: rex.name,
        lambda: rows[0].name,
        lambda: len(tags),
        lambda: len(dogs),
        lambda: list(dogs),
        lambda: realm.refresh(),
        lambda: realm.objects(Dog),
        lambda: realm.begin_write(),
        lambda: realm.observe(print),
        lambda: realm.version,
    ]
    for attempt in attempts:
        with pytest.raises(toft.ClosedError):
            attempt()
    assert (
        repr(rex).startswith("<Dog: ")
        and repr(dogs).startswith("<Results of Dog: ")
        and "closed" in repr(realm)
    )


def test_closing_inside_a_write_cancels_it(path: Path) -> None:
    realm = toft.open(path, ALL)
    with pytest.raises(toft.ClosedError), realm.write():
        realm.create(Dog, name="Rex")
        realm.close()
    with toft.open(path, ALL) as again:
        assert len(again.objects(Dog)) == 0


def test_a_realm_belongs_to_its_thread(realm: toft.Realm) -> None:
    with realm.write():
        rex = realm.create(Dog, name="Rex", tags=["a"])
    row, tags, dogs = next(iter(realm.objects(Dog))), rex.tags, realm.objects(Dog)
    assert (rex.name, row.name) == ("Rex", "Rex")
    attempts: list[Callable[[], object]] = [
        lambda: rex.name,
        lambda: row.name,
        lambda: row.age,
        lambda: setattr(rex, "name", "Max"),
        lambda: len(tags),
        lambda: list(dogs),
        lambda: dogs.where("age > 1").count(),
        lambda: realm.begin_write(),
        lambda: realm.create(Dog, name="Max"),
        lambda: realm.close(),
    ]
    for attempt in attempts:
        error = in_thread(attempt)
        assert isinstance(error, toft.WrongThreadError)
        assert 'confinement="caller"' in str(error) and "server" in str(error)
    assert rex.name == "Rex" and realm.is_open


def test_threads_write_in_turns_and_see_each_other(path: Path) -> None:
    def work() -> None:
        with toft.open(path, ALL) as realm:
            for _ in range(20):
                with realm.write():
                    ada = realm.object(Person, "Ada") or realm.create(Person, name="Ada")
                    ada.age += 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with toft.open(path, ALL) as realm:
        ada = realm.object(Person, "Ada")
        assert ada is not None and ada.age == 80


def test_objects_are_carried_to_another_thread(realm: toft.Realm, path: Path) -> None:
    with realm.write():
        rex = realm.create(Dog, name="Rex")

    def work() -> str:
        with toft.open(path, ALL) as other:
            mine = other.resolve(rex)
            assert mine is not None and mine.realm is other
            return mine.name

    assert in_thread(work) == "Rex"
    with toft.open_in_memory(ALL) as stranger, pytest.raises(toft.WrongRealmError):
        stranger.resolve(rex)


def test_things_of_two_realms_do_not_mix(realm: toft.Realm, path: Path) -> None:
    with realm.write():
        rex = realm.create(Dog, name="Rex")
    with toft.open(path, ALL) as other, other.write():
        max_ = other.create(Dog, name="Max")
        attempts: list[Callable[[], object]] = [
            lambda: max_.friends.append(rex),
            lambda: other.create(Dog, friends=[rex]),
            lambda: other.add(rex),
            lambda: other.delete(rex),
            lambda: other.delete(realm.objects(Dog)),
            lambda: (
                other.objects(Dog).where("SELF == $0", rex)
                if False
                else other.create(Everything, id=1, other=rex)
            ),
        ]
        for attempt in attempts:
            with pytest.raises(toft.WrongRealmError):
                attempt()
        assert rex not in other.objects(Dog) and rex != max_


def test_a_writer_waits_as_long_as_it_was_told(realm: toft.Realm, path: Path) -> None:
    realm.begin_write()

    def work() -> None:
        with toft.open(path, ALL, write_timeout=0) as other, other.write():
            pass

    assert isinstance(in_thread(work), toft.LockTimeoutError)
    realm.cancel()
    assert in_thread(work) is None


def test_a_call_may_wait_otherwise_than_its_realm(realm: toft.Realm, path: Path) -> None:
    realm.begin_write()

    def work(opened: float | None, called: float | None) -> float:
        begin = time.monotonic()
        with (
            toft.open(path, ALL, write_timeout=opened) as other,
            pytest.raises(toft.LockTimeoutError),
            other.write(timeout=called),
        ):
            pass
        return time.monotonic() - begin

    assert in_thread(lambda: work(None, 0)) < 0.2
    assert in_thread(lambda: work(30, 0.01)) < 0.2
    assert 0.3 < in_thread(lambda: work(0, 0.3)) < 1
    assert 0.3 < in_thread(lambda: work(0.3, None)) < 1
    realm.cancel()


def test_a_wait_is_ended_from_another_thread(realm: toft.Realm, path: Path) -> None:
    realm.begin_write()
    opened: list[toft.Realm] = []

    def wait() -> Any:
        with toft.open(path, ALL) as other:
            opened.append(other)
            with other.write():
                pass

    def interrupt() -> None:
        while not opened:
            time.sleep(0.01)
        time.sleep(0.2)
        opened[0].interrupt()

    interrupter = threading.Thread(target=interrupt)
    interrupter.start()
    error = in_thread(wait)
    interrupter.join()
    assert isinstance(error, toft.InterruptedError) and isinstance(error, InterruptedError)
    realm.cancel()


def test_a_second_transaction_of_the_same_thread_is_an_error_at_once(
    realm: toft.Realm, path: Path
) -> None:
    with toft.open(path, ALL) as other:
        with realm.write():
            for attempt in (other.begin_write, other.flush):
                with pytest.raises(toft.AlreadyInTransactionError, match="on this thread"):
                    attempt()
        with other.write():
            pass


_WAITING = """
import signal, sys, threading, toft
from models import ALL
# A shell starts background jobs, and their children, with SIGINT ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
is_held = threading.Event()
def hold():
    realm = toft.open(sys.argv[1], ALL)
    realm.begin_write()
    is_held.set()
    threading.Event().wait()
threading.Thread(target=hold, daemon=True).start()
is_held.wait()
with toft.open(sys.argv[1], ALL) as realm:
    print("waiting", flush=True)
    try:
        realm.begin_write()
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        import os
        os._exit(0)
"""


def test_ctrl_c_ends_a_wait(path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    waiting = subprocess.Popen(
        [sys.executable, "-c", _WAITING, str(path)],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert waiting.stdout is not None
    with waiting:
        try:
            assert waiting.stdout.readline() == "waiting\n"
            time.sleep(0.2)
            waiting.send_signal(signal.SIGINT)
            assert waiting.wait(20) == 0
            assert waiting.stdout.readline() == "interrupted\n"
        finally:
            waiting.kill()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_after_a_fork_the_child_is_refused_even_what_was_read_before(realm: toft.Realm) -> None:
    with realm.write():
        rex = realm.create(Dog, name="Rex")
    rows = list(realm.objects(Dog))
    assert rows[0].name == "Rex" and rex.name == "Rex"
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        told = []
        for attempt in (
            lambda: rex.name,
            lambda: rows[0].name,
            lambda: len(realm.objects(Dog)),
            realm.begin_write,
        ):
            try:
                attempt()
                told.append("nothing")
            except toft.Error as error:
                told.append(toft.Status(error.code).name)
        os.write(writing, " ".join(told).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        assert pipe.read().split() == ["ERROR_USED_AFTER_FORK"] * 4
    assert os.waitpid(child, 0)[1] == 0
    assert rex.name == "Rex"


def test_facts_and_check(realm: toft.Realm) -> None:
    with realm.write():
        realm.create(Dog, name="Rex")
    info = realm.info
    assert info.version == realm.version == info.latest_version
    assert info.file_size >= 8192 and info.page_size == 4096
    report = realm.check()
    assert report and report.objects == 1 and report.pages > 0
    assert toft.library_version() == toft.__version__


def test_a_realm_may_be_used_by_one_thread_after_the_other(path: Path) -> None:
    failures: list[BaseException] = []
    with toft.open(path, ALL, confinement="caller") as realm:

        def work(number: int) -> None:
            try:
                with realm.write():
                    realm.create(Dog, name=str(number), age=number)
                dogs = realm.objects(Dog)
                assert [dog.age for dog in dogs] == [*range(number + 1)]
                assert held[-1].name == str(number - 1) if held else True
                held.append(dogs[number])
            except BaseException as error:
                failures.append(error)

        held: list[Dog] = []
        for number in range(5):
            thread = threading.Thread(target=work, args=(number,))
            thread.start()
            thread.join()
        assert not failures and [dog.age for dog in held] == [*range(5)]
    with pytest.raises(toft.InvalidArgumentError, match="confinement is one of thread, caller"):
        toft.open(path, confinement="nobody")  # type: ignore[arg-type]


def test_errors_of_files_have_what_those_of_the_system_have(tmp_path: Path) -> None:
    missing = tmp_path / "missing.toft"
    with pytest.raises(FileNotFoundError) as raised:
        toft.open(missing, mode="existing")
    assert (raised.value.errno, raised.value.filename) == (errno.ENOENT, str(missing))
    assert isinstance(raised.value, toft.FileNotFoundError)
    with pytest.raises(IsADirectoryError) as directory:
        toft.open(tmp_path)
    assert (directory.value.errno, directory.value.filename) == (errno.EISDIR, str(tmp_path))


def test_an_error_of_opening_has_few_frames_of_the_package(tmp_path: Path) -> None:
    with pytest.raises(toft.Error) as raised:
        toft.open(tmp_path / "missing.toft", mode="existing")
    frames = traceback.extract_tb(raised.value.__traceback__)
    inner = [frame for frame in frames if "/toft/" in frame.filename]
    assert len(inner) <= 2, inner


def test_results_say_what_they_are_indexed_by() -> None:
    class Dog(toft.Object):
        name: str

    with toft.open_in_memory(Dog) as realm:
        with pytest.raises(TypeError, match=r"by position, not by 'Rex': realm.object"):
            realm.objects(Dog)["Rex"]  # type: ignore[call-overload]


def test_what_the_package_gives_to_a_star_hides_no_builtin() -> None:
    assert not set(toft.__all__) & set(dir(builtins))
    assert toft.open and issubclass(toft.FileNotFoundError, FileNotFoundError)
    with pytest.raises(toft.InvalidArgumentError, match="open_in_memory"):
        toft.open(":memory:")


def test_a_mistake_in_a_row_has_few_frames_of_the_package(realm: toft.Realm) -> None:
    with realm.write(), pytest.raises(toft.NoSuchPropertyError, match="Did you mean") as raised:
        realm.create(Dog, nmae="Rex")
    frames = traceback.extract_tb(raised.value.__traceback__)
    assert len([frame for frame in frames if "/toft/" in frame.filename]) <= 2


def test_the_building_of_an_index_tells_how_far_it_is_and_ends_when_told(tmp_path: Path) -> None:
    class Word(toft.Object):
        number: int

    path, told = tmp_path / "words.toft", []
    with toft.open(path, Word) as realm, realm.write():
        realm.insert_many(Word, [{"number": number} for number in range(5000)])

    class Indexed(toft.Object):
        number: int = toft.field(indexed=True)

    Indexed.__name__ = "Word"

    def enough(done: int, total: int) -> None:
        told.append((done, total))
        if done > 1000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        toft.open(path, Indexed, progress=enough)
    assert 1000 < told[-1][0] < 5000 and told[-1][1] == 5000
    told.clear()
    with toft.open(path, Indexed, progress=lambda *given: told.append(given)) as realm:
        assert told[-1] == (5000, 5000)
        assert len(realm.objects(Indexed).where("number == 4711")) == 1
        assert realm.check()


def test_names_have_57_and_63_bytes_at_most() -> None:
    for class_name, name, problems in (
        ("é" * 28 + "x", "é" * 31 + "x", 0),
        ("é" * 29, "é" * 32, 2),
    ):
        wide: type[toft.Object] = type(
            class_name, (toft.Object,), {"__annotations__": {name: int}, "__module__": __name__}
        )
        if problems == 0:
            with toft.open_in_memory([wide]) as realm:
                assert list(realm.classes) == [class_name]
        else:
            with pytest.raises(toft.InvalidSchemaError) as raised:
                toft.open_in_memory([wide])
            assert len(raised.value.detail.splitlines()) == problems
            assert "the limit is 57" in raised.value.detail
            assert "the limit is 63" in raised.value.detail


def test_a_class_has_1000_properties_at_most() -> None:
    for count in (1000, 1001):
        names = {f"p{number}": int for number in range(count)}
        wide: type[toft.Object] = type(
            "Wide", (toft.Object,), {"__annotations__": names, "__module__": __name__}
        )
        if count == 1000:
            with toft.open_in_memory([wide]) as realm:
                assert len(toft.fields(realm.classes["Wide"])) == count
        else:
            with pytest.raises(toft.InvalidSchemaError, match="1001 properties; the limit is 1000"):
                toft.open_in_memory([wide])


def test_a_process_of_another_version_is_named_and_not_waited_for(path: Path) -> None:
    """The wait had no end: it was cut into slices, each of which began anew."""
    opening = (
        "import sys, toft\n"
        "try:\n"
        "    with toft.open(sys.argv[1]) as realm:\n"
        "        print(len(realm.classes))\n"
        "except toft.IncompatibleProcessError as error:\n"
        "    print('refused', 'another version of Toft' in str(error))\n"
    )

    def opened() -> str:
        return subprocess.run(
            [sys.executable, "-c", opening, str(path)],
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        ).stdout.strip()

    layout = 8  # where the lock file says how its words lie
    with toft.open(path, [Dog, Person]) as realm:
        lock = os.open(f"{path}.lock", os.O_RDWR)
        try:
            own = os.pread(lock, 8, layout)
            for other in (own[0] - 1, own[0] + 1):
                os.pwrite(lock, other.to_bytes(8, "little"), layout)
                assert opened() == "refused True"
            os.pwrite(lock, own, layout)
        finally:
            os.close(lock)
        assert opened() == "2"
        assert realm.check()
