"""The programs of Servers.md, as real servers: 4 processes, 32 clients, no update is lost."""

from __future__ import annotations

import http.client
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest
import toft
from conftest import PACKAGE

CLIENTS, SALES = 32, 6
STOCK = CLIENTS * SALES // 2
"""There is half of what the clients want."""
PAGE = (PACKAGE / "Servers.md").read_text()
PROGRAMS = {match[1]: match[0] for match in re.finditer(r"# (\w+\.py)\n.*?(?=```)", PAGE, re.S)}


class Item(toft.Object):
    id: int = toft.field(primary_key=True)
    name: str = ""
    stock: int = 0
    sold: int = 0


@pytest.fixture
def shop(path: Path) -> Path:
    """The directory of the programs of the page, and of a file with a stock of one item."""
    for name, program in PROGRAMS.items():
        (path.parent / name).write_text(program)
    with toft.open(path, [Item]) as realm, realm.write():
        realm.create(Item, id=1, name="lamp", stock=STOCK)
    return path.parent


def environment(shop: Path) -> dict[str, str]:
    """That of the programs."""
    return {
        **os.environ,
        "PYTHONPATH": f"{PACKAGE}:{shop}",
        "SHOP": str(shop / "test.toft"),
    }


def require_all_sold(shop: Path, answers: list[int | None]) -> None:
    """Each item was sold to one client, the last ones of which got nothing."""
    assert sorted(answer for answer in answers if answer is not None) == [*range(STOCK)]
    assert answers.count(None) == len(answers) - STOCK
    with toft.open(shop / "test.toft", [Item]) as realm:
        [item] = realm.objects(Item)
        assert (item.stock, item.sold) == (0, STOCK)


# ------------------------------------------------------------------------------------------ Servers


class Connection(http.client.HTTPConnection):
    """HTTP over a socket with a path."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=60)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60)
        self.sock.connect(str(self._path))


@contextmanager
def running(shop: Path, ready: str, count: int, *command: str) -> Iterator[Path]:
    """A server. It is there once it has written a line `count` times."""
    socket_path = shop / "socket"
    server = subprocess.Popen(
        [sys.executable, "-m", *(each.replace("SOCKET", str(socket_path)) for each in command)],
        cwd=shop,
        env=environment(shop),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    written: list[str] = []
    is_ready = threading.Event()

    def listen(stream: IO[str]) -> None:
        for line in stream:
            written.append(line)
            if sum(ready in each for each in written) >= count:
                is_ready.set()
        is_ready.set()

    assert server.stderr is not None
    listening = threading.Thread(target=listen, args=(server.stderr,))
    listening.start()
    try:
        assert is_ready.wait(120) and server.poll() is None, "".join(written)
        yield socket_path
    finally:
        server.terminate()
        server.wait(60)
        listening.join(60)
    assert "Traceback" not in "".join(written), "".join(written)


def sales(socket_path: Path, target: str) -> list[int | None]:
    """The answers that 32 clients get: how many are left, None if all are sold."""

    def client(_: int) -> list[int | None]:
        connection, answers = Connection(socket_path), []
        for _ in range(SALES):
            connection.request("POST", target)
            response = connection.getresponse()
            body = response.read()
            assert response.status in (200, 409), body
            answers.append(int(body) if response.status == 200 else None)
        connection.close()
        return answers

    with ThreadPoolExecutor(CLIENTS) as pool:
        return [answer for each in pool.map(client, range(CLIENTS)) for answer in each]


def shown(socket_path: Path) -> bytes:
    """The answer about the item."""
    connection = Connection(socket_path)
    connection.request("GET", "/items/1")
    body = connection.getresponse().read()
    connection.close()
    return body


@pytest.mark.parametrize("target", ["sales", "sales-of-tasks"])
def test_fastapi_loses_no_sale(shop: Path, target: str) -> None:
    pytest.importorskip("fastapi")
    pytest.importorskip("uvicorn")
    command = ("uvicorn", "api:app", "--workers", "4", "--uds", "SOCKET")
    with running(shop, "Application startup complete", 4, *command) as socket_path:
        if target == "sales-of-tasks":  # which has no answer for SoldOut
            program = (shop / "api.py").read_text()
            assert "except SoldOut" in program
            with toft.open(shop / "test.toft", [Item]) as realm, realm.write():
                realm.objects(Item).update(stock=CLIENTS * SALES)
            answers = sales(socket_path, f"/items/1/{target}")
            assert sorted(map(int, answers)) == [*range(CLIENTS * SALES)]  # type: ignore[arg-type]
            assert f'"sold":{CLIENTS * SALES}'.encode() in shown(socket_path)
            return
        answers = sales(socket_path, f"/items/1/{target}")
        assert f'"stock":0,"sold":{STOCK}'.encode() in shown(socket_path)
    require_all_sold(shop, answers)


def test_flask_and_gunicorn_with_preload_lose_no_sale(shop: Path) -> None:
    pytest.importorskip("flask")
    pytest.importorskip("gunicorn")
    with (shop / "web.py").open("a") as program:  # the parent has used it before it forks
        program.write("\nwith db.read() as realm:\n    print(len(realm.objects(Item)))\n")
    command = ("gunicorn", "--workers", "4", "--threads", "8", "--preload", "--bind", "unix:SOCKET")
    with running(shop, "Booting worker", 4, *command, "web:app") as socket_path:
        answers = sales(socket_path, "/items/1/sales")
        assert f'"sold":{STOCK},"stock":0'.encode() in shown(socket_path)
    require_all_sold(shop, answers)


def test_celery_loses_no_sale(shop: Path) -> None:
    pytest.importorskip("celery")
    for name in ("queue", "results"):
        (shop / name).mkdir()
    (shop / "celeryconfig.py").write_text(
        "broker_url = 'filesystem://'\n"
        f"broker_transport_options = {{'data_folder_in': {str(shop / 'queue')!r}, "
        f"'data_folder_out': {str(shop / 'queue')!r}}}\n"
        f"result_backend = 'file://{shop / 'results'}'\n"
    )
    caller = shop / "caller.py"
    caller.write_text(
        "from tasks import sell_one\n"
        f"waiting = [sell_one.delay(1) for _ in range({STOCK})]\n"
        "print(*(each.get(timeout=120) for each in waiting))\n"
    )
    command = ("celery", "--app", "tasks", "worker", "--concurrency", "4", "--loglevel", "INFO")
    with running(shop, " ready.", 1, *command):
        called = subprocess.run(
            [sys.executable, caller],
            cwd=shop,
            env=environment(shop),
            capture_output=True,
            text=True,
            timeout=300,
        )
    assert called.returncode == 0, called.stderr
    require_all_sold(shop, [*map(int, called.stdout.split())])


def test_commands_of_django_lose_no_sale(shop: Path) -> None:
    pytest.importorskip("django")
    command = [sys.executable, "manage.py", "1", "--times", str(STOCK // 4)]
    processes = [
        subprocess.Popen(
            command,
            cwd=shop,
            env=environment(shop),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    printed = [process.communicate(timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0] * 4, printed
    assert "0 left\n" in [out for out, _ in printed]
    with toft.open(shop / "test.toft", [Item]) as realm:
        assert [(item.stock, item.sold) for item in realm.objects(Item)] == [(0, STOCK)]


# ------------------------------------------------------------------------------- Within one process


@pytest.fixture
def imported(shop: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], object]]:
    """Imports programs of the page, anew for each test."""
    monkeypatch.setenv("SHOP", str(shop / "test.toft"))
    monkeypatch.syspath_prepend(shop)
    names = [Path(name).stem for name in PROGRAMS]
    kept = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    import importlib

    yield importlib.import_module
    program = sys.modules.get("shop")
    if program is not None:
        program.db.close()
    for name in names:
        sys.modules.pop(name, None)
    sys.modules.update(kept)


FAILING = """
@app.post("/failing")
def failing(realm: Writing) -> None:
    realm.objects(Item).update(stock=0)
    with realm.write():  # a savepoint, on another thread than that of the dependency
        realm.delete_all()
    raise ZeroDivisionError
"""


def test_an_endpoint_that_fails_commits_nothing_and_one_that_answers_has_committed(
    shop: Path, imported: Callable[[str], object]
) -> None:
    pytest.importorskip("fastapi")
    pytest.importorskip("httpx")
    from fastapi.testclient import TestClient

    with (shop / "api.py").open("a") as program:
        program.write(FAILING)
    api = imported("api")
    with TestClient(api.app, raise_server_exceptions=False) as client:  # type: ignore[attr-defined]
        assert client.post("/failing").status_code == 500
        assert client.get("/items/1").json()["stock"] == STOCK
        assert client.post("/items/1/sales").json() == STOCK - 1
        with toft.open(shop / "test.toft", [Item]) as realm:
            assert realm.objects(Item)[0].stock == STOCK - 1
        assert client.get("/items/2").status_code == 404


def test_a_program_is_tested_and_nothing_of_it_stays(
    shop: Path, imported: Callable[[str], object]
) -> None:
    pytest.importorskip("flask")
    web, conftest = imported("web"), PROGRAMS["conftest.py"]
    assert "rolled_back()" in conftest
    program = sys.modules["shop"]
    with program.db.rolled_back() as db:
        client = web.app.test_client()  # type: ignore[attr-defined]
        assert client.post("/items/1/sales").text == str(STOCK - 1)
        assert client.get("/items/1").json["sold"] == 1
        with db.read() as realm:
            assert realm.objects(program.Item)[0].sold == 1
    assert web.app.test_client().get("/items/1").json["sold"] == 0  # type: ignore[attr-defined]
    assert web.app.test_client().get("/items/7").status_code == 404  # type: ignore[attr-defined]
