"""Exact conversion between decimals and unscaled integers.

The methods of `decimal.Decimal` round to the 28 digits of Python's default context.
"""

from decimal import Decimal


def unscaled(value: Decimal, scale: int) -> int:
    """Return the integer `value * 10^scale`, without digits after the decimal point.

    >>> unscaled(Decimal("-1.25"), 1)
    -12
    """
    sign, digits, exponent = value.as_tuple()
    number = int("".join(map(str, digits)) or "0")
    shift = scale + int(exponent)
    power: int = 10 ** abs(shift)
    number = number * power if shift >= 0 else number // power
    return -number if sign else number


def scaled(number: int, scale: int) -> Decimal:
    """Return the decimal `number / 10^scale`.

    >>> scaled(-125, 2)
    Decimal('-1.25')
    """
    return Decimal((number < 0, tuple(map(int, str(abs(number)))), -scale))
