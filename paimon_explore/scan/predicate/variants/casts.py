"""Casts of VARIANT values to other types, with the results of Spark."""

import math
import re
from collections.abc import Sequence
from datetime import UTC, tzinfo
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation

import pyarrow as pa

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.casts.java_formatting import double_text, float_text
from paimon_explore.data_types.definitions import (
    BYTES,
    FLOATS,
    INTEGERS,
    TEXTS,
    ArrayType,
    AtomicType,
    DataType,
    MapType,
    RowType,
    TypeRoot,
)
from paimon_explore.data_types.formatter import type_text
from paimon_explore.data_types.traversal import is_root
from paimon_explore.encoding.variant.arrow_values import variant_column
from paimon_explore.encoding.variant.decoder import Kind, Raw, VariantReader
from paimon_explore.encoding.variant.json_text import JsonMaker, json_text
from paimon_explore.encoding.variant.tree import NULL, Primitive, Tree, encode_tree
from paimon_explore.errors import InvalidInputError
from paimon_explore.scan.predicate.datetime_literals import (
    parse_timestamp,
    timestamp_text,
    to_utc,
    to_wall_clock,
)
from paimon_explore.scan.predicate.expression import unit_nanos

_MICROS = 1_000_000
_DAY = 86_400 * _MICROS
_NANOS = 1000
_LONG = 2**63
_WHOLE = re.compile(r"[+-]?[0-9]+")
_REAL = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)[dDfF]?")
_NAMED = {"inf": math.inf, "infinity": math.inf, "nan": math.nan}
_FLAGS = {
    **dict.fromkeys(("t", "true", "y", "yes", "1"), True),
    **dict.fromkeys(("f", "false", "n", "no", "0"), False),
}
_DATE = re.compile(r"([0-9]{4,6})(?:-([0-9]{1,2}))?(?:-([0-9]{1,2}))?(?<=[0-9])(?:[ T].*)?")
_CONTEXT = Context(prec=76, rounding=ROUND_HALF_UP)
_SHOWN = 80


class MisfitError(Exception):
    """A value that a type cannot represent."""


def cast_trees(
    trees: Sequence[Tree | None], target: DataType, zone: tzinfo | None, *, fails: bool
) -> Column:
    """Cast variants to a type.

    Args:
        trees: the variants; None for null.
        target: the type.
        zone: the session's time zone; None for the zone of this process.
        fails: whether a value that the type cannot represent is an error; otherwise it is null.

    Returns:
        n values in `to_arrow(target)`.

    Raises:
        InvalidInputError: a value cannot be cast, and `fails`.
    """
    if is_root(target, TypeRoot.VARIANT):
        return variant_column(trees)
    caster = _Caster(zone)

    def cast(tree: Tree | None) -> object:
        try:
            return None if tree is None else caster.value(tree, target)
        except MisfitError as error:
            if not fails:
                return None
            shown = json_text(*encode_tree(tree)) if tree is not None else ""
            shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
            raise InvalidInputError(
                f"The variant value {shown} cannot be cast to {type_text(target)}.",
                hint="Use try_variant_get or TRY_CAST to get NULL.",
            ) from error

    found: Column = pa.array(list(map(cast, trees)), to_arrow(target))
    return found


class _Leaf:
    """Returns a primitive as it is."""

    def leaf(self, kind: Kind, raw: Raw) -> tuple[Kind, Raw]:
        return kind, raw

    def array(self, elements: list[tuple[Kind, Raw]]) -> tuple[Kind, Raw]:
        raise NotImplementedError

    def object(self, fields: list[tuple[str, tuple[Kind, Raw]]]) -> tuple[Kind, Raw]:
        raise NotImplementedError


_LEAF = _Leaf()


def raw_of(primitive: Primitive) -> tuple[Kind, Raw]:
    """Decode a primitive."""
    return VariantReader(primitive, (), "").read(_LEAF)


class _Caster:
    """Casts values with a time zone."""

    def __init__(self, zone: tzinfo | None) -> None:
        self._zone = zone

    def value(self, tree: Tree, target: DataType) -> object:  # noqa: PLR0911 - one for each kind
        """Return a value that Arrow converts to the type.

        Raises:
            MisfitError: the type cannot represent it.
        """
        if is_root(target, TypeRoot.VARIANT):
            return dict(zip(("value", "metadata"), encode_tree(tree), strict=True))
        if tree == NULL:
            return None
        match target, tree:
            case AtomicType(), Primitive():
                return self._atomic(*raw_of(tree), target)
            case AtomicType(root=root), _ if root in TEXTS:
                return json_text(*encode_tree(tree), zone=self._zone)
            case ArrayType(element=element), list():
                return [self.value(one, element) for one in tree]
            case MapType(key=AtomicType(root=root), value=item), dict() if root in TEXTS:
                return [(key, self.value(one, item)) for key, one in tree.items()]
            case RowType(), dict():
                return {
                    field.name: self.value(tree[field.name], field.type)
                    for field in target
                    if field.name in tree
                }
            case _:
                raise MisfitError

    def _atomic(self, kind: Kind, raw: Raw, target: AtomicType) -> object:
        if target.root in TEXTS:
            return self._text(kind, raw)
        if target.root in _TIMES:
            return self._time(kind, raw, target)
        if target.root in BYTES:
            return _bytes(kind, raw)
        if target.root is TypeRoot.BOOLEAN:
            return _boolean(kind, raw)
        return _numeric(_number(kind, raw, target), target)

    def _text(self, kind: Kind, raw: Raw) -> str:
        match raw:
            case str():
                return raw
            case float():
                return float_text(raw) if kind is Kind.FLOAT else double_text(raw)
            case bytes() if kind is not Kind.UUID:
                return raw.decode("utf-8", "replace")
            case int() if kind is Kind.TIMESTAMP:
                return timestamp_text(to_wall_clock(raw * _NANOS, self._zone))
        return JsonMaker(UTC).leaf(kind, raw).strip('"')

    def _time(self, kind: Kind, raw: Raw, target: AtomicType) -> int:
        """Return days, or a time in the unit of the type."""
        root = target.root
        if root is TypeRoot.DATE and isinstance(raw, str):
            return _days(raw)
        wall, instant = self._moments(kind, raw, root)
        if root is TypeRoot.TIMESTAMP_LTZ:
            micros = to_utc(wall * _NANOS, self._zone) // _NANOS if instant is None else instant
        elif instant is None:
            micros = wall
        else:
            micros = to_wall_clock(instant * _NANOS, self._zone) // _NANOS
        if root is TypeRoot.DATE:
            return micros // _DAY
        ticks = micros * _NANOS // unit_nanos(target)
        if not -_LONG <= ticks < _LONG:
            raise MisfitError
        return ticks

    def _moments(self, kind: Kind, raw: Raw, root: TypeRoot) -> tuple[int, int | None]:
        """Return microseconds of a wall clock, or else of an instant as the second."""
        if isinstance(raw, str):
            found = parse_timestamp(raw)
            if found is None:
                raise MisfitError
            micros = found.nanos // _NANOS
            return micros, micros if found.zoned else None
        if isinstance(raw, int) and kind in {Kind.DATE, Kind.TIMESTAMP_NTZ}:
            return raw * (_DAY if kind is Kind.DATE else 1), None
        if isinstance(raw, int) and kind is Kind.TIMESTAMP:
            return 0, raw
        if raw is None or isinstance(raw, bool | bytes) or root is not TypeRoot.TIMESTAMP_LTZ:
            raise MisfitError
        return 0, _truncated(raw * _MICROS)


_TIMES = frozenset({TypeRoot.DATE, TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ})


def _days(text: str) -> int:
    match = _DATE.fullmatch(text.strip())
    found = None if match is None else parse_timestamp("-".join(p or "1" for p in match.groups()))
    if found is None:
        raise MisfitError
    return found.nanos // (_DAY * _NANOS)


def _bytes(kind: Kind, raw: Raw) -> bytes:
    match raw:
        case str():
            return raw.encode()
        case bytes() if kind is Kind.BINARY:
            return raw
        case _:
            raise MisfitError


def _boolean(kind: Kind, raw: Raw) -> bool:
    match raw:
        case str() if raw.strip().lower() in _FLAGS:
            return _FLAGS[raw.strip().lower()]
        case bool() | int() | float() | Decimal() if kind not in _MOMENTS:
            return raw != 0
        case _:
            raise MisfitError


_MOMENTS = frozenset({Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ})


def _number(kind: Kind, raw: Raw, target: AtomicType) -> int | float | Decimal:
    if isinstance(raw, str):
        return _parsed(raw.strip(), target)
    if isinstance(raw, bytes) or raw is None or kind in {Kind.DATE, Kind.TIMESTAMP_NTZ}:
        raise MisfitError
    if kind is not Kind.TIMESTAMP:
        return raw
    return int(raw) // _MICROS if target.root in INTEGERS else Decimal(raw) / _MICROS


def _parsed(text: str, target: AtomicType) -> int | float | Decimal:
    """Parse a number; a text of an integer type has no fraction."""
    match = _REAL.fullmatch(text)
    if target.root in FLOATS:
        named = _NAMED.get(text.lower().lstrip("+-"))
        if match is None and named is None:
            raise MisfitError
        return float(text if match is None else match[1])
    pattern = _WHOLE if target.root in INTEGERS else _REAL
    if pattern.fullmatch(text) is None:
        raise MisfitError
    return Decimal(text) if text[-1].isdigit() or text[-1] == "." else Decimal(text[:-1])


def _numeric(number: float | Decimal, target: AtomicType) -> object:
    if target.root in FLOATS:
        return float(number)
    if target.root in INTEGERS:
        return _integer(number, to_arrow(target).bit_width)
    if target.root is TypeRoot.DECIMAL:
        return _decimal(number, target.precision or 0, target.scale or 0)
    raise MisfitError


def _truncated(number: float | Decimal) -> int:
    if not math.isfinite(number):
        raise MisfitError
    return math.trunc(number)


def _integer(number: float | Decimal, bits: int) -> int:
    whole = _truncated(number)
    if not -(1 << (bits - 1)) <= whole < 1 << (bits - 1):
        raise MisfitError
    return whole


def _decimal(number: float | Decimal, precision: int, scale: int) -> Decimal:
    if not math.isfinite(number):
        raise MisfitError
    exact = Decimal(repr(number)) if isinstance(number, float) else Decimal(number)
    try:
        rounded = exact.quantize(Decimal(1).scaleb(-scale), context=_CONTEXT)
    except InvalidOperation as error:
        raise MisfitError from error
    if abs(rounded) >= Decimal(10) ** (precision - scale):
        raise MisfitError
    return rounded
