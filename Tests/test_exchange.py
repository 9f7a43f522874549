"""Files of objects go between the terminal, Python and Swift: each reads what the others write."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TOFTDB = os.environ.get("TOFTDB", str(ROOT / ".build/debug/toftdb"))
BUILT = Path(os.environ.get("TOFT_SWIFT_BUILD", ROOT / ".build/debug"))
PYTHON = ROOT / "bindings/python"
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(PYTHON), str(PYTHON / "tests")])}
NAMES = ("Thing", "Part")
FORMS = {"json_lines": [], "csv": ["--csv"]}


def run(*command: object) -> str:
    done = subprocess.run([*map(str, command)], capture_output=True, timeout=120, env=ENVIRONMENT)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.decode()


def in_python(database: Path, folder: Path, command: str) -> str:
    folder.mkdir(exist_ok=True)
    return run(sys.executable, ROOT / "Tests/Exchange/objects.py", database, folder, command)


def in_swift(database: Path, folder: Path, command: str) -> str:
    folder.mkdir(exist_ok=True)
    return run(BUILT / "ExchangeSwift", database, folder, command)


def exported(database: Path, folder: Path) -> dict[str, str]:
    """What the terminal writes, which the folder gets too."""
    folder.mkdir(exist_ok=True)
    found = {}
    for how, options in FORMS.items():
        for name in NAMES:
            text = run(TOFTDB, "export", database, name, *options)
            (folder / f"{name}.{how}").write_bytes(text.encode())
            found[f"{name}.{how}"] = text
    return found


def test_objects_go_from_python_to_the_terminal_and_back_as_they_are(tmp_path: Path) -> None:
    source, schema = tmp_path / "source.toft", tmp_path / "schema.json"
    in_python(source, tmp_path, "fill")
    schema.write_text(run(TOFTDB, "schema", source, "--json"))
    in_python(source, tmp_path / "python", "write")
    expected = exported(source, tmp_path / "terminal")
    for name in NAMES:  # JSON is the same to the byte
        file = f"{name}.json_lines"
        assert (tmp_path / "python" / file).read_bytes().decode() == expected[file]
    for how, options in FORMS.items():
        database = tmp_path / f"{how}.toft"
        for name in NAMES:
            file = tmp_path / "python" / f"{name}.{how}"
            file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
            arguments = ["--class", name, "--schema", schema, *options]
            run(TOFTDB, "import", database, file, *arguments)
        assert exported(database, tmp_path / "again") == expected
    copy = tmp_path / "copy.toft"
    counts = in_python(copy, tmp_path / "terminal", "read").splitlines()
    assert counts == [f"{how} {name} 2" for how in FORMS for name in NAMES]
    again = exported(copy, tmp_path / "last")
    things = {file: text for file, text in expected.items() if file.startswith("Thing")}
    assert things.items() <= again.items()


def test_swift_writes_what_the_terminal_does_and_reads_what_each_has_written(
    tmp_path: Path,
) -> None:
    source, copy = tmp_path / "source.toft", tmp_path / "copy.toft"
    in_python(source, tmp_path, "fill")
    in_python(source, tmp_path / "python", "write")
    expected = exported(source, tmp_path / "terminal")
    counts = [f"{how} {name} 2" for how in FORMS for name in NAMES]
    assert in_swift(source, tmp_path / "swift", "write").splitlines() == counts
    for file, text in expected.items():
        assert (tmp_path / "swift" / file).read_bytes().decode() == text
    things = {file: text for file, text in expected.items() if file.startswith("Thing")}
    for writer in ("terminal", "python", "swift"):
        assert in_swift(copy, tmp_path / writer, "read").splitlines() == counts
        assert things.items() <= exported(copy, tmp_path / "again").items()
    assert in_python(copy, tmp_path / "swift", "read").splitlines() == counts
    assert things.items() <= exported(copy, tmp_path / "again").items()
