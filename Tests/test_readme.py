"""README.md is true:

its commands are there, and its program runs as printed in each language, on one file. toft.h begins
with that of C. Everything that the pages about the source and the tests name is there.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text()
PAGES = ROOT / "Sources/Toft/Toft.docc"
LIBRARY = Path(os.environ.get("TOFT_LIBRARY", ROOT / "build/libtoft.so")).resolve()
PRINTED = "1 young dogs\n"


def printed(language: str, number: int = 0) -> str:
    return re.findall(rf"```{language}\n(.*?)```", README, re.S)[number]


def run(folder: Path, *command: object) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "bindings/python")}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    return done.stdout


def built_in_swift() -> Path:
    """A package of its own, as printed except for Toft's place.

    It stays in the build folder, so that only changes are compiled.
    """
    folder = ROOT / "build/readme/dogs"
    (folder / "Sources/dogs").mkdir(parents=True, exist_ok=True)
    manifest = printed("swift", 1).replace('path: "../toft"', f'path: "{ROOT}"')
    for path, text in {
        folder / "Sources/dogs/main.swift": printed("swift", 0),
        folder / "Package.swift": manifest,
    }.items():
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    path = f"{os.environ['PATH']}:/opt/swift/usr/bin"
    done = subprocess.run(
        ["swift", "build", "--package-path", folder],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "main.swift:" not in done.stdout, done.stdout  # no warning
    return folder / ".build/debug/dogs"


def built_in_c(folder: Path) -> Path:
    source, program = folder / "dogs.c", folder / "dogs"
    source.write_text(printed("c"))
    flags = [
        "-std=c11",
        "-Wall",
        "-Wextra",
        "-Wpedantic",
        "-Werror",
        f"-I{ROOT / 'include'}",
        str(LIBRARY),
        f"-Wl,-rpath,{LIBRARY.parent}",
    ]
    subprocess.run(["cc", str(source), "-o", str(program), *flags], check=True)
    return program


def test_the_program_runs_as_printed_in_each_language_on_one_file(tmp_path: Path) -> None:
    in_python = tmp_path / "dogs.py"
    in_python.write_text(printed("python"))
    programs = [[built_in_swift()], [built_in_c(tmp_path)], [sys.executable, in_python]]
    for program in programs * 2:
        assert run(tmp_path, *program) == PRINTED


def test_toft_h_begins_with_the_program() -> None:
    header = (ROOT / "include/toft.h").read_text()
    indented = header.split(" * A program:\n *\n")[1].split(" *\n * CONVENTIONS\n")[0]
    program = re.sub(r"^ \*(?:     )?", "", indented, flags=re.M)
    assert program == printed("c")


def test_the_two_commands_are_there_and_ci_runs_the_second() -> None:
    prose = re.sub(r"```.*?```", "", README, flags=re.S)
    demo, tests = re.findall(r"^    (\S+(?: demo)?)$", prose, re.M)
    assert demo == "cmake/toftdb demo"
    for command in (demo.split()[0], tests):
        assert os.access(ROOT / command, os.X_OK), command
    ci = (ROOT / ".ci/run").read_text()
    assert f"\n{tests}\n" in ci and f"\n{tests} --thorough\n" in ci


def test_the_top_of_the_project_holds_nothing_else() -> None:
    made = {"build", "Package.resolved"}
    names = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}
    assert names - made == {
        "LICENSE",
        "Package.swift",
        "README.md",
        "Sources",
        "Tests",
        "bindings",
        "cmake",
        "include",
    }


def test_what_it_names_is_there() -> None:
    contributing = (PAGES / "Contributing.md").read_text()
    for path in re.findall(
        r"`((?:Sources|Tests|bindings|include|cmake)/[^`\s]+)", README + contributing
    ):
        assert (ROOT / path.rstrip("/")).exists(), path
    for page in re.findall(r"`(\w+\.md)`", README):
        assert (PAGES / page).exists(), page


def test_the_source_has_what_reading_the_source_names() -> None:
    walks = (PAGES / "ReadingTheSource.md").read_text()
    source = "\n".join(path.read_text() for path in (ROOT / "Sources").rglob("*.swift"))
    for name in set(re.findall(r"`([A-Za-z_]\w*(?:\.(?!swift)\w+)?)`", walks)):
        type_name, _, member = name.rpartition(".")
        kinds = r"\b(?:class|struct|enum|protocol|func|var|case)"
        assert re.search(rf"{kinds} {member}\b", source), name
        assert not type_name or re.search(rf"{kinds} {type_name}\b", source), name
