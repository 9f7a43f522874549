"""The layers inside a target.

Each folder uses only types of itself and of those before it in the order below. One target is one
module to the compiler, so it refuses nothing here. And the modules of the Python package import
each other in no circle.
"""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ORDER = {
    "ToftPlatform": "System Memory Locks Processes Threads Files".split(),
    "ToftStorage": (
        "Bytes Format Cipher Mapping Pager Node Tree TreeWrite List Cluster TableWrite "
        "Log Sharing Transaction Check Copy Opening Salvage"
    ).split(),
    "ToftModel": (
        "Decimal Value Schema StoredSchema SchemaPlan Handles Object Collection Index "
        "Buffer Write SchemaWrite Salvage"
    ).split(),
    "ToftQuery": "Text Syntax Bound Bind Plan Batch Nodes Run".split(),
    "ToftEngine": (
        "Errors Change Definition Calculate Observe Database Session Results Handles JSON "
        "Opening RealmImport"
    ).split(),
    "ToftSync": "Value Change Wire State Resolver Replica".split(),
    "ToftCAPI": "Arguments Handles Realms Objects Results".split(),
    "ToftCLI": "Terminal Commands Demo".split(),
}
# Arrows that still point up: (target, folder, type of a later folder). No arrow may be added; one
# that no longer exists must be removed here.
KNOWN: set[tuple[str, str, str]] = {
    ("ToftStorage", "Bytes", "RegionEntry"),
    ("ToftStorage", "Mapping", "DirtyPages"),
    ("ToftStorage", "TableWrite", "ExtentMove"),
    ("ToftStorage", "Transaction", "Recovery"),
    ("ToftModel", "Decimal", "DigitReader"),
    ("ToftModel", "Schema", "UTF8Text"),
}
DECLARATION = re.compile(
    r"^(?:@[\w()]+ +)*(?:(?:package|internal|public|final|indirect|private|fileprivate|nonisolated"
    r"|open|private\(set\)) +)*(?:struct|class|enum|protocol|typealias|actor) +([A-Z]\w*)",
    re.MULTILINE,
)


def code(path: Path) -> str:
    """A source without comments and texts."""
    text = re.sub(r'"""(?:.|\n)*?"""', '""', path.read_text())
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r"/\*(?:.|\n)*?\*/", "", text)
    return re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)


def upward(target: str) -> set[tuple[str, str, str]]:
    order = ORDER[target]
    home: dict[str, str] = {}
    sources: list[tuple[str, str]] = []
    for path in sorted((ROOT / "Sources" / target).rglob("*.swift")):
        folder = path.relative_to(ROOT / "Sources" / target).parts[0]
        text = code(path)
        sources.append((folder, text))
        for name in DECLARATION.findall(text):
            # A name that two folders have (private types) says nothing.
            home[name] = folder if home.get(name, folder) == folder else ""
    found = set()
    for folder, text in sources:
        if folder not in order:
            continue
        for name in set(re.findall(r"\b[A-Z]\w*", text)):
            there = home.get(name)
            if there in order and order.index(there) > order.index(folder):
                found.add((target, folder, name))
    return found


def test_no_folder_names_a_type_of_a_later_one() -> None:
    found = set().union(*(upward(target) for target in ORDER))
    assert found == KNOWN, (
        f"new: {sorted(found - KNOWN)}; to be removed from KNOWN: {sorted(KNOWN - found)}"
    )


def test_every_folder_has_its_place_in_the_order() -> None:
    for target, order in ORDER.items():
        folders = {
            path.relative_to(ROOT / "Sources" / target).parts[0]
            for path in (ROOT / "Sources" / target).glob("*/*.swift")
        }
        assert folders <= set(order), f"{target}: {sorted(folders - set(order))}"


def python_imports(path: Path) -> set[str]:
    """The modules of its package that a module imports, anywhere but for a type checker."""
    tree = ast.parse(path.read_text())
    guarded = {
        node
        for condition in ast.walk(tree)
        if isinstance(condition, ast.If) and "TYPE_CHECKING" in ast.unparse(condition.test)
        for statement in condition.body
        for node in ast.walk(statement)
    }
    used: set[str] = set()
    for node in ast.walk(tree):
        if node not in guarded and isinstance(node, ast.ImportFrom) and node.level == 1:
            used |= {node.module.split(".")[0]} if node.module else {a.name for a in node.names}
    return used


def test_the_modules_of_the_python_package_import_each_other_in_no_circle() -> None:
    modules = {path.stem: path for path in (ROOT / "bindings/python/toft").glob("*.py")}
    waiting = {name: python_imports(path) & modules.keys() for name, path in modules.items()}
    while ready := {name for name, used in waiting.items() if not used & waiting.keys()}:
        for name in ready:
            del waiting[name]
    assert not waiting, {name: sorted(used & waiting.keys()) for name, used in waiting.items()}
