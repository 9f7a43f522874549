"""Values of every type go between C, Python and Swift: each program writes its objects into one
file and prints those of all, byte by byte.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "Tests/EveryType"
BUILT = Path(os.environ.get("TOFT_SWIFT_BUILD", ROOT / ".build/debug"))
TOFTDB = os.environ.get("TOFTDB", str(ROOT / "build/swift/release/toftdb"))
LIBRARY = Path(os.environ.get("TOFT_LIBRARY", ROOT / "build/libtoft.so")).resolve()
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "bindings/python")}


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[object]]:
    in_c = tmp_path_factory.mktemp("programs") / "every_type"
    includes = [f"-I{ROOT / 'include'}", f"-I{ROOT / 'bindings/c/examples'}"]
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", f"-Wl,-rpath,{LIBRARY.parent}"]
    command = ["cc", *flags, *includes, SOURCES / "every_type.c", LIBRARY, "-o", in_c]
    subprocess.run(command, check=True)
    return {
        "C": [in_c],
        "Python": [sys.executable, SOURCES / "every_type.py"],
        "Swift": [BUILT / "EveryType"],
    }


def test_each_language_reads_every_type_as_the_others_wrote_it(
    programs: dict[str, list[object]], tmp_path: Path
) -> None:
    database = tmp_path / "every.toft"

    def run(language: str, command: str) -> str:
        arguments = [str(part) for part in (*programs[language], database, command)]
        done = subprocess.run(arguments, capture_output=True, timeout=60, env=ENVIRONMENT)
        assert done.returncode == 0, f"{language} {command}: {done.stderr.decode()}"
        return done.stdout.decode("ascii")

    for language in programs:
        run(language, "write")
    for language in programs:
        run(language, "touch")
    printed = {language: run(language, "print") for language in programs}
    assert printed["Python"] == printed["C"]
    assert printed["Swift"] == printed["C"]
    expected = (SOURCES / "expected.txt").read_text()
    written = printed["C"].split("writer=")[1:]
    assert len(written) == 2 * len(programs)
    for language, *objects in zip(programs, written[::2], written[1::2]):
        name = language.encode().hex()
        own = "".join(f"writer={each}" for each in objects)
        assert own.replace(f"{name}2f", "2f") == expected, language
    # Only C reads and writes single nanoseconds; writing other properties leaves them.
    assert run("C", "precise").split() == ["t-1:-999999999", *["null"] * 5]
    check = [TOFTDB, "check", str(database), "--json"]
    assert '"problems":[]' in subprocess.run(
        check, check=True, capture_output=True, text=True
    ).stdout.replace(" ", "")
