"""Damage that a file agrees with: bytes that are other ones, under checksums that are right."""

from __future__ import annotations

from pathlib import Path

PAGE = 4096
_MASK = 2**64 - 1
_PRIMES = (
    0x9E3779B185EBCA87,
    0xC2B2AE3D27D4EB4F,
    0x165667B19E3779F9,
    0x85EBCA77C2B2AE63,
)


def change(path: Path, old: bytes, new: bytes) -> int:
    """Puts new bytes wherever a closed file has the old ones, and corrects the checksums of the
    extents above, up to the metas. Returns the number of pages.
    """
    before = path.read_bytes()
    content = bytearray(before.replace(old, new))
    assert len(content) == len(before)
    changed = [page for page in _pages(before) if _page(before, page) != _page(content, page)]
    waiting = list(changed)
    while waiting:
        page = waiting.pop(0)
        if page < 2:
            start = page * PAGE
            content[start + 4088 : start + PAGE] = checksum(content[start : start + 4088])
            continue
        was, now = checksum(_page(before, page)), checksum(_page(content, page))
        at = before.find(was)
        while at >= 0:
            content[at : at + 8] = now
            waiting.append(at // PAGE)
            at = before.find(was, at + 1)
    path.write_bytes(content)
    return len(changed)


def _pages(content: bytes) -> range:
    return range(len(content) // PAGE)


def _page(content: bytes | bytearray, page: int) -> bytes:
    return bytes(content[page * PAGE : (page + 1) * PAGE])


def checksum(data: bytes | bytearray) -> bytes:
    """XXH64 with seed 0 of at least 32 bytes, a multiple of 8."""
    first, second, third, fourth = _PRIMES
    lanes = [first + second & _MASK, second, 0, -first & _MASK]
    words = [int.from_bytes(data[at : at + 8], "little") for at in range(0, len(data), 8)]
    whole = len(words) // 4 * 4
    for at, word in enumerate(words[:whole]):
        lanes[at % 4] = _round(lanes[at % 4], word)
    hashed = sum(_turned(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18))) & _MASK
    for lane in lanes:
        hashed = (hashed ^ _round(0, lane)) * first + fourth & _MASK
    hashed = hashed + len(data) & _MASK
    for word in words[whole:]:
        hashed = _turned(hashed ^ _round(0, word), 27) * first + fourth & _MASK
    for by, prime in ((33, second), (29, third), (32, 1)):
        hashed = (hashed ^ hashed >> by) * prime & _MASK
    return hashed.to_bytes(8, "little")


def _round(lane: int, word: int) -> int:
    return _turned(lane + word * _PRIMES[1] & _MASK, 31) * _PRIMES[0] & _MASK


def _turned(word: int, by: int) -> int:
    return (word << by | word >> 64 - by) & _MASK
