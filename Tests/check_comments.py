#!/usr/bin/env python3
"""Refuses comments that hide their subject: python3 Tests/check_comments.py

A sentence that opens with "What", "The same", "Where" or "Who" has a clause or a reference in the
place of its subject: it names neither the value nor the function. Two further habits are limited
in number: "where" for "if", and "none" for "not", "no" or nil.
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OPENING = re.compile(r"(?:^|[.!?] +|^- [^:.]*: )(What|The same|Where|Who)\b")
CLAUSE = re.compile(
    r"\b[Ww]here (?:a|all|an|another|both|each|he|it|its|many|no|nobody|nothing|one|only|several|"
    r"some|such|that|the|there|these|they|this|those|two)\b"
)
NONE = re.compile(r"\bnone\b")
# Sentences of all comments in Sources that may have them.
LIMITS = {"'where' before a clause": (CLAUSE, 50), "'none'": (NONE, 40)}
SLASHES, HASHES = re.compile(r"\s*//+!? ?"), re.compile(r"\s*#+:? ?")

# A paragraph: the number of its first line, and its lines without the marks of a comment.
Paragraph = tuple[int, list[str]]


def marked(lines: list[str], mark: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    """The lines that are comments from their beginning on, with their numbers."""
    for number, line in enumerate(lines, 1):
        if match := mark.match(line):
            yield number, line[match.end() :]


def in_blocks(text: str) -> Iterator[tuple[int, str]]:
    """The lines of comments between /* and */."""
    for block in re.finditer(r"/\*([\s\S]*?)\*/", text):
        first = text.count("\n", 0, block.start()) + 1
        for number, line in enumerate(block[1].split("\n"), first):
            yield number, re.sub(r"^\s*\*? ?", "", line)


def in_python(text: str) -> Iterator[tuple[int, str]]:
    """The lines of comments and of documentation strings."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not token.line[: token.start[1]].strip():
            yield token.start[0], HASHES.sub("", token.string, count=1)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            if isinstance(node.value.value, str):
                yield node.lineno - 1, ""
                yield from enumerate(node.value.value.split("\n"), node.lineno)


def comments(path: Path) -> Iterator[tuple[int, str]]:
    text = path.read_text()
    if path.suffix == ".py":
        return in_python(text)
    if path.suffix in (".c", ".cc", ".h", ".m", ".swift"):
        lines = list(marked(text.split("\n"), SLASHES))
        return iter(lines + ([] if path.suffix == ".swift" else list(in_blocks(text))))
    return marked(text.split("\n"), HASHES)


def paragraphs(path: Path) -> Iterator[Paragraph]:
    """The paragraphs of a file's comments, without code between fences or set in by 4 columns."""
    current, last, is_code = [], 0, False
    for number, line in comments(path):
        fence = line.strip().startswith("```")
        begins = re.match(r"\s*(?:[-*] |\d+\. )", line)
        ends = not line.strip() or fence or is_code or line.startswith("    ") and not begins
        if current and (ends or begins or number != last + 1):
            yield last - len(current) + 1, current
            current = []
        is_code ^= fence
        if not ends:
            current.append(line.strip())
        last = number
    if current:
        yield last - len(current) + 1, current


def main() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "*.c", "*.cc", "*.cmake", "*.h", "*.m", "*.py", "*.swift"]
        + ["*CMakeLists.txt", "Tests/lint", "Tests/run", "Tests/run-long"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    faults = []
    found = dict.fromkeys(LIMITS, 0)
    for name in listed:
        # A header of an earlier version stays as it was.
        if "/abi-" in name or name.endswith("_ffi.py"):
            continue
        for first, lines in paragraphs(ROOT / name):
            text = re.sub(r"`[^`]*`", "``", " ".join(lines))
            for opening in OPENING.finditer(text):
                faults.append(f"{name}:{first}: a sentence opens with '{opening[1]}'")
            if name.startswith("Sources/"):
                for habit, (pattern, _) in LIMITS.items():
                    found[habit] += len(pattern.findall(text))
    for habit, (_, limit) in LIMITS.items():
        if found[habit] > limit:
            faults.append(f"comments of Sources have {habit} {found[habit]} times; {limit} at most")
    if faults:
        sys.exit("\n".join(faults))
    print("comments: all sentences begin with their subject")


if __name__ == "__main__":
    main()
