"""Profiles of other writers' tables: rows against Arrow's figures, statistics against rows."""

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import paimon_explore as pe
from paimon_explore.data_types.definitions import AtomicType
from paimon_explore.inspection.profile.column_profile import ColumnProfile
from paimon_explore.inspection.profile.table_profile import Profile
from paimon_explore.inspection.rendering.value_text import value_texts
from support.depth import some
from support.figures import Figures
from support.golden import WRITERS, GoldenTables

STRIDE = 16
"""By default one table of so many is profiled."""


def bounds_of(rows: pa.Table, one: ColumnProfile) -> tuple[str | None, str | None]:
    """The minimum and maximum of a column as texts."""
    column = rows.column(one.name).combine_chunks()
    if pa.types.is_floating(column.type):
        column = column.filter(pc.invert(pc.is_nan(column)))
    if not len(column.drop_null()):
        return None, None
    order = pc.sort_indices(column.drop_null())
    ends = column.drop_null().take(pa.array([order[0].as_py(), order[-1].as_py()]))
    low, high = value_texts(ends, one.type)
    return low, high


def check_rows(rows: pa.Table, found: Profile) -> int:
    """Compare a profile of rows; returns the number of columns."""
    assert (found.rows, found.is_complete) == (rows.num_rows, True)
    own = [one for one in found.columns if len(one.path) == 1]
    assert [one.name for one in own] == rows.column_names
    for one in own:
        if one.reason.startswith("not profiled: BLOB"):
            continue
        column = rows.column(one.name)
        assert one.nulls == column.null_count, one.name
        if not one.reason and isinstance(one.type, AtomicType):
            low, high = (end and end.text for end in (one.minimum, one.maximum))
            assert (low, high) == bounds_of(rows, one), one.name
            assert one.distinct == pc.count_distinct(column).as_py(), one.name
        if one.histogram is not None:
            assert sum(one.histogram.counts) <= rows.num_rows - column.null_count
    return len(own)


def check_statistics(stored: Profile, rows: Profile) -> int:
    """Compare a profile from statistics with that of the rows; returns the exact columns."""
    assert rows.rows is not None
    if stored.is_exact:
        assert stored.rows == rows.rows
    elif stored.rows is not None:
        assert stored.rows >= rows.rows
    exact = 0
    for one, read in zip(stored.columns, rows.columns, strict=True):
        assert one.path == read.path
        if not one.is_exact or not isinstance(one.type, AtomicType):
            continue
        exact += 1
        assert one.nulls in (None, read.nulls), one.name
        for end, found in ((one.minimum, read.minimum), (one.maximum, read.maximum)):
            assert (end and end.text) == (found and found.text), one.name
    return exact


@pytest.mark.parametrize("writer", WRITERS)
def test_profiles_agree_with_the_rows(writer: str, golden: GoldenTables, figures: Figures) -> None:
    columns = exact = 0
    for name in some(golden.names(writer), STRIDE, WRITERS.index(writer)):
        table = pe.open_table(golden.table(writer, name).folder)
        rows = table.profile(exact=True)
        columns += check_rows(table.to_arrow(), rows)
        exact += check_statistics(table.profile(), rows)
    assert columns > 5
    figures.add("columns profiled", columns)
    figures.add("columns with exact statistics", exact)
