# Tests: StudioCommand.swift, StudioServer.swift
"""Studio in a real browser, and against a page that means harm.

The browser is Debian's Chromium; without it, its tests are skipped. Pictures of each path are left
in build/studio. With TOFT_PICTURES, the two of the documentation are written to that folder.
"""

import base64
import http.server
import json
import os
import re
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from browser import IS_INSTALLED, Browser
from test_toftdb import SAMPLE, TOFTDB, run

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "build/studio"
MANY = 1_000_000
KINDS = ["click", "error", "login", "logout", "order", "search", "view"]

in_browser = pytest.mark.skipif(not IS_INSTALLED, reason="chromium and chromium-driver are missing")

PROPERTY = dict[str, object]


def link(name: str, target: str, **more: object) -> PROPERTY:
    return {"name": name, "type": "link", "target": target, **more}


SCHEMA = {
    "classes": [
        {
            "name": "Event",
            "properties": [
                {"name": "id", "type": "int", "primaryKey": True},
                {"name": "kind", "type": "string", "indexed": True},
                {"name": "seconds", "type": "double"},
                {"name": "at", "type": "date"},
                link("user", "User"),
            ],
        },
        {
            "name": "User",
            "properties": [
                {"name": "name", "type": "string", "primaryKey": True},
                {"name": "age", "type": "int", "optional": True},
                {"name": "tags", "type": "string", "list": True},
                link("home", "Address"),
                link("friends", "User", list=True),
                {"name": "photo", "type": "data", "optional": True},
                {"name": "note", "type": "mixed"},
            ],
        },
        {
            "name": "Address",
            "embedded": True,
            "properties": [
                {"name": "street", "type": "string"},
                {"name": "city", "type": "string", "optional": True},
            ],
        },
    ]
}


def event(number: int) -> str:
    """A line of comma-separated values."""
    day, second = divmod(number * 26, 86_400)
    hour, rest = divmod(second, 3_600)
    date = f"2026-{1 + day // 28:02}-{1 + day % 28:02}T{hour:02}:{rest // 60:02}:00Z"
    kind = KINDS[number * 7919 % 7]
    return f"{number},{kind},{number % 1000 / 8},{date},user {number % 100}\n"


def user(number: int) -> dict:
    return {
        "name": f"user {number}",
        "age": None if number % 10 == 9 else 20 + number % 50,
        "tags": ["first", "second", "third"][: number % 4],
        "home": {"street": f"{number} High Street", "city": "Bonn"},
        "friends": [f"user {(number + 1) % 100}"],
        "note": number if number % 2 else "a note",
    }


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with a million events of a hundred users."""
    folder = tmp_path_factory.mktemp("studio")
    schema, lines, database = folder / "schema.json", folder / "lines", folder / "events.toft"
    schema.write_text(json.dumps(SCHEMA))
    lines.write_text("".join(json.dumps(user(number)) + "\n" for number in range(100)))
    run("import", database, lines, "--class", "User", "--schema", schema)
    with lines.open("w") as file:
        file.write("id,kind,seconds,at,user\n")
        file.writelines(map(event, range(MANY)))
    run("import", database, lines, "--csv", "--class", "Event")
    lines.unlink()
    return database


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A database with a hundred users."""
    schema, lines, database = tmp_path / "schema.json", tmp_path / "lines", tmp_path / "users.toft"
    schema.write_text(json.dumps(SCHEMA))
    lines.write_text("".join(json.dumps(user(number)) + "\n" for number in range(100)))
    run("import", database, lines, "--class", "User", "--schema", schema)
    return database


def change(database: Path, owner: str, *objects: dict) -> None:
    """Another program changes objects or adds some."""
    lines = "".join(json.dumps(item) + "\n" for item in objects)
    run("import", database, "-", "--class", owner, "--update", "modified", input=lines)


def expect_sound(database: Path) -> None:
    assert json.loads(run("check", database, "--json").stdout)["problems"] == []


@contextmanager
def studio(*arguments: object) -> Iterator[str]:
    """Runs Studio; gives the address that it prints."""
    process = subprocess.Popen(
        [TOFTDB, "studio", "--no-browser", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout and process.stderr
    try:
        line = process.stdout.readline()
        assert line.startswith("Studio: "), line + process.stderr.read()
        yield line.split()[1]
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0, process.stderr.read()
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    with Browser(tmp_path / "profile") as browser:
        yield browser


def show(browser: Browser, address: str) -> None:
    browser.open(address)
    browser.wait("document.documentElement.dataset.state === 'ready'")
    settle(browser)


def settle(browser: Browser) -> None:
    """Waits until the rows on the screen are there."""
    browser.wait(
        "document.querySelector('.grid .row') && !document.querySelector('.grid .waiting')"
    )


def count(browser: Browser) -> int:
    return int(browser.run("document.getElementById('count').dataset.count"))


def query(browser: Browser, text: str, found: int) -> None:
    browser.write("#query", text)
    browser.press("Enter")
    browser.wait("document.getElementById('count').dataset.count === String(arguments[0])", found)


def column(browser: Browser, name: str) -> list[str]:
    """The texts of a column on the screen, from the top."""
    return browser.run(
        """(() => {
            const heads = [...document.querySelectorAll('.head .sort .name')];
            const place = heads.findIndex((head) => head.textContent === arguments[0]);
            return [...document.querySelectorAll('.grid .row')]
                .sort((left, right) => left.dataset.index - right.dataset.index)
                .map((row) => row.children[place].textContent);
        })()""",
        name,
    )


# In the browser


@in_browser
def test_a_million_rows_are_opened_scrolled_sorted_filtered_and_counted(
    browser: Browser, large: Path
) -> None:
    with studio(large) as address:
        show(browser, address)
        assert count(browser) == MANY
        assert column(browser, "id")[:3] == ["0", "1", "2"]
        browser.picture(PICTURES / "open.png")
        # By the bar, whatever the height of the table is.
        browser.run(
            "(() => { const grid = document.querySelector('.grid');"
            " grid.scrollTop = (grid.scrollHeight - grid.clientHeight) * 0.9; })()"
        )
        browser.wait("Number(document.querySelector('.grid').dataset.first) > 899000")
        settle(browser)
        first = int(browser.run("document.querySelector('.grid').dataset.first"))
        assert abs(first - 900_000) < 1_000
        assert str(first) in column(browser, "id")
        # By the wheel, row by row.
        browser.run(
            "document.querySelector('.grid').dispatchEvent(new WheelEvent('wheel',"
            " {deltaY: 90, cancelable: true}))"
        )
        browser.wait(
            "Number(document.querySelector('.grid').dataset.first) === arguments[0]", first + 3
        )
        settle(browser)
        browser.picture(PICTURES / "row-900000.png")
        # By the keys, to the end and back to the beginning.
        browser.run("document.querySelector('.grid').focus()")
        browser.press("Control+End")
        browser.wait("document.getElementById('place').textContent.startsWith('row 1,000,000')")
        settle(browser)
        assert column(browser, "id")[-1] == str(MANY - 1)
        browser.press("Control+Home")
        settle(browser)
        assert column(browser, "id")[0] == "0"
        kinds = sum(KINDS[number * 7919 % 7] == "order" for number in range(MANY))
        query(browser, "kind == 'order'", kinds)
        settle(browser)
        assert set(column(browser, "kind")) == {"order"}
        browser.click(".head .cell:nth-child(3) .sort")
        browser.wait("document.querySelector('.head [aria-sort=ascending]')")
        browser.click(".head .cell:nth-child(3) .sort")
        browser.wait("document.querySelector('.head [aria-sort=descending]')")
        settle(browser)
        assert column(browser, "seconds")[0] == "124.875"
        browser.click(".head .cell:nth-child(3) .more")
        browser.wait("document.querySelector('#pane .histogram')")
        assert f"{kinds:,}" in browser.text("#pane .facts")
        browser.picture(PICTURES / "statistics.png")
        browser.run("[...document.querySelectorAll('.title button')].at(-1).click()")
        assert "index" in browser.text("#pane .plan")
        browser.picture(PICTURES / "plan.png")
    expect_sound(large)


@in_browser
def test_an_error_of_a_query_stands_at_its_place_and_words_are_completed(
    browser: Browser, small: Path
) -> None:
    with studio(small) as address:
        show(browser, address)
        browser.write("#query", "age > 5 AND")
        browser.press("Enter")
        browser.wait("!document.getElementById('query-error').hidden")
        assert browser.run("document.getElementById('query').selectionStart") == 11
        assert "^" in browser.text("#query-error")
        browser.picture(PICTURES / "query-error.png")
        browser.write("#query", "")
        browser.type("fri")
        browser.wait("document.querySelectorAll('#completions li').length === 1")
        browser.press("Tab")
        browser.press("Backspace")
        browser.type(".@")
        browser.wait("document.querySelectorAll('#completions li').length > 3")
        browser.picture(PICTURES / "completion.png")
        browser.press("ArrowDown", "Enter")
        browser.type("> 0")
        browser.press("Enter")
        browser.wait("document.getElementById('query-error').hidden")
        assert browser.run("document.getElementById('query').value") == "friends.@count > 0"
        assert count(browser) == 100
        query(browser, "age > 60", sum((user(n)["age"] or 0) > 60 for n in range(100)))
        browser.write("#query", "")
        browser.press("ArrowUp")
        assert browser.run("document.getElementById('query').value") == "age > 60"
    expect_sound(small)


@in_browser
def test_what_another_program_commits_is_shown_as_it_comes(browser: Browser, small: Path) -> None:
    with studio(small) as address:
        show(browser, address)
        change(small, "User", {"name": "user 3", "age": 77})
        browser.wait("document.querySelector('.row.changed')")
        browser.picture(PICTURES / "live.png")
        changed = "[...document.querySelectorAll('.row.changed')].map((row) => row.dataset.index)"
        assert browser.run(changed) == ["3"]
        browser.wait("document.querySelector('.row[data-index=\"3\"]').textContent.includes('77')")
        assert column(browser, "age")[3] == "77"
        query(browser, "age > 76", 1)
        change(small, "User", {"name": "new", "age": 80}, {"name": "user 3", "age": 1})
        browser.wait("document.querySelector('.row.inserted')")
        # The row is marked, and then read.
        browser.wait("document.querySelector('.grid .row').textContent.includes('new')")
        assert column(browser, "name") == ["new"]
        browser.wait(
            "document.querySelector('#side [data-name=User] .count').textContent === '101'"
        )
        assert "1 came, 1 left" in browser.text("#status")
        # The details show it, too.
        browser.run("document.querySelector('.grid').focus()")
        browser.press("Enter")
        browser.wait("document.querySelector('#pane [data-property=age]')")
        change(small, "User", {"name": "new", "age": 81})
        browser.wait(
            "document.querySelector('#pane [data-property=age] dd').textContent.includes('81')"
        )
    expect_sound(small)


@in_browser
def test_an_edit_is_a_draft_that_is_committed_and_others_are_asked_about(
    browser: Browser, small: Path
) -> None:
    with studio(small) as address:
        show(browser, address)
        browser.click("#editing")
        for text in ["31", "32"]:
            browser.run("document.querySelector('.grid').focus()")
            browser.press("ArrowRight" if text == "31" else "ArrowDown", "F2")
            browser.write(".inplace", text)
            browser.press("Enter")
        browser.wait("document.getElementById('draft').textContent === 'Draft 2'")
        assert len(browser.run("[...document.querySelectorAll('.drafted')].map(String)")) == 2
        # Nothing is written yet, and another program is faster with one of them.
        assert run("query", small, "User", "age == 31 OR age == 32", "--count").stdout == "4\n"
        change(small, "User", {"name": "user 1", "age": 55})
        browser.wait("document.querySelector('.row.changed')")
        browser.click("#draft")
        browser.picture(PICTURES / "draft.png")
        browser.click("#commit")
        browser.wait("document.querySelector('.conflict')")
        assert "It is 55 now." in browser.text(".conflict")
        browser.picture(PICTURES / "conflict.png")
        assert run("query", small, "User", "age == 31 OR age == 32", "--count").stdout == "4\n"
        browser.click(".conflict .mine")
        browser.click("#commit")
        browser.wait("!document.querySelector('dialog')")
        browser.wait("document.getElementById('draft').disabled")
        lines = run("query", small, "User", "name == 'user 0' OR name == 'user 1'", "--json").stdout
        assert [json.loads(line)["age"] for line in lines.splitlines()] == [31, 32]
        settle(browser)
        assert column(browser, "age")[:2] == ["31", "32"]
        # A value of another type stays in its field.
        browser.run("document.querySelector('.grid').focus()")
        browser.press("F2")
        browser.write(".inplace", "old")
        browser.press("Enter")
        browser.wait("document.querySelector('.inplace[aria-invalid]')")
        assert "a whole number" in browser.text("#status")
        browser.press("Escape")
        assert browser.text("#draft") == "Draft"
    expect_sound(small)


@in_browser
def test_an_object_is_opened_with_all_that_is_in_it_and_edited_there(
    browser: Browser, small: Path
) -> None:
    pixel = (
        "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEklEQVR42mNgYPiPFTEMpAQA"
        "wrA/wcCkGPQAAAAASUVORK5CYII="
    )
    change(small, "User", {"name": "user 3", "photo": pixel})
    with studio(small) as address:
        show(browser, address)
        browser.run("document.querySelector('.grid').focus()")
        browser.press("ArrowDown", "ArrowDown", "ArrowDown", "Enter")
        browser.wait("document.querySelector('#pane .preview')")
        browser.wait("document.querySelector('#pane [data-property=street]')")
        assert "3 High Street" in browser.text("#pane [data-property=street]")
        browser.picture(PICTURES / "object.png")
        browser.press("e")
        browser.wait("document.querySelector('#pane [data-property=tags] .movable')")
        browser.run("document.querySelector('#pane [data-property=tags] .movable').focus()")
        browser.press("Alt+ArrowDown")
        browser.write("#pane [data-property=street] input", "4 Low Street")
        browser.press("Tab")
        browser.wait("document.getElementById('draft').textContent === 'Draft 2'")
        browser.picture(PICTURES / "object-edited.png")
        browser.click("#draft")
        browser.click("#commit")
        browser.wait("document.getElementById('draft').disabled")
        saved = json.loads(run("query", small, "User", "name == 'user 3'", "--json").stdout)
        assert saved["tags"] == ["second", "first", "third"]
        assert saved["home"]["street"] == "4 Low Street"
        # A link leads to its object, and the browser's way back leads here.
        browser.click("#pane [data-property=friends] a.link")
        browser.wait("document.getElementById('place').textContent.startsWith('row 5 ')")
        browser.wait("document.querySelector('#pane h2').textContent === 'user 4'")
        browser.run("history.back()")
        browser.wait("!document.querySelector('#pane h2')")
    expect_sound(small)


@in_browser
def test_the_keys_alone_find_edit_and_commit(browser: Browser, small: Path) -> None:
    with studio(small) as address:
        show(browser, address)
        browser.press("/")
        browser.type("name == 'user 42'")
        browser.press("Enter")
        browser.wait("document.getElementById('count').dataset.count === '1'")
        settle(browser)
        browser.press("Escape", "e", "ArrowRight", "F2")
        browser.type("99")
        browser.press("Enter", "d")
        browser.wait("document.querySelector('dialog')")
        browser.run("document.querySelector('#commit').focus()")
        browser.press("Enter")
        browser.wait("document.getElementById('draft').disabled")
        found = run("query", small, "User", "age == 99", "--json").stdout
        assert json.loads(found)["name"] == "user 42"
        browser.press("g")
        browser.wait("document.querySelectorAll('.schema .node').length === 3")
        browser.press("i")
        browser.wait("document.querySelector('.file .pins td')")
        browser.press("c", "Enter")
        settle(browser)
        browser.press("?")
        browser.wait("document.querySelector('dialog kbd')")
        browser.press("Escape")
        browser.wait("!document.querySelector('dialog')")
    expect_sound(small)


@in_browser
def test_what_is_shown_is_exported_also_after_the_schema_and_in_the_order_of_the_query(
    browser: Browser, small: Path
) -> None:
    with studio(small) as address:
        show(browser, address)
        browser.run("document.querySelector('.grid').focus()")
        browser.press("s")  # by the name
        browser.wait("document.querySelector('.head [aria-sort=ascending]')")
        settle(browser)
        query(browser, "age < 25 SORT(age DESC, name ASC)", 10)
        settle(browser)
        assert column(browser, "age")[0] == "24"
        browser.press("Escape", "g")
        browser.wait("document.querySelectorAll('.schema .node').length === 3")
        browser.press("i")
        browser.wait("document.querySelector('.file .pins td')")
        browser.run(
            "[...document.querySelectorAll('.file button')]"
            ".find(({ textContent }) => textContent.startsWith('Export')).click()"
        )
        browser.wait("document.querySelector('dialog')")
        browser.press("Enter")
        browser.wait("document.querySelector('.jobs li')?.dataset.state === 'done'")
    lines = (small.parent / "User.csv").read_text().splitlines()
    assert len(lines) == 11 and lines[1].startswith("user 4,24,")
    expect_sound(small)


@in_browser
def test_a_part_of_a_name_that_one_object_has_is_linked(browser: Browser, small: Path) -> None:
    with studio(small) as address:
        show(browser, address)
        browser.run("document.querySelector('.grid').focus()")
        browser.press("ArrowDown", "Enter", "e")
        browser.wait("document.querySelector('#pane [data-property=friends] .movable')")
        browser.run(
            "[...document.querySelectorAll('#pane [data-property=friends] button')]"
            ".find(({ textContent }) => textContent.startsWith('Add')).click()"
        )
        browser.wait("document.querySelector('dialog .found li')")
        browser.type("user 100")
        browser.wait("!document.querySelector('dialog .found li')")
        browser.press("Enter")
        browser.wait("document.querySelector('dialog .bad').textContent.startsWith('No object')")
        browser.press("Backspace", "Backspace", "Backspace")
        browser.type("77")
        browser.wait("document.querySelectorAll('dialog .found li').length === 1")
        browser.press("Enter")
        browser.wait("document.getElementById('draft').textContent === 'Draft 1'")
        browser.click("#draft")
        browser.click("#commit")
        browser.wait("document.getElementById('draft').disabled")
        saved = json.loads(run("query", small, "User", "name == 'user 1'", "--json").stdout)
        assert "user 77" in json.dumps(saved["friends"])
    expect_sound(small)


@in_browser
def test_a_narrow_window_a_dark_one_the_schema_and_the_file(
    browser: Browser, small: Path, tmp_path: Path
) -> None:
    packages = tmp_path / "packages.toft"
    schema = tmp_path / "packages.json"
    schema.write_text(json.dumps(PACKAGES))
    run("import", packages, SAMPLE, "--schema", schema, "--ignore-missing", "--ignore-unknown")
    with studio(small, packages) as address:
        show(browser, address)
        wide = "document.documentElement.scrollWidth <= innerWidth"
        browser.resize(400, 800)
        settle(browser)
        assert browser.run(wide)
        browser.picture(PICTURES / "narrow.png")
        browser.click(".menu")
        browser.wait("getComputedStyle(document.getElementById('side')).visibility === 'visible'")
        browser.picture(PICTURES / "narrow-classes.png")
        browser.click("#side [data-name=User]")
        settle(browser)
        browser.run("document.querySelector('.grid').focus()")
        browser.press("Enter")
        browser.wait("document.querySelector('#pane [data-property=street]')")
        assert browser.run(wide)
        browser.picture(PICTURES / "narrow-object.png")
        browser.resize(1280, 800)
        browser.protocol(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": "dark"}],
        )
        settle(browser)
        browser.picture(PICTURES / "dark.png")
        browser.press("g")
        browser.wait("document.querySelectorAll('.schema .node').length === 3")
        browser.picture(PICTURES / "schema-dark.png")
        browser.protocol(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": "light"}],
        )
        browser.picture(PICTURES / "schema.png")
        browser.press("i")
        browser.wait("document.querySelector('.file .pins td')")
        for name in ["Check", "Compact"]:
            browser.run(
                "[...document.querySelectorAll('.file button')]"
                ".find(({ textContent }) => textContent === arguments[0]).click()",
                name,
            )
            browser.wait("document.querySelector('.jobs li').dataset.state === 'done'")
        assert "no problem" in browser.text(".jobs")
        browser.picture(PICTURES / "file.png")
        browser.click(".tabs button:nth-child(2)")
        browser.wait("document.querySelector('#side [data-name=Package]')")
        settle(browser)
        browser.picture(PICTURES / "packages.png")
        loaded = browser.run(
            "performance.getEntriesByType('resource').map(({name}) => new URL(name).origin)"
        )
        assert set(loaded) == {address.split("/#")[0]}
    expect_sound(small)
    expect_sound(packages)


PACKAGES = {
    "classes": [
        {
            "name": "Package",
            "properties": [
                {"name": "name", "type": "string", "primaryKey": True},
                {"name": "section", "type": "string", "indexed": True},
                {"name": "size", "type": "int"},
                {"name": "homepage", "type": "string", "optional": True},
                {"name": "tags", "type": "string", "list": True},
                link("depends", "Package", list=True),
            ],
        }
    ]
}


@in_browser
def test_the_pictures_of_the_documentation(browser: Browser, large: Path) -> None:
    folder = Path(os.environ.get("TOFT_PICTURES", PICTURES / "documentation"))
    with studio(large) as address:
        browser.resize(1280, 640)
        show(browser, address)
        query(browser, "seconds > 100 AND user.age > 60", expected())
        settle(browser)
        browser.run("document.querySelector('.grid').focus()")
        browser.press("ArrowDown", "ArrowRight", "Enter")
        browser.wait("document.querySelector('#pane [data-property=seconds]')")
        browser.picture(folder / "studio-objects.png")
        browser.press("Escape", "g")
        browser.wait("document.querySelectorAll('.schema .node').length === 3")
        browser.picture(folder / "studio-schema.png")
    assert (folder / "studio-objects.png").stat().st_size < 200_000
    expect_sound(large)


def expected() -> int:
    ages = [user(number)["age"] or 0 for number in range(100)]
    return sum(number % 1000 / 8 > 100 and ages[number % 100] > 60 for number in range(MANY))


# Against harm


def request(address: str, path: str, method: str = "GET", **headers: str) -> tuple[int, str]:
    """The status and the whole text of an answer; a header `Host` replaces the right one."""
    place = address.split("/")[2]
    name, port = place.split(":")
    lines = {"Host": place, "Connection": "close", **headers}
    text = "".join(f"{key.replace('_', '-')}: {value}\r\n" for key, value in lines.items())
    with socket.create_connection((name, int(port))) as connection:
        connection.sendall(f"{method} {path} HTTP/1.1\r\n{text}\r\n".encode())
        connection.settimeout(60)
        answer = b""
        # The connection may stay open.
        while not is_whole(answer) and (part := connection.recv(65_536)):
            answer += part
    return int(answer.split()[1]), answer.decode(errors="replace")


def is_whole(answer: bytes) -> bool:
    head, end, body = answer.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)content-length: *(\d+)", head)
    return bool(end) and len(body) >= (int(length[1]) if length else 0)


def handshake(address: str, key: str, **headers: str) -> int:
    given = {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec_WebSocket_Version": "13",
        "Sec_WebSocket_Key": base64.b64encode(bytes(16)).decode(),
        "Origin": address.split("/#")[0],
    }
    given = {name: value for name, value in {**given, **headers}.items() if value != "none"}
    return request(address, f"/socket?key={key}", **given)[0]


def test_only_the_page_itself_gets_a_socket_and_its_key_works_once(small: Path) -> None:
    with studio(small) as address:
        origin, key = address.split("/#")
        assert origin.startswith("http://127.0.0.1:")
        status, page = request(address, "/")
        assert status == 200
        assert "default-src 'none'" in page and "nosniff" in page
        assert key not in page
        assert request(address, "/main.js")[0] == 200
        for path in ["/none", "/../etc/passwd", "/%2e%2e/etc/passwd", "//main.js"]:
            assert request(address, path)[0] == 404
        assert request(address, "/", method="POST")[0] == 405
        for host in ["localhost:80", "evil.example", origin.split("//")[1] + ".evil.example"]:
            assert request(address, "/", Host=host)[0] == 403
            assert handshake(address, key, Host=host) == 403
        for other in ["none", "null", "http://evil.example", "http://127.0.0.1", origin + "1"]:
            assert handshake(address, key, Origin=other) == 403
        for other in ["", "x", key[:-1], key + "A"]:
            assert handshake(address, other) == 403
        assert handshake(address, key) == 101
        assert handshake(address, key) == 403
    expect_sound(small)


HOSTILE = """<!doctype html><title>hostile</title><script>
const results = {};
const attempt = async (name, work) => {
    try { results[name] = await work(); } catch (error) { results[name] = "refused"; }
};
const socket = (address) => new Promise((resolve, reject) => {
    const socket = new WebSocket(address);
    socket.onmessage = () => resolve("read");
    socket.onerror = () => reject();
});
const frame = () => new Promise((resolve) => {
    const frame = document.createElement("iframe");
    frame.onload = () => {
        try { resolve(frame.contentDocument.title); } catch { resolve("refused"); }
    };
    frame.src = STUDIO + "/";
    document.body.append(frame);
});
addEventListener("load", async () => {
    await attempt("read", async () => (await (await fetch(STUDIO + "/")).text()).slice(0, 9));
    const post = { method: "POST", body: "x" };
    await attempt("write", async () => (await fetch(STUDIO + "/socket", post)).status);
    await attempt("socket", () => socket(STUDIO.replace("http", "ws") + "/socket?key=" + KEY));
    await attempt("module", async () => Object.keys(await import(STUDIO + "/socket.js")).length);
    await attempt("frame", frame);
    document.title = JSON.stringify(results);
});
</script><body>"""


@in_browser
def test_a_page_from_elsewhere_can_neither_read_nor_write(browser: Browser, small: Path) -> None:
    with studio(small) as address:
        origin, key = address.split("/#")
        text = HOSTILE.replace("STUDIO", json.dumps(origin)).replace("KEY", json.dumps(key))

        class Hostile(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_: object) -> None:
                pass

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hostile) as server:
            threading.Thread(target=server.serve_forever).start()
            # Another port, and another name of the machine, are other origins, as any site is.
            for name in ["127.0.0.1", "localhost"]:
                browser.open(f"http://{name}:{server.server_port}/")
                browser.wait("document.title.startsWith('{')")
                results = json.loads(browser.run("document.title"))
                assert set(results.values()) <= {"refused", ""}, results
            server.shutdown()
        # Though it had the key, it did not use it up.
        show(browser, address)
        assert count(browser) == 100
        # Its tab keeps a key of its own; another tab has none.
        browser.open(origin + "/")
        browser.wait("document.documentElement.dataset.state === 'ready'")
        browser.run("sessionStorage.clear()")
        browser.open(origin + "/")
        browser.wait("document.documentElement.dataset.state === 'refused'")
    expect_sound(small)


def test_a_file_that_is_missing_and_a_port_in_use_are_errors(small: Path, tmp_path: Path) -> None:
    missing = run("studio", "--no-browser", tmp_path / "none.toft", status=1)
    assert "none.toft" in missing.stderr
    assert run("studio", "--no-browser", status=64).stderr
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refused = run("studio", "--no-browser", small, "--port", port, status=1)
        assert "can't listen" in refused.stderr
