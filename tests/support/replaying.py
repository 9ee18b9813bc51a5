"""Changes replayed onto rows, and acts that make them."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from random import Random

import pyarrow as pa

from paimon_explore import Table
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.table.scan import make_scan
from support.small_tables import new_catalog

Row = tuple[tuple[str, object], ...]
State = Counter[Row]
Change = Mapping[str, object]

SCHEMA = pa.schema(
    {"p": pa.string(), "k": pa.int32(), "v": pa.int32(), "w": pa.string()}  # type: ignore[arg-type]  # in stubs
)
PARTITIONS = ("a", "b", "c")
LATER = datetime(2100, 1, 1)  # noqa: DTZ001 - local, as the API takes it


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of table of the columns p, k, v and w, partitioned by p.

    Attributes:
        options: of the table.
        keys: its primary key.
    """

    options: Mapping[str, str] = field(default_factory=dict)
    keys: tuple[str, ...] = ()

    def create(self) -> Table:
        """An empty table."""
        return new_catalog().create_table(
            "db.t",
            SCHEMA,
            partition_by=["p"],
            primary_key=list(self.keys),
            options={"manifest.merge-min-count": "5", **self.options},
        )


def state_at(table: Table, number: int, where: str | None = None) -> State:
    """The rows of a snapshot in the columns of the newest schema; of none before the first."""
    target = table.scan().target
    snapshot = table._store.snapshots.load(number) if number else None
    scan = make_scan(replace(target, snapshot=snapshot, travelled=True), None, where, None)
    return Counter(tuple(row.items()) for row in scan.to_arrow().to_pylist())


def replayed(before: State, changes: Iterable[Change], keys: Sequence[str]) -> State:
    """The rows after some changes.

    Args:
        before: the rows before.
        changes: rows with `rowkind`, in order.
        keys: of the primary key; none to replay as a multiset, in which nothing may be taken away
            that is not there.
    """
    if not keys:
        found = Counter(before)
        for change in changes:
            row = tuple((name, value) for name, value in change.items() if name != "rowkind")
            gone = change["rowkind"] in {"-U", "-D"}
            assert found[row] > 0 or not gone, f"{change} is not there"
            found[row] += -1 if gone else 1
        return +found
    rows = {tuple(value for name, value in row if name in keys): row for row in before}
    for change in changes:
        row = tuple((name, value) for name, value in change.items() if name != "rowkind")
        key = tuple(value for name, value in row if name in keys)
        if change["rowkind"] in {"-U", "-D"}:
            rows.pop(key, None)
        else:
            rows[key] = row
    return Counter(rows.values())


def rows_made(table: Table, random: Random, partitions: Sequence[str] = PARTITIONS) -> list[Change]:
    """Some rows, of few keys."""
    extra = [name for name in table.schema.row_type.names if name not in SCHEMA.names]
    return [
        {
            "p": random.choice(partitions),
            "k": random.randrange(6),
            "v": random.choice([None, *range(9)]),
            "w": random.choice([None, "x", "yy"]),
            **{name: random.choice([None, 1, 2]) for name in extra},
        }
        for _ in range(random.randint(1, 4))
    ]


def _write(table: Table, random: Random) -> None:
    rows = rows_made(table, random)
    if not table.schema.primary_keys:
        table.append(rows)
        return
    unique = {tuple(row[key] for key in table.schema.primary_keys): row for row in rows}
    table.upsert(list(unique.values()))


def _delete_keys(table: Table, random: Random) -> None:
    if not table.schema.primary_keys:
        _write(table, random)
        return
    unique = {
        tuple(row[key] for key in table.schema.primary_keys): {**row, "_ROW_KIND": "-D"}
        for row in rows_made(table, random)
    }
    table.upsert(list(unique.values()))


def _merge(table: Table, random: Random) -> None:
    source = {(row["p"], row["k"]): row for row in rows_made(table, random)}
    merge = table.merge(list(source.values()), on=["p", "k"])
    if random.random() < 0.5:
        merge = merge.when_matched_update({"v": "source.v"})
    else:
        merge = merge.when_matched_delete()
    merge.when_not_matched_insert().execute()


def _overwrite(table: Table, random: Random) -> None:
    match random.randrange(3):
        case 0:
            table.overwrite(_unique(table, rows_made(table, random)))
        case 1:
            place = random.choice(PARTITIONS)
            rows = _unique(table, rows_made(table, random, [place]))
            table.overwrite(rows, partition={"p": place})
        case _:
            whole = replace(table, _dynamic_options={"dynamic-partition-overwrite": "false"})
            whole.overwrite(_unique(table, rows_made(table, random)))


def _unique(table: Table, rows: list[Change]) -> list[Change]:
    if not table.schema.primary_keys:
        return rows
    return list(
        {tuple(row[key] for key in table.schema.primary_keys): row for row in rows}.values()
    )


def _alter(table: Table, _: Random) -> None:
    names = table.schema.row_type.names
    if "x" in names:
        table.drop_column("x")
    else:
        table.add_column("x", "INT")


ACTS: Mapping[str, Callable[[Table, Random], object]] = {
    "write": _write,
    "write again": _write,
    "write more": _write,
    "delete keys": _delete_keys,
    "delete": lambda table, random: table.delete(f"v >= {random.randrange(3, 9)}"),
    "update": lambda table, random: table.update({"v": "v + 1"}, f"k = {random.randrange(6)}"),
    "merge": _merge,
    "overwrite": _overwrite,
    "truncate": lambda table, random: table.truncate() if random.random() < 0.3 else None,
    "drop a partition": lambda table, random: table.drop_partitions(
        {"p": random.choice(PARTITIONS)}
    ),
    "compact": lambda table, random: table.compact(full=random.random() < 0.5),
    "alter": _alter,
    "analyze": lambda table, _: table.maintenance.analyze() if table.snapshot else None,
}
"""What may be done to a table."""


NOT_FOR_ALL = frozenset({"delete keys", "delete", "update", "merge", "overwrite"})
"""What some kinds of tables refuse."""


def act(table: Table, random: Random, *, but: Sequence[str] = ()) -> str:
    """Do something to a table; what its kind does not allow changes nothing."""
    name = random.choice([name for name in ACTS if name not in but])
    try:
        ACTS[name](table, random)
    except (UnsupportedFeatureError, InvalidInputError):
        assert name in NOT_FOR_ALL
        return f"{name} (refused)"
    return name
