"""The tables of TPC-H, with the distributions that its 22 queries select by.

This is no dbgen: values come from NumPy's generator with fixed seeds, comments from small pools.
As append tables, and as primary-key tables of 4 overlapping runs with the same rows: a part of the
rows has an older version in an earlier run.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.table.catalog.catalog import Catalog

Ints = npt.NDArray[np.int64]

_FIRST, _LAST = np.datetime64("1992-01-01"), np.datetime64("1998-08-02")
_TODAY = np.datetime64("1995-06-17")
_RUNS = 4
_ORDERS = 1_500_000
_CHUNK = 250_000
"""Orders of a commit."""
_REGIONS = ("AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST")
_NATIONS = (
    *(("ALGERIA", 0), ("ARGENTINA", 1), ("BRAZIL", 1), ("CANADA", 1), ("EGYPT", 4)),
    *(("ETHIOPIA", 0), ("FRANCE", 3), ("GERMANY", 3), ("INDIA", 2), ("INDONESIA", 2)),
    *(("IRAN", 4), ("IRAQ", 4), ("JAPAN", 2), ("JORDAN", 4), ("KENYA", 0)),
    *(("MOROCCO", 0), ("MOZAMBIQUE", 0), ("PERU", 1), ("CHINA", 2), ("ROMANIA", 3)),
    *(("SAUDI ARABIA", 4), ("VIETNAM", 2), ("RUSSIA", 3), ("UNITED KINGDOM", 3)),
    ("UNITED STATES", 1),
)
_SEGMENTS = ("AUTOMOBILE", "BUILDING", "FURNITURE", "MACHINERY", "HOUSEHOLD")
_PRIORITIES = ("1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW")
_MODES = ("REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB")
_INSTRUCTIONS = ("DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN")
_TYPES = tuple(
    f"{a} {b} {c}"
    for a in ("STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO")
    for b in ("ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED")
    for c in ("TIN", "NICKEL", "BRASS", "STEEL", "COPPER")
)
_CONTAINERS = tuple(
    f"{a} {b}"
    for a in ("SM", "LG", "MED", "JUMBO", "WRAP")
    for b in ("CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM")
)
_COLORS = (  # noqa: SIM905 - a list is twice as long
    "almond antique aquamarine azure beige bisque black blanched blue blush brown burlywood "
    "burnished chartreuse chiffon chocolate coral cornflower cornsilk cream cyan dark deep dim "
    "dodger drab firebrick floral forest frosted gainsboro ghost goldenrod green grey honeydew hot "
    "indian ivory khaki lace lavender lawn lemon light lime linen magenta maroon medium metallic "
    "midnight mint misty moccasin navajo navy olive orange orchid pale papaya peach peru pink plum "
    "powder puff purple red rose rosy royal saddle salmon sandy seashell sienna sky slate smoke "
    "snow spring steel tan thistle tomato turquoise violet wheat white yellow"
).split()
_WORDS = (  # noqa: SIM905 - a list is twice as long
    "furiously quickly carefully blithely slyly ironic final bold regular express even silent "
    "pending unusual theodolites deposits packages accounts instructions foxes pinto beans ideas "
    "dependencies platelets requests excuses asymptotes courts dolphins sleep wake haggle nag use "
    "boost affix detect integrate cajole above the about according to across after against"
).split()
_POOL = 20_000

KEYS: Mapping[str, tuple[str, ...]] = {
    "region": ("r_regionkey",),
    "nation": ("n_nationkey",),
    "supplier": ("s_suppkey",),
    "customer": ("c_custkey",),
    "part": ("p_partkey",),
    "partsupp": ("ps_partkey", "ps_suppkey"),
    "orders": ("o_orderkey",),
    "lineitem": ("l_orderkey", "l_linenumber"),
}


def make(warehouse: str, name: str, *, scale: float, is_keyed: bool) -> None:
    """A database with the eight tables; its name is that of the data."""
    catalog = Catalog(warehouse)
    catalog.drop_database(name, if_exists=True, cascade=True)
    catalog.create_database(name)
    for table, rows in _tables(scale):
        buckets = "4" if table in ("orders", "lineitem", "partsupp") else "1"
        made = catalog.create_table(
            f"{name}.{table}",
            rows.schema,
            primary_key=KEYS[table] if is_keyed else None,
            options={"write-only": "true", **({"bucket": buckets} if is_keyed else {})},
            if_not_exists=True,
        )
        if not is_keyed:
            made.append(rows)
            continue
        for run in _runs(rows):
            made.upsert(run)


def _runs(rows: pa.Table) -> Iterator[pa.Table]:
    """Rows in 4 runs over all keys, and a fifth of the later ones in older versions."""
    rng = np.random.default_rng(29)
    final = rng.integers(0, _RUNS, rows.num_rows)
    last = rows.schema.names[-1]
    for run in range(_RUNS):
        old = (final > run) & (rng.random(rows.num_rows) < 0.2)
        stale = rows.filter(pa.array(old))
        older = pa.array(["an older version"] * stale.num_rows, pa.string())
        stale = stale.set_column(stale.num_columns - 1, rows.schema.field(last), older)
        yield pa.concat_tables([rows.filter(pa.array(final == run)), stale])


def _tables(scale: float) -> Iterator[tuple[str, pa.Table]]:
    """The tables, large ones in parts."""
    rng = np.random.default_rng(23)
    suppliers, customers = round(10_000 * scale), round(150_000 * scale)
    parts = round(200_000 * scale)
    comments = _pool(rng, ())
    yield "region", _region(comments)
    yield "nation", _nation(comments)
    yield "supplier", _supplier(rng, suppliers)
    yield "customer", _customer(rng, customers, comments)
    keys = np.arange(1, parts + 1)
    prices = 90_000 + keys // 10 % 20_001 + 100 * (keys % 1000)
    yield "part", _part(rng, parts, prices, comments)
    yield "partsupp", _partsupp(rng, parts, suppliers, comments)
    special = _pool(rng, ("special", "requests"))
    for first in range(0, round(_ORDERS * scale), _CHUNK):
        count = min(_CHUNK, round(_ORDERS * scale) - first)
        yield from _orders(rng, (first, count), (customers, parts, suppliers), special)


def _decimal(values: Ints) -> Column:
    words = np.stack([values, values >> 63], axis=1)
    return pa.Array.from_buffers(
        pa.decimal128(15, 2), len(values), [None, pa.py_buffer(words.tobytes())]
    )


def _chosen(words: Sequence[str], at: npt.NDArray[np.int64]) -> Column:
    return pa.array(words).take(at)


def _some(rng: np.random.Generator, words: Sequence[str], count: int) -> Column:
    return _chosen(words, rng.integers(0, len(words), count))


def _pool(rng: np.random.Generator, phrase: Sequence[str]) -> list[str]:
    """Comments; one in a hundred has the words of a phrase, in this order."""
    texts = []
    for number, chosen in enumerate(rng.integers(0, len(_WORDS), (_POOL, 6)).tolist()):
        words = [_WORDS[at] for at in chosen]
        if phrase and number % 100 == 0:
            words[1:1], words[4:4] = phrase[:1], phrase[1:]
        texts.append(" ".join(words))
    return texts


def _numbered(name: str, numbers: Ints) -> Column:
    return pa.array([f"{name}#{number:09d}" for number in numbers.tolist()])


def _phones(rng: np.random.Generator, nations: Ints) -> Column:
    digits = rng.integers(1_000_000_000, 10_000_000_000, len(nations)).tolist()
    pairs = zip(nations.tolist(), map(str, digits), strict=True)
    return pa.array([f"{nation + 10}-{d[:3]}-{d[3:6]}-{d[6:]}" for nation, d in pairs])


def _region(comments: list[str]) -> pa.Table:
    numbers = np.arange(len(_REGIONS))
    return pa.table(
        {
            "r_regionkey": pa.array(numbers),
            "r_name": pa.array(_REGIONS),
            "r_comment": _chosen(comments, numbers),
        }
    )


def _nation(comments: list[str]) -> pa.Table:
    numbers = np.arange(len(_NATIONS))
    return pa.table(
        {
            "n_nationkey": pa.array(numbers),
            "n_name": pa.array([name for name, _ in _NATIONS]),
            "n_regionkey": pa.array([region for _, region in _NATIONS], pa.int64()),
            "n_comment": _chosen(comments, numbers),
        }
    )


def _supplier(rng: np.random.Generator, count: int) -> pa.Table:
    keys, nations = np.arange(1, count + 1), rng.integers(0, 25, count)
    return pa.table(
        {
            "s_suppkey": pa.array(keys),
            "s_name": _numbered("Supplier", keys),
            "s_address": _some(rng, _COLORS, count),
            "s_nationkey": pa.array(nations),
            "s_phone": _phones(rng, nations),
            "s_acctbal": _decimal(rng.integers(-99_999, 1_000_000, count)),
            "s_comment": _some(rng, _pool(rng, ("Customer", "Complaints")), count),
        }
    )


def _customer(rng: np.random.Generator, count: int, comments: list[str]) -> pa.Table:
    keys, nations = np.arange(1, count + 1), rng.integers(0, 25, count)
    return pa.table(
        {
            "c_custkey": pa.array(keys),
            "c_name": _numbered("Customer", keys),
            "c_address": _some(rng, _COLORS, count),
            "c_nationkey": pa.array(nations),
            "c_phone": _phones(rng, nations),
            "c_acctbal": _decimal(rng.integers(-99_999, 1_000_000, count)),
            "c_mktsegment": _some(rng, _SEGMENTS, count),
            "c_comment": _some(rng, comments, count),
        }
    )


def _part(rng: np.random.Generator, count: int, prices: Ints, comments: list[str]) -> pa.Table:
    makers, brands = rng.integers(1, 6, count), rng.integers(1, 6, count)
    colors = [_some(rng, _COLORS, count) for _ in range(5)]
    names = pc.binary_join_element_wise(*colors, " ")  # type: ignore[call-overload]  # as documented
    return pa.table(
        {
            "p_partkey": pa.array(np.arange(1, count + 1)),
            "p_name": names,
            "p_mfgr": pa.array([f"Manufacturer#{maker}" for maker in makers.tolist()]),
            "p_brand": pa.array(
                [f"Brand#{a}{b}" for a, b in zip(makers.tolist(), brands.tolist(), strict=True)]
            ),
            "p_type": _some(rng, _TYPES, count),
            "p_size": pa.array(rng.integers(1, 51, count).astype(np.int32)),
            "p_container": _some(rng, _CONTAINERS, count),
            "p_retailprice": _decimal(prices),
            "p_comment": _some(rng, comments, count),
        }
    )


def _supplier_of(parts: Ints, number: Ints, suppliers: int) -> Ints:
    """One of the four suppliers of a part."""
    step = suppliers // 4 + (parts - 1) // suppliers
    return (parts + number * step) % suppliers + 1


def _partsupp(
    rng: np.random.Generator, parts: int, suppliers: int, comments: list[str]
) -> pa.Table:
    keys, numbers = np.repeat(np.arange(1, parts + 1), 4), np.tile(np.arange(4), parts)
    count = len(keys)
    return pa.table(
        {
            "ps_partkey": pa.array(keys),
            "ps_suppkey": pa.array(_supplier_of(keys, numbers, suppliers)),
            "ps_availqty": pa.array(rng.integers(1, 10_000, count).astype(np.int32)),
            "ps_supplycost": _decimal(rng.integers(100, 100_001, count)),
            "ps_comment": _some(rng, comments, count),
        }
    )


def _orders(
    rng: np.random.Generator,
    keys: tuple[int, int],
    counts: tuple[int, int, int],
    comments: list[str],
) -> Iterator[tuple[str, pa.Table]]:
    """Some orders and their items; a third of the customers has none."""
    (first, count), (customers, parts, suppliers) = keys, counts
    numbers = np.arange(first, first + count)
    order_keys = numbers // 8 * 32 + numbers % 8 + 1
    customer = rng.integers(0, customers // 3, count) * 3 + rng.integers(1, 3, count)
    days = int((_LAST - _FIRST).astype(np.int64))
    dates = _FIRST + rng.integers(0, days + 1, count)
    items = rng.integers(1, 8, count)
    order = np.repeat(np.arange(count), items)
    starts = np.cumsum(items) - items
    lines = np.arange(len(order)) - starts[order] + 1
    total = len(order)
    part = rng.integers(1, parts + 1, total)
    quantity = rng.integers(1, 51, total)
    price = quantity * (90_000 + part // 10 % 20_001 + 100 * (part % 1000))
    discount, tax = rng.integers(0, 11, total), rng.integers(0, 9, total)
    shipped = dates[order] + rng.integers(1, 122, total)
    committed = dates[order] + rng.integers(30, 91, total)
    received = shipped + rng.integers(1, 31, total)
    is_open = shipped > _TODAY
    returned = np.where(received <= _TODAY, rng.integers(0, 2, total), 2)
    open_items = np.add.reduceat(is_open.astype(np.int64), starts)
    status = np.where(open_items == 0, 0, np.where(open_items == items, 1, 2))
    charged = price * (100 - discount) * (100 + tax) // 10_000
    yield (
        "orders",
        pa.table(
            {
                "o_orderkey": pa.array(order_keys),
                "o_custkey": pa.array(customer),
                "o_orderstatus": _chosen("FOP", status),
                "o_totalprice": _decimal(np.add.reduceat(charged, starts)),
                "o_orderdate": pa.array(dates.astype("datetime64[D]")),
                "o_orderpriority": _some(rng, _PRIORITIES, count),
                "o_clerk": _numbered("Clerk", rng.integers(1, 1001, count)),
                "o_shippriority": pa.array(np.zeros(count, np.int32)),
                "o_comment": _some(rng, comments, count),
            }
        ),
    )
    yield (
        "lineitem",
        pa.table(
            {
                "l_orderkey": pa.array(order_keys[order]),
                "l_partkey": pa.array(part),
                "l_suppkey": pa.array(_supplier_of(part, rng.integers(0, 4, total), suppliers)),
                "l_linenumber": pa.array(lines.astype(np.int32)),
                "l_quantity": _decimal(quantity * 100),
                "l_extendedprice": _decimal(price),
                "l_discount": _decimal(discount),
                "l_tax": _decimal(tax),
                "l_returnflag": _chosen("RAN", returned),
                "l_linestatus": _chosen("FO", is_open.astype(np.int64)),
                "l_shipdate": pa.array(shipped.astype("datetime64[D]")),
                "l_commitdate": pa.array(committed.astype("datetime64[D]")),
                "l_receiptdate": pa.array(received.astype("datetime64[D]")),
                "l_shipinstruct": _some(rng, _INSTRUCTIONS, total),
                "l_shipmode": _some(rng, _MODES, total),
                "l_comment": _some(rng, comments, total),
            }
        ),
    )
