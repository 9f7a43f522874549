"""JSON, and the texts of values, as the library's own reader has them (`Sources/ToftEngine/JSON`):
both take and refuse the same. Limits.md has the rules.
"""

from __future__ import annotations

import json
import math
import re
import struct
from base64 import b64decode
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any
from uuid import UUID

from . import _values as values
from . import decimals
from ._ffi import TOFT_MAX_JSON_DEPTH
from .errors import InvalidArgumentError, ValueTooLongError
from .identifiers import ObjectId

BLANKS = " \t\r\n"
"""The characters that JSON may have between values, and that lines without content consist of."""

NOT_JSON = "This is not JSON: "
"""How the message of each error of syntax begins."""

_MARK = "\ufeff"
_LONGEST_INT = 20
"""Characters."""

# ------------------------------------------------------------------------------------------- JSON


def value_of(text: str) -> Any:
    """The value that a text of JSON is. Numbers are ints if they are exactly ints of 64 bits, in
    any notation, and otherwise a `Numeral`. Raises InvalidArgumentError with what is wrong.
    """
    text = text.removeprefix(_MARK)
    try:
        if not text.isascii():
            text.encode()
        found = _DECODER.decode(text)
    except UnicodeEncodeError:
        raise _not_json("it cannot be UTF-8, as it has half a surrogate pair") from None
    except json.JSONDecodeError as error:
        reason = error.msg.removesuffix(" at")
        where = f"line {error.lineno}, " if "\n" in text.rstrip(BLANKS) else ""
        raise _not_json(f"{reason} at {where}character {error.colno}") from None
    except _Problem as problem:
        raise InvalidArgumentError(str(problem)) from None
    except RecursionError:
        raise _too_deep() from None
    if "\\u" in text and any(each["half"] for each in _ESCAPE.finditer(text)):
        raise _not_json("a text has half a surrogate pair, which cannot be UTF-8")
    if text.count("[") + text.count("{") > TOFT_MAX_JSON_DEPTH:
        _require_depth(found)
    return found


def _not_json(reason: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"{NOT_JSON}{reason}.")


def _too_deep() -> ValueTooLongError:
    return ValueTooLongError(
        f"More than {TOFT_MAX_JSON_DEPTH} arrays and objects of the JSON are within one another."
    )


def _require_depth(value: Any) -> None:
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > TOFT_MAX_JSON_DEPTH:
            raise _too_deep()
        level = [
            item
            for each in level
            for item in (each.values() if type(each) is dict else each)
            if type(item) is dict or type(item) is list
        ]


_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<half>u[dD][89a-fA-F])|.)"
)


class _Problem(ValueError):
    """A fault in JSON that is otherwise well formed."""


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        [name, *_] = (name for name in members if names.count(name) > 1)
        raise _Problem(f"The object has '{name:.80}' twice.")
    return members


def _constant(text: str) -> None:
    raise _Problem(
        f'{NOT_JSON}it has {text}. NaN and infinities are the texts "nan", "inf" and "-inf".'
    )


# ---------------------------------------------------------------------------------------- Numbers


class Numeral:
    """The text of a number that is not an int of 64 bits. It becomes a value of the type that it is
    read for: exactly, or the nearest float. It never becomes infinite, and 0 only if it is 0.
    """

    __slots__ = ("_nearest", "is_whole", "text")

    def __init__(self, text: str, nearest: float, is_whole: bool) -> None:
        """`is_whole`: whether it has neither a point nor an exponent."""
        self.text = text
        self.is_whole = is_whole
        self._nearest = nearest

    def __repr__(self) -> str:
        return self.text

    @property
    def is_zero(self) -> bool:
        """Whether it is 0, or -0."""
        return _is_zero(self.text)

    @property
    def double(self) -> float:
        """The nearest float. Raises ValueError, as the next ones do, if it is out of range."""
        number = self._nearest
        if math.isfinite(number) and (number or self.is_zero):
            return number
        raise ValueError("it is beyond the range of a float")

    @property
    def single(self) -> float:
        """A float that has one of 32 bits next to it."""
        try:
            [rounded] = _SINGLE.unpack(_SINGLE.pack(self._nearest))
        except OverflowError:
            raise ValueError("it is too large for 32 bits") from None
        if math.isinf(rounded) or rounded == 0 and not self.is_zero:
            raise ValueError("it is beyond the range of 32 bits")
        return self._nearest

    @property
    def decimal(self) -> Decimal:
        """The number as a decimal."""
        return decimal_of(self.text)

    @property
    def mixed(self) -> float | Decimal:
        """A whole number with all its digits, another one as a float."""
        return self.decimal if self.is_whole and not self.is_zero else self.double


_SINGLE = struct.Struct("=f")
_NUMBER = re.compile(r"([+-]?)([0-9]*)(\.?)([0-9]*)([eE][+-]?[0-9]+)?")
_NOT_ZERO = re.compile(r"[^eE]*[1-9]")


def _is_zero(text: str) -> bool:
    return _NOT_ZERO.match(text) is None


def _whole(text: str) -> int | Numeral:
    """A number without a point and an exponent."""
    if len(text) <= _LONGEST_INT:
        number = int(text)
        if -(2**63) <= number < 2**63 and (number or text == "0"):
            return number
    return Numeral(text, float(text), True)


def _fractional(text: str) -> int | Numeral:
    """A number with a point or an exponent."""
    nearest = float(text)
    numeral = Numeral(text, nearest, False)
    if not nearest.is_integer() or abs(nearest) > 2**63:
        return numeral
    if numeral.is_zero:
        return numeral if text.startswith("-") else 0
    try:
        exact = Decimal(text)
        number = int(exact)
    except (InvalidOperation, OverflowError):  # an exponent of many digits
        return numeral
    return number if exact == number and -(2**63) <= number < 2**63 else numeral


_DECODER = json.JSONDecoder(
    parse_int=_whole,
    parse_float=_fractional,
    parse_constant=_constant,
    object_pairs_hook=_members,
)


def number_of_field(text: str) -> int | Numeral | None:
    """The number in a field of comma-separated values: as in JSON, also with a plus, with zeros in
    front, and with digits on one side of the point only. None for another text.
    """
    found = _NUMBER.fullmatch(text)
    if found is None or not (found[2] or found[4]):
        return None
    sign, whole, _, fraction, exponent = found.groups()
    plain = f"{sign.removeprefix('+')}{whole.lstrip('0') or '0'}"
    if not fraction and not exponent:
        return _whole(plain)
    return _fractional(f"{plain}{'.' if fraction else ''}{fraction}{exponent or ''}")


# ----------------------------------------------------------------------------------------- Texts
# Each raises ValueError where a text is none of its type, with what is wrong besides that.

_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_DECIMAL = re.compile(
    r"[+-]?(?:nan|inf|infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?)", re.I
)
_DATA = re.compile(r"[A-Za-z0-9+/_-]*={0,2}")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_OTHER_DIGITS = str.maketrans("-_", "+/")


def not_finite_of(text: str) -> float:
    """NaN, or an infinity."""
    if text not in _NOT_FINITE:
        raise ValueError
    return _NOT_FINITE[text]


def decimal_of(text: str) -> Decimal:
    """A number of at most 34 digits, with those that are written."""
    if _DECIMAL.fullmatch(text) is None:
        raise ValueError
    try:
        number = Decimal(text)
        is_exact = decimals.is_exact(number)
    except InvalidOperation:  # an exponent of many digits
        is_exact = False
    if not is_exact:
        raise ValueError("it would be rounded: a decimal has 34 digits and exponents up to 6144")
    return number


def data_of(text: str) -> bytes:
    """Bytes in base 64, of either alphabet."""
    if len(text) % 4 or _DATA.fullmatch(text) is None:
        raise ValueError
    return b64decode(text.translate(_OTHER_DIGITS), validate=True)


def uuid_of(text: str) -> UUID:
    """A UUID of 8-4-4-4-12 digits."""
    if _UUID.fullmatch(text) is None:
        raise ValueError
    return UUID(text)


def object_id_of(text: str) -> ObjectId:
    """An object id."""
    try:
        return ObjectId(text)
    except ValueError:
        raise ValueError from None


# ----------------------------------------------------------------------------------------- Dates

_SECONDS = re.compile(r"T([+-]?[0-9]{1,40}):([+-]?[0-9]{1,40})")
"""How the library writes a date outside of the years 1583 to 9999: seconds and nanoseconds since
1970."""
_DAY = re.compile(
    r"([0-9]{4})(?:(?P<hyphen>-?)([0-9]{2})(?P=hyphen)([0-9]{2})"
    r"|(?P<mark>-?)W([0-9]{2})(?:(?P=mark)([0-9]))?)"
)
_TIME = re.compile(
    r"[Tt ]([0-9]{2})(?:(?P<colon>:?)([0-9]{2})(?:(?P=colon)([0-9]{2})(?:[.,]([0-9]+))?)?)?"
)
_ZONE = re.compile(r" ?(?:Z|([+-])([0-9]{2})(?:(?P<colon>:?)([0-9]{2})(?:(?P=colon)([0-9]{2}))?)?)")
_EPOCH_DAY = values.EPOCH.toordinal()
_CYCLE = 146_097
"""Days of 400 years, after which the calendar repeats, with its weeks."""


def moment_of(text: str, *, of_any_year: bool) -> datetime | values.Instant:
    """The point in time that a text says: in ISO 8601 with a time zone, or a day, for its midnight
    in UTC. `of_any_year`: also one that datetime has not.
    """
    seconds, nanoseconds = _words_of(text)
    try:
        return values.date_of(seconds, nanoseconds)
    except InvalidArgumentError:
        if of_any_year:
            return values.Instant(seconds, nanoseconds)
        raise ValueError("datetime has the years 1 to 9999 only") from None


def _words_of(text: str) -> tuple[int, int]:
    """Seconds since 1970, and nanoseconds of the same sign."""
    if text.startswith("T"):
        found = _SECONDS.fullmatch(text)
        seconds, nanoseconds = map(int, found.groups()) if found else (0, 0)
        is_far = not -(2**63) <= seconds < 2**63 or abs(nanoseconds) >= 1_000_000_000
        if found is None or is_far:
            raise ValueError("behind 'T' are seconds and nanoseconds since 1970, with a colon")
        if seconds * nanoseconds < 0:
            raise ValueError("its seconds and its nanoseconds have different signs")
        return seconds, nanoseconds
    if (day := _DAY.match(text)) is None:
        raise ValueError("it is not of the form YYYY-MM-DDThh:mm:ss with a time zone")
    seconds, nanoseconds = _day_of(*day.group(1, 3, 4, 6, 7)) * 86_400, 0
    if day.end() == len(text):
        return seconds, 0
    if (time := _TIME.match(text, day.end())) is None:
        raise ValueError("it is not of the form YYYY-MM-DDThh:mm:ss with a time zone")
    hour, minute, second, fraction = time.group(1, 3, 4, 5)
    seconds += _seconds_of(("hour", "minute", "second"), (hour, minute, second))
    nanoseconds = int(f"{(fraction or '0')[:9]:0<9}")
    if time.end() == len(text):
        raise ValueError("it has no time zone: put Z for UTC, or as +01:00, behind it")
    if (zone := _ZONE.fullmatch(text, time.end())) is None:
        raise ValueError("it is not of the form YYYY-MM-DDThh:mm:ss with a time zone")
    sign, *parts = zone.group(1, 2, 4, 5)
    if sign is not None:
        names = ("time zone", "time zone's minute", "time zone's second")
        offset = _seconds_of(names, parts)
        seconds += offset if sign == "-" else -offset
    if seconds < 0 and nanoseconds:
        return seconds + 1, nanoseconds - 1_000_000_000
    return seconds, nanoseconds


def _day_of(
    year: str, month: str | None, day: str | None, week: str | None, weekday: str | None
) -> int:
    """Days since 1970."""
    number, shift = int(year), 0
    if number == 0:  # which Python's calendar has not
        number, shift = 400, _CYCLE
    if week is not None:
        last = date(number, 12, 28).isocalendar()[1]
        _require("week", int(week), 1, last)
        _require("day of the week", int(weekday or 1), 1, 7)
        found = date.fromisocalendar(number, int(week), 1).toordinal() + int(weekday or 1) - 1
    else:
        month_number, day_number = int(month or 0), int(day or 0)
        _require("month", month_number, 1, 12)
        _require("day", day_number, 1, _days_in(number, month_number))
        found = date(number, month_number, day_number).toordinal()
    return found - shift - _EPOCH_DAY


def _days_in(year: int, month: int) -> int:
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def _seconds_of(names: tuple[str, str, str], parts: Any) -> int:
    seconds = 0
    for name, part, limit in zip(names, parts, (24, 60, 60)):
        number = int(part or 0)
        _require(name, number, 0, limit - 1)
        seconds = seconds * 60 + number
    return seconds


def _require(name: str, number: int, first: int, last: int) -> None:
    if not first <= number <= last:
        raise ValueError(f"its {name} is {number}, which is none of {first} to {last}")
