"""Updates, deletes and merges in any order against a dictionary of rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paimon_explore import Table
from support.depth import DEEP
from support.small_tables import new_catalog
from support.written import columns

TRACKED = {"row-tracking.enabled": "true"}
VECTORS = {"deletion-vectors.enabled": "true"}
EVOLVED = {**TRACKED, **VECTORS, "data-evolution.enabled": "true"}
BUCKETS = {"bucket": "2", "bucket-key": "k"}


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of table.

    Attributes:
        options: of the table.
        keyed: whether `k` is its primary key.
        partitioned: whether `p` is its partition.
        deletes: whether rows can be deleted.
        hides: whether new rows are seen only after a compaction.
    """

    options: Mapping[str, str] = field(default_factory=dict)
    keyed: bool = False
    partitioned: bool = False
    deletes: bool = True
    hides: bool = False


KINDS = {
    "append": Kind(),
    "append partitioned": Kind(partitioned=True),
    "append vectors": Kind(options=VECTORS),
    "append wide vectors partitioned": Kind(
        options={**VECTORS, "deletion-vectors.bitmap64": "true"}, partitioned=True
    ),
    "append small vector files": Kind(
        options={**VECTORS, "deletion-vector.index-file.target-size": "1 b"}
    ),
    "bucketed": Kind(options=BUCKETS),
    "bucketed vectors": Kind(options={**BUCKETS, **VECTORS}, partitioned=True),
    "row tracking": Kind(options=TRACKED, partitioned=True),
    "row tracking vectors": Kind(options={**TRACKED, **VECTORS}),
    "data evolution": Kind(options={**TRACKED, "data-evolution.enabled": "true"}, deletes=False),
    "data evolution vectors": Kind(options=EVOLVED),
    "data evolution vectors partitioned": Kind(options=EVOLVED, partitioned=True),
    "keyed": Kind(options={"bucket": "2"}, keyed=True),
    "keyed vectors": Kind(options={"bucket": "1", **VECTORS}, keyed=True, hides=True),
    "keyed across partitions": Kind(
        options={"bucket": "-1", "dynamic-bucket.target-row-num": "3"},
        keyed=True,
        partitioned=True,
    ),
}

Rows: TypeAlias = dict[int, tuple[int | None, str]]
"""Value and partition by key."""

KEYS = st.integers(0, 12)
VALUES = st.none() | st.integers(-3, 3)
PLACES = st.sampled_from(["a", "b"])
SOURCE = st.dictionaries(KEYS, st.tuples(VALUES, PLACES), max_size=6)


@dataclass(frozen=True)
class Append:
    rows: Rows


@dataclass(frozen=True)
class Delete:
    least: int


@dataclass(frozen=True)
class Update:
    keys: frozenset[int]


@dataclass(frozen=True)
class Move:
    keys: frozenset[int]
    place: str


@dataclass(frozen=True)
class Merge:
    source: Rows
    by_source: bool


Step: TypeAlias = Append | Delete | Update | Move | Merge

SOME_KEYS = st.frozensets(KEYS, min_size=1, max_size=6)
STEPS = st.lists(
    st.one_of(
        st.builds(Append, SOURCE),
        st.builds(Delete, st.integers(-2, 4)),
        st.builds(Update, SOME_KEYS),
        st.builds(Move, SOME_KEYS, PLACES),
        st.builds(Merge, SOURCE, st.booleans()),
    ),
    min_size=2,
    max_size=7,
)


def new_table(kind: Kind) -> Table:
    """An empty table with a key, a value and a place."""
    return new_catalog().create_table(
        "db.t",
        columns({"k": pa.int32(), "v": pa.int64(), "p": pa.string()}),
        primary_key=["k"] if kind.keyed else [],
        partition_by=["p"] if kind.partitioned else [],
        options=kind.options,
    )


def as_rows(rows: Rows) -> list[dict[str, object]]:
    """Rows as dictionaries."""
    return [{"k": k, "v": v, "p": p} for k, (v, p) in rows.items()]


def rows_of(table: Table) -> Rows:
    """The table's rows; every key occurs once."""
    found = table.to_arrow().to_pylist()
    rows = {row["k"]: (row["v"], row["p"]) for row in found}
    assert len(rows) == len(found)
    return rows


def in_list(keys: Sequence[int]) -> str:
    """The keys in SQL."""
    return f"k IN ({', '.join(map(str, keys))})"


def run(table: Table, kind: Kind, model: Rows, step: Step) -> Rows:
    """Do a step to the table; the rows that it should have then."""
    match step:
        case Append(rows=rows):
            fresh = {k: row for k, row in rows.items() if k not in model}
            table.append(as_rows(fresh))
            return {**model, **fresh}
        case Delete(least=least):
            if kind.deletes:
                table.delete(f"v >= {least}")
                return {k: r for k, r in model.items() if r[0] is None or r[0] < least}
        case Update(keys=keys):
            table.update({"v": "coalesce(v, 0) + k"}, where=in_list(sorted(keys)))
            return {k: ((v or 0) + k if k in keys else v, p) for k, (v, p) in model.items()}
        case Move(keys=keys, place=place):
            if not (kind.partitioned and "data-evolution.enabled" in kind.options):
                table.update({"p": f"'{place}'"}, where=in_list(sorted(keys)))
                return {k: (v, place if k in keys else p) for k, (v, p) in model.items()}
        case Merge():
            return merged(table, kind, model, step)
    return model


def merged(table: Table, kind: Kind, model: Rows, step: Merge) -> Rows:
    """Source rows with a negative value delete, the others add up or come new."""
    merge = table.merge(as_rows(step.source), on="k")
    deletes, by_source = kind.deletes, step.by_source
    if deletes:
        merge = merge.when_matched_delete("source.v < 0")
    merge = merge.when_matched_update({"v": "coalesce(t.v, 0) + coalesce(s.v, 0)"})
    merge = merge.when_not_matched_insert(condition="s.k IS NOT NULL")
    if by_source:
        merge = merge.when_not_matched_by_source_update({"v": "7"}, "v IS NULL")
    merge.execute()
    rows: Rows = {}
    for key, (value, place) in model.items():
        if key not in step.source:
            rows[key] = (7 if by_source and value is None else value, place)
            continue
        new = step.source[key][0]
        if not (deletes and new is not None and new < 0):
            rows[key] = ((value or 0) + (new or 0), place)
    return rows | {k: row for k, row in step.source.items() if k not in model}


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=60 if DEEP else 3)
@given(steps=STEPS)
def test_rows_are_those_of_the_operations(name: str, steps: list[Step]) -> None:
    kind = KINDS[name]
    table = new_table(kind)
    model: Rows = {}
    for step in steps:
        model = run(table, kind, model, step)
        if kind.hides:
            table.compact()
        assert rows_of(table) == model
    assert table.maintenance.fsck() == []
    if "row-tracking.enabled" in kind.options and model:
        ids = table.inspect.system_table("row_tracking").to_arrow().column("_ROW_ID").to_pylist()
        assert None not in ids
        assert len(set(ids)) == len(ids)
    for snapshot in table.snapshots:
        table.at(snapshot=snapshot.id).to_arrow()
