#!/usr/bin/env python3
"""Lists `package` declarations that no other target uses, and fails when there is one.

    Tests/check_package_names.py [TARGET ...]

`package` marks what another target calls. A name counts as used where its word stands in the code (comments and strings left
out) of another target of Sources, of the test kit or of the trials; an initializer, where the name of its type stands before a
parenthesis. The type of a used declaration's signature must be as visible as the declaration, so it counts as used, too. Words
say less than the compiler knows: a name that means something else in another target is not found.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Targets whose names are all in use. ToftStorage joins when its reading and writing halves are apart.
CHECKED = ["ToftModel", "ToftQuery", "ToftEngine"]
USERS = [path for path in sorted((ROOT / "Sources").iterdir()) if path.is_dir()] + [
    ROOT / "Tests/ToftTestKit", ROOT / "Tests/ToftTrials"]
# What protocols of the standard library ask for by name.
WITNESSES = {"description", "debugDescription", "hash", "next", "rawValue", "allCases", "encode", "makeIterator", "count",
             "startIndex", "endIndex", "index", "id"}
DECLARATION = re.compile(
    r"^(?P<indent>[ ]*)(?:@\w+(?:\([^)]*\))?\s+)*package\s+(?:private\(set\)\s+|internal\(set\)\s+)?"
    r"(?:(?:static|final|mutating|nonmutating|convenience|required|indirect|override|nonisolated(?:\(unsafe\))?|class(?=\s+(?:func|var)))\s+)*"
    r"(?P<kind>func|var|let|init|subscript|struct|class|enum|protocol|typealias|actor)\b\s*(?P<name>[\w$]*)", re.MULTILINE)
TYPE = re.compile(r"^(?P<indent>[ ]*)(?:[@\w()]+\s+)*(?:struct|class|enum|protocol|extension|actor)\s+(?P<name>[\w.]+)", re.MULTILINE)


def code(path):
    """The file without comments and without what stands in strings, its lines kept."""
    text = path.read_text()
    text = re.sub(r"//[^\n]*", "", text)
    return re.sub(r'"(?:[^"\\\n(]|\\[^(\n]|\((?!\\))*"', '""', text)


def signature(text, start):
    """From the declaration to its body, its value or the end of its line with all parentheses closed."""
    depth = 0
    for index in range(start, len(text)):
        character = text[index]
        if character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif depth <= 0 and character in "{=":
            return text[start:index]
        elif depth <= 0 and character == "\n" and not re.match(r"\s*(?:throws|->|where|async|\{)", text[index:]):
            return text[start:index]
    return text[start:]


def cases(text, start, indent):
    """What the cases of an enum carry."""
    end = re.compile(rf"^[ ]{{{indent}}}\}}", re.MULTILINE).search(text, start)
    return " ".join(re.findall(r"^\s*(?:indirect )?case [^\n]*", text[start:end.start() if end else None], re.MULTILINE))


def declarations(target):
    for path in sorted((ROOT / "Sources" / target).rglob("*.swift")):
        text = code(path)
        types = [(match.start(), len(match["indent"]), match["name"].split(".")[-1]) for match in TYPE.finditer(text)]
        for match in DECLARATION.finditer(text):
            indent = len(match["indent"])
            owners = [name for start, depth, name in types if start < match.start() and depth < indent]
            words = signature(text, match.start("kind"))
            if match["kind"] == "enum":
                words += cases(text, match.start(), indent)
            # The owner: the last type that begins before the declaration and stands further left.
            yield {"where": f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, match.start('kind')) + 1}",
                   "kind": match["kind"], "name": match["name"], "owner": owners[-1] if owners else "",
                   "signature": words}


def unused(target):
    words, calls = set(), set()
    for user in USERS:
        if user.name == target:
            continue
        for path in user.rglob("*.swift"):
            text = code(path)
            words.update(re.findall(r"\w+", text))
            calls.update(re.findall(r"(\w+)(?=\()", text))
    everything = list(declarations(target))
    used, waiting = [], []
    for item in everything:
        if item["kind"] == "init":
            seen = item["owner"] in calls or "init" in calls and item["owner"] in words
        elif item["kind"] == "subscript":
            seen = True
        else:
            seen = item["name"] in words or item["name"] in WITNESSES or not item["name"]
        (used if seen else waiting).append(item)
    # Types that signatures of used declarations name, until no more are found.
    while True:
        named = set(re.findall(r"\w+", " ".join(item["signature"] for item in used)))
        more = [item for item in waiting
                if item["kind"] in ("struct", "class", "enum", "protocol", "typealias") and item["name"] in named]
        if not more:
            return waiting
        used += more
        waiting = [item for item in waiting if item not in more]


def main():
    found = [item for target in sys.argv[1:] or CHECKED for item in unused(target)]
    for item in found:
        name = f"{item['owner']}.{item['name'] or item['kind']}" if item["owner"] else item["name"]
        print(f"{item['where']}: no other target uses `package {item['kind']} {name}`")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
