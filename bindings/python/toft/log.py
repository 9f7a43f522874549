"""The library's log, as messages of Python's logger "toft"."""

from __future__ import annotations

import atexit
import os
from functools import cache
from typing import Any

from ._ffi import toft_destructor, toft_log_callback, toft_log_level, toft_string
from ._lib import library, text_of

DETAIL, TRACE = 15, 5
"""Levels that `logging` has no names for."""

_LEVELS = {  # the numbers of `logging`, which is imported when its messages are asked for
    50: toft_log_level.FATAL,
    40: toft_log_level.ERROR,
    30: toft_log_level.WARN,
    20: toft_log_level.INFO,
    DETAIL: toft_log_level.DETAIL,
    10: toft_log_level.DEBUG,
    TRACE: toft_log_level.TRACE,
}
_NUMBERS = {code: number for number, code in _LEVELS.items()}
_level: int | None = None


def set_log_level(level: int | str | None) -> None:
    """Makes the library log from `level` on, to the logger "toft": recoveries, writers that died,
    disks that fail, misuse. None: no longer. A level of `logging`, its name, or 15 for details.

    Messages come on the thread of the call that they are about, at its end, or on a thread of the
    library's. A handler that calls Toft gets an InsideCallbackError.
    """
    import logging

    global _level
    if isinstance(level, str):
        level = getattr(logging, level.upper(), level)
    if level is not None and (isinstance(level, bool) or not isinstance(level, int)):
        raise TypeError(f"a level of logging is due, not {level!r:.80}")
    _level = level
    logger = logging.getLogger("toft")
    if level is not None and not logger.handlers:
        logger.addHandler(logging.NullHandler())
    chosen = [code for number, code in _LEVELS.items() if level is not None and number >= level]
    least = max(chosen, default=toft_log_level.OFF)
    library().toft_set_log(least, _callback(), None, toft_destructor())


def _tell(_: Any, level: int, message: toft_string) -> None:
    from logging import INFO, getLogger

    number = _NUMBERS.get(toft_log_level(level), INFO)
    getLogger("toft").log(number, "%s", text_of(message))


@cache
def _callback() -> Any:
    """As the library calls it; it lives as long as that."""
    return toft_log_callback(_tell)


def _after_fork() -> None:
    """A child starts without a log."""
    if _level is not None:
        set_log_level(_level)


# A thread of the library's must not call an interpreter that has ended.
@atexit.register
def _before_exit() -> None:
    if _level is not None:
        set_log_level(None)


os.register_at_fork(after_in_child=_after_fork)
