"""Random types, and random values of them as Python objects that Arrow takes."""

import datetime as dt
from collections.abc import Callable, Mapping
from decimal import Decimal

from hypothesis import strategies as st

from paimon_explore.data_types.definitions import (
    MAX_LENGTH,
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
    VectorType,
)

Values = st.SearchStrategy[object]

_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - of timestamps without a zone
_FEW = 3
_SIMPLE = [
    TypeRoot.BOOLEAN,
    TypeRoot.TINYINT,
    TypeRoot.SMALLINT,
    TypeRoot.INT,
    TypeRoot.BIGINT,
    TypeRoot.FLOAT,
    TypeRoot.DOUBLE,
    TypeRoot.DATE,
    TypeRoot.VARIANT,
]


def atomic_types() -> st.SearchStrategy[DataType]:
    """Types without children."""
    text = st.sampled_from([TypeRoot.VARCHAR, TypeRoot.VARBINARY])
    moment = st.sampled_from([TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ])
    return st.one_of(
        st.sampled_from(_SIMPLE).map(lambda root: AtomicType(root=root)),
        text.map(lambda root: AtomicType(root=root, length=MAX_LENGTH)),
        st.builds(
            lambda root, precision: AtomicType(root=root, precision=precision),
            moment,
            st.integers(0, 9),
        ),
        st.just(AtomicType(root=TypeRoot.TIME, precision=3)),
        st.integers(1, 38).flatmap(
            lambda precision: st.integers(0, precision).map(
                lambda scale: AtomicType(root=TypeRoot.DECIMAL, precision=precision, scale=scale)
            )
        ),
    )


def types() -> st.SearchStrategy[DataType]:
    """Types of any kind, a few levels deep."""
    return st.recursive(atomic_types(), _nested, max_leaves=4)


def _nested(children: st.SearchStrategy[DataType]) -> st.SearchStrategy[DataType]:
    key = AtomicType(root=TypeRoot.VARCHAR, length=MAX_LENGTH, nullable=False)
    number = AtomicType(root=TypeRoot.FLOAT, nullable=False)
    return st.one_of(
        children.map(lambda element: ArrayType(element=element)),
        children.map(lambda value: MapType(key=key, value=value)),
        st.just(MultisetType(element=key)),
        st.integers(1, 3).map(lambda length: VectorType(element=number, length=length)),
        st.lists(children, min_size=1, max_size=3).map(row_of),
    )


def row_of(members: list[DataType]) -> RowType:
    """A row of these types."""
    return RowType(
        fields=tuple(
            DataField(id=index, name=f"f{index}", type=member)
            for index, member in enumerate(members)
        )
    )


def values(data_type: DataType) -> Values:
    """Values of a type, null among them where it may be."""
    found = _present(data_type)
    return st.none() | found if data_type.nullable else found


def _present(data_type: DataType) -> Values:
    match data_type:
        case AtomicType():
            return _ATOMIC[data_type.root](data_type)
        case ArrayType(element=element):
            return st.lists(values(element), max_size=_FEW)
        case VectorType(element=element, length=length):
            return st.lists(values(element), min_size=length, max_size=length)
        case MapType(key=key, value=value):
            return _pairs(values(key), values(value))
        case MultisetType(element=element):
            return _pairs(values(element), st.integers(1, 9))
        case RowType(fields=fields):
            return st.fixed_dictionaries({field.name: values(field.type) for field in fields})


def _pairs(keys: Values, items: Values) -> Values:
    return st.lists(st.tuples(keys, items), max_size=_FEW, unique_by=lambda pair: str(pair[0]))


def _integers(bits: int) -> Callable[[AtomicType], Values]:
    return lambda _: st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def _decimals(data_type: AtomicType) -> Values:
    limit = 10 ** (data_type.precision or 0) - 1
    scale = data_type.scale or 0
    return st.integers(-limit, limit).map(lambda unscaled: _exact(unscaled, scale))


def _exact(unscaled: int, scale: int) -> Decimal:
    """A decimal of any number of digits; arithmetic would round it to 28."""
    digits = tuple(map(int, str(abs(unscaled))))
    return Decimal((int(unscaled < 0), digits, -scale))


def _moments(data_type: AtomicType) -> Values:
    digits = data_type.precision or 0
    step = 10 ** max(6 - digits, 0)
    limit = 2**53 // step
    moment = st.integers(-limit, limit).map(lambda n: _EPOCH + dt.timedelta(microseconds=n * step))
    if data_type.root is TypeRoot.TIMESTAMP:
        return moment
    return moment.map(lambda found: found.replace(tzinfo=dt.UTC))


def _variants(_: AtomicType) -> Values:
    return st.fixed_dictionaries(
        {"value": st.binary(max_size=20), "metadata": st.binary(max_size=20)}
    )


_ATOMIC: Mapping[TypeRoot, Callable[[AtomicType], Values]] = {
    TypeRoot.BOOLEAN: lambda _: st.booleans(),
    TypeRoot.TINYINT: _integers(8),
    TypeRoot.SMALLINT: _integers(16),
    TypeRoot.INT: _integers(32),
    TypeRoot.BIGINT: _integers(64),
    TypeRoot.FLOAT: lambda _: st.floats(width=32, allow_nan=False),
    TypeRoot.DOUBLE: lambda _: st.floats(allow_nan=False),
    TypeRoot.DATE: lambda _: st.dates(),
    TypeRoot.TIME: lambda _: st.integers(0, 86_399_999).map(
        lambda n: (_EPOCH + dt.timedelta(milliseconds=n)).time()
    ),
    TypeRoot.VARCHAR: lambda _: st.text(max_size=20),
    TypeRoot.VARBINARY: lambda _: st.binary(max_size=20),
    TypeRoot.DECIMAL: _decimals,
    TypeRoot.TIMESTAMP: _moments,
    TypeRoot.TIMESTAMP_LTZ: _moments,
    TypeRoot.VARIANT: _variants,
}


@st.composite
def columns(draw: st.DrawFn) -> tuple[list[DataType], list[list[object]]]:
    """Some types, and as many rows of values by column."""
    drawn = draw(st.lists(types(), min_size=1, max_size=4))
    count = draw(st.integers(0, 6))
    found = [draw(st.lists(values(t), min_size=count, max_size=count)) for t in drawn]
    return drawn, found
