"""The table of features is whole, its tests exist, and its page is made from it."""

import re
from pathlib import Path

import features
import pytest

ROOT = Path(__file__).resolve().parents[1]
ROWS = features.features()
BELOW_C = ("ToftStorageTests", "ToftModelTests", "ToftQueryTests", "ToftEngineTests")


def swift_tests(*targets: str) -> set[str]:
    """The names of tests as the table has them, between backticks."""
    sources = [path for name in targets for path in (ROOT / "Tests" / name).rglob("*.swift")]
    return {
        name for path in sources for name in re.findall(r"\bfunc\s+(`[^`]+`)", path.read_text())
    }


def python_tests(folder: str) -> set[str]:
    return {
        name
        for path in (ROOT / folder).glob("test_*.py")
        for name in re.findall(r"^ *(?:async )?def (test_\w+)\(", path.read_text(), re.MULTILINE)
    }


TESTS = {
    "C": python_tests("bindings/c/tests") | swift_tests(*BELOW_C),
    "Python": python_tests("bindings/python/tests"),
    "Swift": swift_tests("ToftTests"),
}


def test_rows_are_numbered_in_each_group_and_none_is_empty() -> None:
    for letter in features.GROUPS:
        numbers = [row.id for row in ROWS if row.id[0] == letter]
        assert numbers == [f"{letter}{number}" for number in range(1, len(numbers) + 1)]
    assert {row.id[0] for row in ROWS} == set(features.GROUPS)
    texts = [row.text for row in ROWS]
    assert len(set(texts)) == len(texts) and all(text.strip() == text != "" for text in texts)
    assert all("|" not in cell for row in ROWS for cell in (row.text, *row.states))


def wrong(api: str, state: str) -> str:
    """The fault of a state; empty without one."""
    kind, _, rest = state.partition(": ")
    if kind == "tested":
        return "" if rest in TESTS[api] else f"there is no test {rest}"
    if kind == "none":
        return "" if rest.strip() == rest != "" else "says no reason"
    if kind == "later":
        return "" if rest in features.LATER else f"there is no group '{rest}'"
    return "is neither tested nor none nor later"


@pytest.mark.parametrize("row", ROWS, ids=[row.id for row in ROWS])
def test_each_api_has_a_state_and_each_test_exists(row: features.Feature) -> None:
    assert len(row.states) == len(features.APIS)
    problems = {api: wrong(api, state) for api, state in zip(features.APIS, row.states)}
    assert not any(problems.values()), problems


@pytest.mark.parametrize(
    ("api", "state"),
    [
        ("C", ""),
        ("C", "tested"),
        ("Swift", "tested: `No such test`"),
        ("Swift", "tested: test_the_first_program"),
        ("C", "tested: test_the_first_program"),
        ("Python", "tested: `A new object has the defaults of its declarations`"),
        ("Python", "none"),
        ("Python", "none: "),
        ("Swift", "later: untested"),
        ("Swift", "soon: sync"),
    ],
)
def test_what_is_no_state_is_found(api: str, state: str) -> None:
    assert wrong(api, state)


def test_the_page_is_made_from_the_table() -> None:
    assert features.PAGE.read_text() == features.page(ROWS), "Tests/features.py --write"
