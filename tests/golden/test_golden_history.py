"""The history of an aggregation is the result at each snapshot, for tables of every writer."""

import pytest

import paimon_explore as pe
from paimon_explore.data_types.definitions import AtomicType, TypeRoot
from paimon_explore.errors import InvalidInputError
from support.golden import WRITERS, GoldenTables

_NUMBERS = {TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INT, TypeRoot.BIGINT}


def _query(table: pe.Table) -> str:
    """Count all rows, and aggregate a whole number, by the first partition column."""
    schema = table.schema
    found = [
        f.name for f in schema.fields if isinstance(f.type, AtomicType) and f.type.root in _NUMBERS
    ]
    items = ["count(*) AS n"]
    items += [f"{name}(`{found[-1]}` % 1000)" for name in ("sum", "min", "max", "count") if found]
    groups = [f"`{name}`" for name in schema.partition_keys[:1]]
    where = f" WHERE `{found[0]}` > 1" if found else ""
    grouped = f" GROUP BY {groups[0]}" if groups else ""
    return f"SELECT {', '.join([*groups, *items])} FROM t{where}{grouped}"  # noqa: S608 - of the test


@pytest.mark.parametrize("writer", WRITERS)
def test_history_is_the_result_at_each_snapshot(writer: str, golden: GoldenTables) -> None:
    wrong, shared = [], 0
    for name in golden.some_names(writer, 6):
        table = pe.open_table(golden.table(writer, name).folder)
        ids = [one.id for one in table.snapshots][-6:]
        if not ids:
            continue
        query = _query(table.at(snapshot=ids[-1]))
        history = pe.sql(query, t=table).history(len(ids))
        shared += not history.note
        rows = history.to_arrow().drop_columns(["commit_time", "commit_kind", "commit_user"])
        expected: list[list[object]] = []
        for number in ids:
            try:
                at = pe.sql(query, t=table.at(snapshot=number)).to_arrow()
            except InvalidInputError:  # the columns are younger
                expected.clear()
                continue
            expected += [[number, *row.values()] for row in at.to_pylist()]
        found = [list(row.values()) for row in rows.to_pylist()]
        if sorted(found, key=repr) != sorted(expected, key=repr):
            wrong.append(f"{name}: {query}: {found} instead of {expected} {history.note}")
    assert wrong == []
    assert shared > 0
