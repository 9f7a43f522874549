"""Files of objects go between the terminal and Python: each reads what the other has written."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TOFTDB = os.environ.get("TOFTDB", str(ROOT / ".build/debug/toftdb"))
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
