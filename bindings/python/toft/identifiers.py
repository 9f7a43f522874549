"""Object ids: twelve bytes that no other process makes."""

from __future__ import annotations

import os
import time
from datetime import datetime, timezone
from functools import total_ordering
from itertools import count


class _Process:
    """Five random bytes of this process, and a counter; a forked child has its own."""

    def __init__(self) -> None:
        self.number = os.getpid()
        self.random = os.urandom(5)
        self.counter = count(int.from_bytes(os.urandom(3), "big"))


_process = _Process()


@total_ordering
class ObjectId:
    """Twelve bytes: the second it was made in, five random bytes of the process, a counter.

    Ids made by any process on any machine differ, and sort by their time.

        class Parcel(toft.Object):
            id: toft.ObjectId = toft.field(primary_key=True, default_factory=toft.ObjectId)
    """

    __slots__ = ("_bytes",)
    _bytes: bytes

    def __init__(self, value: str | bytes | ObjectId | None = None) -> None:
        """A new id of now or, given 24 hexadecimal digits or 12 bytes, that one.

        Raises ValueError for other text or bytes, TypeError for other types. Any thread.
        """
        if value is None:
            self._bytes = _generated()
        elif isinstance(value, ObjectId):
            self._bytes = value._bytes
        elif isinstance(value, str):
            if len(value) != 24 or not value.isascii() or not value.isalnum():
                raise ValueError(f"An object id has 24 hexadecimal digits, not {value!r:.80}.")
            try:
                self._bytes = bytes.fromhex(value)
            except ValueError:
                raise ValueError(
                    f"An object id has 24 hexadecimal digits, not {value!r:.80}."
                ) from None
        elif isinstance(value, bytes):
            if len(value) != 12:
                raise ValueError(f"An object id has 12 bytes, not {len(value)}.")
            self._bytes = value
        else:
            raise TypeError(f"An object id is made of text or bytes, not {value!r:.80}.")

    @property
    def binary(self) -> bytes:
        """The twelve bytes."""
        return self._bytes

    @property
    def timestamp(self) -> datetime:
        """The second in which it was made, in UTC."""
        return datetime.fromtimestamp(int.from_bytes(self._bytes[:4], "big"), timezone.utc)

    def __str__(self) -> str:
        return self._bytes.hex()

    def __repr__(self) -> str:
        return f"ObjectId('{self}')"

    def __eq__(self, other: object) -> bool:
        return self._bytes == other._bytes if isinstance(other, ObjectId) else NotImplemented

    def __lt__(self, other: object) -> bool:
        return self._bytes < other._bytes if isinstance(other, ObjectId) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._bytes)

    def __reduce__(self) -> tuple[type[ObjectId], tuple[bytes]]:
        return ObjectId, (self._bytes,)


def _generated() -> bytes:
    global _process
    if _process.number != os.getpid():
        _process = _Process()
    process, seconds = _process, int(time.time()) & 0xFFFFFFFF
    number = next(process.counter) & 0xFFFFFF
    return seconds.to_bytes(4, "big") + process.random + number.to_bytes(3, "big")
