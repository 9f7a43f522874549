"""Decimals as the library has them: the binary encoding of IEEE 754-2008 (BID), 16 bytes."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal

from .errors import InvalidArgumentError

#: 34 digits; no signal is raised, results are NaN or infinite instead.
CONTEXT = Context(prec=34, rounding=ROUND_HALF_EVEN, Emin=-6143, Emax=6144, clamp=1, traps=[])

_BIAS = 6176
_COEFFICIENT = (1 << 113) - 1
_NAN, _INFINITY, _SIGN = 0x7C << 120, 0x78 << 120, 1 << 127


def encode(value: Decimal) -> bytes:
    """The bytes of a number, rounded to 34 digits; of any NaN those of the plain one. Raises
    InvalidArgumentError if it would become infinite, or 0.
    """
    if value.is_nan():
        return _NAN.to_bytes(16, "little")
    number = CONTEXT.plus(value) if value else value
    if number.is_infinite() != value.is_infinite() or bool(number) != bool(value):
        raise InvalidArgumentError(
            f"{value!s:.60} is beyond the range of a decimal: its exponent is -6176 to 6144."
        )
    sign, digits, exponent = number.as_tuple()
    bits = _SIGN if sign else 0
    if not isinstance(exponent, int):
        return (bits | _INFINITY).to_bytes(16, "little")
    biased = min(max(exponent, -_BIAS), 6111) + _BIAS  # zero has any exponent
    coefficient = int("".join(map(str, digits)))
    return (bits | biased << 113 | coefficient).to_bytes(16, "little")


def is_exact(value: Decimal) -> bool:
    """Whether a number is stored without rounding."""
    return not value.is_finite() or CONTEXT.plus(value) == value


def decode(data: bytes) -> Decimal:
    """The number that 16 bytes are."""
    bits = int.from_bytes(data, "little")
    kind = bits >> 122 & 0x1F
    sign = bits >> 127
    if kind >= 0x1E:
        return Decimal("NaN" if kind == 0x1F else "-Infinity" if sign else "Infinity")
    if bits >> 125 & 3 == 3:  # a coefficient beyond 34 digits, which is 0
        return Decimal((sign, (0,), (bits >> 111 & 0x3FFF) - _BIAS))
    coefficient = bits & _COEFFICIENT
    if coefficient >= 10**34:
        coefficient = 0
    digits = tuple(map(int, str(coefficient)))
    return Decimal((sign, digits, (bits >> 113 & 0x3FFF) - _BIAS))
