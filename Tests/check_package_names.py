#!/usr/bin/env python3
"""Lists `package` declarations that no other target uses, and fails when there is one.

    Tests/check_package_names.py [TARGET ...]

A name counts as used if its word occurs in the code (not in a comment or a string) of another
target of Sources, of the test kit or of the trials; an initializer, if the name of its type
precedes a parenthesis. A type in the signature of a used declaration counts as used, because it
must be as visible. Words say less than the compiler knows: a name that also exists in another
target is not found.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHECKED = [
    *("ToftPlatform", "ToftStorage", "ToftRealmFile", "ToftModel", "ToftQuery", "ToftEngine"),
    "ToftExchange",
]
USERS = [path for path in sorted((ROOT / "Sources").iterdir()) if path.is_dir()] + [
    ROOT / "Tests/ToftTestKit",
    ROOT / "Tests/ToftTrials",
]
TYPES = {"struct", "class", "enum", "protocol", "typealias"}
# Members that protocols of the standard library require by name.
WITNESSES = {
    *("description", "debugDescription", "hash", "next", "rawValue", "allCases", "encode"),
    *("makeIterator", "count", "startIndex", "endIndex", "index", "id"),
}
DECLARATION = re.compile(
    r"^(?P<indent> *)(?:@\w+(?:\([^)]*\))?\s+)*package\s+(?:(?:private|internal)\(set\)\s+)?"
    r"(?:(?:static|final|mutating|nonmutating|convenience|required|indirect|override"
    r"|nonisolated(?:\(unsafe\))?|class(?=\s+(?:func|var)))\s+)*"
    r"(?P<kind>func|var|let|init|subscript|struct|class|enum|protocol|typealias)\b"
    r"\s*(?P<name>[\w$]*)",
    re.MULTILINE,
)
TYPE = re.compile(
    r"^(?P<indent> *)(?:[@\w()]+\s+)*(?:struct|class|enum|protocol|extension)\s+(?P<name>[\w.]+)",
    re.MULTILINE,
)
CONTINUED = re.compile(r"\s*(?:throws|->|where|async|\{)")


def code(path):
    """The file without comments and without the text of its strings; its lines stay."""
    text = re.sub(r"//[^\n]*", "", path.read_text())
    return re.sub(r'"(?:[^"\\\n(]|\\[^(\n]|\((?!\\))*"', '""', text)


def signature(text, start):
    """The declaration up to its body, its value, or the end of a line outside parentheses."""
    depth = 0
    for index in range(start, len(text)):
        character = text[index]
        if character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif depth > 0:
            continue
        elif character in "{=":
            return text[start:index]
        elif character == "\n" and not CONTINUED.match(text, index):
            return text[start:index]
    return text[start:]


def cases(text, start, indent):
    """The cases of an enum with what they carry."""
    end = re.compile(rf"^ {{{indent}}}\}}", re.MULTILINE).search(text, start)
    body = text[start : end.start() if end else None]
    return " ".join(re.findall(r"^\s*(?:indirect )?case [^\n]*", body, re.MULTILINE))


def declarations(target):
    """Every `package` declaration of a target."""
    for path in sorted((ROOT / "Sources" / target).rglob("*.swift")):
        text = code(path)
        types = [
            (match.start(), len(match["indent"]), match["name"].split(".")[-1])
            for match in TYPE.finditer(text)
        ]
        for match in DECLARATION.finditer(text):
            indent = len(match["indent"])
            words = signature(text, match.start("kind"))
            if match["kind"] == "enum":
                words += cases(text, match.start(), indent)
            # The innermost type around the declaration begins before it and further left.
            owners = [
                name for start, depth, name in types if start < match.start() and depth < indent
            ]
            line = text.count("\n", 0, match.start("kind")) + 1
            yield {
                "where": f"{path.relative_to(ROOT)}:{line}",
                "kind": match["kind"],
                "name": match["name"],
                "owner": owners[-1] if owners else "",
                "signature": words,
            }


def is_used(item, words, calls):
    """Whether the code of the other targets names a declaration."""
    if item["kind"] == "init":
        # Protocols ask for these: `ExpressibleByIntegerLiteral`, and that of identifiers.
        if item["signature"].startswith(("init(integerLiteral", "init(_ rawValue")):
            return True
        return item["owner"] in calls or ("init" in calls and item["owner"] in words)
    if item["kind"] == "subscript" or not item["name"]:
        return True
    return item["name"] in words or item["name"] in WITNESSES


def unused(target):
    """The declarations of a target that no other target uses."""
    words, calls = set(), set()
    for user in USERS:
        if user.name == target:
            continue
        for path in user.rglob("*.swift"):
            text = code(path)
            words.update(re.findall(r"\w+", text))
            calls.update(re.findall(r"(\w+)(?=\()", text))
    used, rest = [], []
    for item in declarations(target):
        (used if is_used(item, words, calls) else rest).append(item)
    # Types that signatures of used declarations name, until no more are found.
    while True:
        named = set(re.findall(r"\w+", " ".join(item["signature"] for item in used)))
        more = [item for item in rest if item["kind"] in TYPES and item["name"] in named]
        if not more:
            return rest
        used += more
        rest = [item for item in rest if item not in more]


def main():
    found = [item for target in sys.argv[1:] or CHECKED for item in unused(target)]
    for item in found:
        name = item["name"] or item["kind"]
        if item["owner"]:
            name = f"{item['owner']}.{name}"
        print(f"{item['where']}: no other target uses `package {item['kind']} {name}`")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
