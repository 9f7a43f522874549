"""Arguments that a call cannot take: each error says what is due in their place."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from math import inf
from typing import Any, Protocol, TextIO

from .errors import InvalidArgumentError, TypeMismatchError

LinesToRead = Iterable[str] | str | os.PathLike[str]
"""A file that is open as text, or the path of one; also whatever gives lines."""
LinesToWrite = TextIO | str | os.PathLike[str]


def whole_number(what: str, value: Any) -> int:
    """A number of things. `what`: "A limit"."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{what} is a whole number, not {value!r:.80}") from None


def depth_of(value: Any) -> int:
    """Over how many links a call goes, which comes before anything else."""
    return max(0, whole_number("The depth, over how many links to go,", value))


def seconds_of(value: Any) -> float:
    """A time to wait."""
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        raise TypeError(f"a timeout is a number of seconds, or None, not {value!r:.80}")
    try:
        return float(value)
    except OverflowError:  # an int beyond any clock
        return inf if value > 0 else 0.0


def require_function(name: str, value: object) -> None:
    """Raises InvalidArgumentError if an argument is neither a function nor None."""
    if value is not None and not callable(value):
        raise InvalidArgumentError(f"{name} is a function to call, not {value!r:.80}.")


class Model(Protocol):
    """A model of pydantic, or what dumps itself in the same way."""

    def model_dump(self, *, exclude_unset: bool = False) -> dict[str, Any]:
        """The fields by name; `exclude_unset`: those that it was given."""


def fields_of(model: Any, *, updates: bool) -> Mapping[str, Any] | None:
    """The values of a mapping, or of a model: all of them for a new object, and those that it was
    given if an existing one may be updated. None: it is neither.
    """
    if isinstance(model, Mapping):
        return model
    dump = getattr(type(model), "model_dump", None)
    return None if dump is None else dump(model, exclude_unset=updates)


def properties_given(
    values: Any, named: Mapping[str, Any], *, updates: bool = False
) -> Mapping[str, Any]:
    """The values of an object that come as a mapping or a model, by name, or both."""
    if values is None:
        return named
    if (mapping := fields_of(values, updates=updates)) is None:
        raise TypeMismatchError(
            f"The values of an object are given by name, name='Rex', or as a mapping, not as "
            f"{values!r:.80}."
        )
    return {**mapping, **named}


@contextmanager
def lines_of(file: LinesToRead) -> Iterator[Iterable[str]]:
    """A file to read."""
    if isinstance(file, str) and ("\n" in file or file.lstrip().startswith(("{", "["))):
        raise InvalidArgumentError(
            f"{file!r:.80} is not the path of a file: for a text say io.StringIO(text)."
        )
    if isinstance(file, (str, os.PathLike)):
        with open(file, encoding="utf-8", newline="") as opened:
            yield opened
    elif isinstance(file, (bytes, bytearray, Mapping)) or not isinstance(file, Iterable):
        raise InvalidArgumentError(
            f"Lines are read from a file that is open, or from the path of one, not {file!r:.80}."
        )
    else:
        yield file


@contextmanager
def file_of(file: LinesToWrite) -> Iterator[TextIO]:
    """A file to write, from its beginning if it is a path."""
    if isinstance(file, (str, os.PathLike)):
        with open(file, "w", encoding="utf-8", newline="") as opened:
            yield opened
    elif callable(getattr(file, "write", None)):
        yield file
    else:
        raise InvalidArgumentError(
            f"Lines are written to a file that is open, as text, or to the path of one, not "
            f"{file!r:.80}."
        )
