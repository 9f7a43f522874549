# Tests: Modernize.swift, SourceClasses.swift, SourceMember.swift, SourceRewrite.swift,
# SourceText.swift, SourceTokens.swift
"""`toftdb modernize`: classes that are older than @Persisted, rewritten, and lines left alone."""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TOFTDB = os.environ.get("TOFTDB", str(ROOT / "build/swift/release/toftdb"))

OLD = '''\
import RealmSwift

// @objc dynamic var comment = 0
@objcMembers
final class Dog: Object {
    @objc dynamic var name = ""  // é
    public @objc dynamic var nick: String? = nil
    dynamic var age: Int = 0
    let weight = RealmOptional<Double>()
    let size = RealmOptional<Int>(5)
    let any = RealmProperty<AnyRealmValue>()
    let friends = List<Dog>()
    private let marks: MutableSet<String> = MutableSet<String>()
    let owners = LinkingObjects(fromType: Person.self, property: "dogs")
    @objc dynamic var temp = 0
    @Persisted var done: Bool
    var plain = 0
    override static func ignoredProperties() -> [String] { return ["temp"] }
}

class Person: Base {
    let dogs = List<Dog>()
    @objc dynamic var data = Data(
        [1, 2])
}

@objc enum Kind: Int, RealmEnum { case a, b }
let text = """
    class Fake: Object { @objc dynamic var x = 1 }
    """
func use(_ dog: Dog) { dog.weight.value = Double(dog.size.value ?? 0) }
'''

NEW = '''\
import RealmSwift

// @objc dynamic var comment = 0
final class Dog: Object {
    @Persisted var name = ""  // é
    @Persisted public var nick: String? = nil
    @Persisted var age: Int = 0
    @Persisted var weight: Double?
    @Persisted var size: Int? = 5
    @Persisted var any: AnyRealmValue
    @Persisted var friends: List<Dog>
    @Persisted private var marks: MutableSet<String>
    @Persisted(originProperty: "dogs") var owners: LinkingObjects<Person>
    var temp = 0
    @Persisted var done: Bool
    var plain = 0
    override static func ignoredProperties() -> [String] { return ["temp"] }
}

class Person: Base {
    @Persisted var dogs: List<Dog>
    @Persisted var data = Data(
        [1, 2])
}

enum Kind: Int, PersistableEnum { case a, b }
let text = """
    class Fake: Object { @objc dynamic var x = 1 }
    """
func use(_ dog: Dog) { dog.weight = Double(dog.size ?? 0) }
'''

BASE = """\
import RealmSwift

class Base: Object { @objc dynamic var id = ""; let note = RealmOptional<Int>() }
"""

UNSURE = """\
import RealmSwift

class Cat: Object {
    @objc dynamic var full: String { "x" }
    @objc dynamic var watched = 0 { didSet { print(watched) } }
    dynamic var a = 1, b = 2
    @objc dynamic var born = NSDate()
    @objc dynamic var names: [String] = []
    @objc(other) dynamic var renamed = 0
    let lives: RealmOptional<Int>
    let made = RealmOptional<Int>(number())
    lazy var kittens = List<Cat>()
    var all: List<Cat> { kittens }
    @objc func purr() {}
    override init() {}
}
let predicate = NSPredicate(format: "a > 1")
class View: NSObject { @objc dynamic var text = "" }
"""


def run(*arguments: object, status: int = 0) -> str:
    done = subprocess.run(
        [TOFTDB, "modernize", *map(str, arguments)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


def test_older_classes_are_shown_rewritten_and_written_when_asked(tmp_path: Path) -> None:
    folder = tmp_path / "Sources"
    (folder / ".hidden").mkdir(parents=True)
    (folder / "Dog.swift").write_text(OLD)
    (folder / "Base.swift").write_text(BASE)
    (folder / ".hidden/Old.swift").write_text(OLD)
    os.chmod(folder / "Dog.swift", 0o640)
    shown = run(folder)
    assert (folder / "Dog.swift").read_text() == OLD
    assert '-    @objc dynamic var name = ""  // é\n' in shown
    assert '+    @Persisted var name = ""  // é\n' in shown
    assert "2 files to rewrite: do it with --write" in shown and "Left" not in shown
    assert run(folder, "--write").endswith("2 files rewritten\n")
    assert (folder / "Dog.swift").read_text() == NEW
    assert (folder / "Dog.swift").stat().st_mode & 0o777 == 0o640
    assert (
        (folder / "Base.swift")
        .read_text()
        .endswith('{ @Persisted var id = ""; @Persisted var note: Int? }\n')
    )
    assert (folder / ".hidden/Old.swift").read_text() == OLD
    assert run(folder) == "nothing to rewrite\n"


def test_the_diff_is_one_that_patch_takes(tmp_path: Path) -> None:
    (tmp_path / "Dog.swift").write_text(OLD + BASE)
    shown = subprocess.run(
        [TOFTDB, "modernize", "Dog.swift"], capture_output=True, text=True, cwd=tmp_path
    ).stdout
    difference = shown[: shown.index("1 file to rewrite")]
    subprocess.run(
        ["git", "apply", "-p0", "-"], input=difference, text=True, cwd=tmp_path, check=True
    )
    patched = (tmp_path / "Dog.swift").read_text()
    (tmp_path / "Dog.swift").write_text(OLD + BASE)
    run(tmp_path / "Dog.swift", "--write")
    assert (tmp_path / "Dog.swift").read_text() == patched


def test_lines_that_text_does_not_decide_are_left_and_listed(tmp_path: Path) -> None:
    path = tmp_path / "Cat.swift"
    path.write_text(UNSURE)
    shown = run(path, "--write")
    assert path.read_text() == UNSURE and "nothing to rewrite" in shown
    lines = [line for line in shown.splitlines() if line.startswith(str(path))]
    assert [int(line.split(":")[1]) for line in lines] == [4, 5, 6, 7, 8, 9, 10, 11, 14, 15, 17]
    values = [json.loads(line) for line in run(path, "--json").splitlines()]
    assert [value["line"] for value in values] == [4, 5, 6, 7, 8, 9, 10, 11, 14, 15, 17]
    assert all(value["left"] for value in values)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_box_that_shares_its_name_keeps_its_value(tmp_path: Path, end: str) -> None:
    path = tmp_path / "Dog.swift"
    source = (
        "import RealmSwift\nclass Dog: Object { let age = RealmOptional<Int>() }\n"
        "struct Age { var age: Box }\nfunc f(_ a: Age) { a.age.value = 3 }\n"
    ).replace("\n", end)
    path.write_bytes(source.encode())
    shown = run(path, "--write")
    assert ":4: 'age' was a box" in shown
    assert path.read_bytes().decode() == source.replace(
        "let age = RealmOptional<Int>()", "@Persisted var age: Int?"
    )


def test_files_that_are_missing_or_no_text_are_errors(tmp_path: Path) -> None:
    run(tmp_path / "none.swift", status=64)
    (tmp_path / "bad.swift").write_bytes(b"class A {\xff}")
    run(tmp_path, status=64)
    (tmp_path / "bad.swift").write_bytes(b"")
    assert run(tmp_path) == "nothing to rewrite\n"
    (tmp_path / "bad.swift").write_bytes(b'import RealmSwift\nclass A: Object { let x = "')
    assert "nothing" in run(tmp_path)
