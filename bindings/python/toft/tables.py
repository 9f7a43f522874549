"""Objects into files: as JSON lines, and as comma-separated values. `sources` reads them."""

from __future__ import annotations

import ctypes
import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from . import _values as values
from ._lib import library
from .arguments import LinesToWrite, depth_of, file_of, require_function
from .errors import MissingPrimaryKeyError
from .objects import live
from .schema import properties_of

if TYPE_CHECKING:
    from .objects import Object
    from .query import Results
    from .rows import Binding, BoundProperty

Progress = Callable[[int, int], object]
"""Called with the number of finished objects and of all. An exception of it ends the call."""

KEY = "_key"
"""The member with the key of an object without primary key: see `key_name`."""

_QUOTED = re.compile(r'[",\x00-\x1f]|^[ \ufeff]| $|^$')
_ROOM = 4096


def write_lines(
    objects: Results[Any], file: LinesToWrite, depth: int, progress: Progress | None
) -> int:
    """See `Results.write_json_lines`."""
    require_function("progress", progress)
    count, texts = 0, _Texts(depth)
    with file_of(file) as opened:
        for count, instance in enumerate(watched(objects._living(), len(objects), progress), 1):
            opened.write(texts.text(instance) + "\n")
    return count


def write_csv(
    objects: Results[Any],
    binding: Binding,
    names: list[str],
    file: LinesToWrite,
    progress: Progress | None,
) -> int:
    """See `Results.write_csv`. `names`: of properties; all by default."""
    require_function("progress", progress)
    properties = [binding.property(name) for name in names] or binding.stored
    columns = [] if names or binding.primary_key else [key_name(binding.cls)]
    columns += [each.stored_name for each in properties]
    mixed = {each.stored_name for each in properties if each.type == values.MIXED}
    links = [each for each in properties if each.type == values.LINK and each.container is None]
    links = [each for each in links if not binding.session.classes.owns(each)]
    count, texts = 0, _Texts(0)
    with file_of(file) as opened:
        opened.write(",".join(map(_quoted, columns)) + "\r\n")
        for count, instance in enumerate(watched(objects._living(), len(objects), progress), 1):
            plain = json.loads(texts.text(instance))
            for each in links:
                if isinstance(plain[each.stored_name], dict):
                    raise MissingPrimaryKeyError(
                        f"{binding.cls.__name__}.{each.name} links to an object whose primary key "
                        "is None, which a field can't say: write JSON lines."
                    )
            cells = (_cell(plain[name], name in mixed) for name in columns)
            opened.write(",".join(cells) + "\r\n")
    return count


class _Texts:
    """Objects as JSON on one line, as the library writes them: with the names in the file, and with
    types in mixed values. One after the other, in the same memory.
    """

    def __init__(self, depth: int) -> None:
        self._depth = depth_of(depth)
        self._memory = ctypes.create_string_buffer(_ROOM)
        self._size = ctypes.c_size_t()

    def text(self, instance: Object) -> str:
        handle = live(instance).single(instance).handle()
        while True:
            library().toft_object_to_json(
                handle.address,
                self._depth,
                self._memory,
                len(self._memory),
                ctypes.byref(self._size),
            )
            size = self._size.value
            if size < len(self._memory):
                return ctypes.string_at(self._memory, size).decode()
            self._memory = ctypes.create_string_buffer(2 * size)


def key_name(cls: type[Object], *others: str) -> str:
    """The member with the key of an object of a class without primary key: `_key`, with one `_`
    more if a property has the name, and so on. `others`: names that are taken besides.
    """
    properties = properties_of(cls)
    taken = {*others, *(each.stored_name for each in properties.values())}
    name = KEY
    while name in taken:
        name = f"_{name}"
    return name


def names_in_files(binding: Binding) -> dict[str, BoundProperty]:
    """The properties by the names that files have for them; those of attributes do, too."""
    attributes = {**binding.properties}
    attributes.pop(key_name(binding.cls), None)
    return {**attributes, **{each.stored_name: each for each in binding.properties.values()}}


def watched(things: Iterable[Any], count: int, progress: Progress | None) -> Iterator[Any]:
    """Things one after the other; `progress` is called when one is done."""
    for done, thing in enumerate(things, 1):
        yield thing
        if progress is not None:
            progress(done, count)


def _cell(value: Any, is_mixed: bool) -> str:
    if value is None:
        return ""
    if type(value) is str and not is_mixed:
        return _quoted(value)
    return _quoted(json.dumps(value, ensure_ascii=False))


def _quoted(text: str) -> str:
    doubled = text.replace('"', '""')
    return f'"{doubled}"' if _QUOTED.search(text) else text
