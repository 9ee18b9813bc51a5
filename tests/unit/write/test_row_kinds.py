"""Row kinds of an input."""

import pyarrow as pa
import pytest

from paimon_explore.errors import InvalidInputError
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.write.input.row_kinds import DELETE, INSERT, kept_kinds, kinds_of


def batch(**columns: "pa.Array[pa.Scalar[pa.DataType]]") -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))


NONE = TableOptions({})


def test_rows_without_a_kind_are_of_the_default_kind() -> None:
    rows = batch(a=pa.array([1, 2]))
    assert kinds_of(rows, NONE).tolist() == [INSERT, INSERT]
    assert kinds_of(rows, NONE, DELETE).tolist() == [DELETE, DELETE]


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["+I", "-U", "+U", "-D"]),
        pa.array(["+I", "-U", "+U", "-D"]).dictionary_encode(),
        pa.array([0, 1, 2, 3], pa.uint8()),
    ],
    ids=["texts", "dictionary", "numbers"],
)
def test_kinds_are_texts_or_numbers(column: "pa.Array[pa.Scalar[pa.DataType]]") -> None:
    assert kinds_of(batch(_ROW_KIND=column), NONE).tolist() == [0, 1, 2, 3]


def test_a_column_of_the_table_may_hold_the_kind() -> None:
    options = TableOptions({"rowkind.field": "op"})
    assert kinds_of(batch(op=pa.array(["-D", "+I"])), options).tolist() == [3, 0]


@pytest.mark.parametrize(
    "column", [pa.array(["+I", "?"]), pa.array([0, 4]), pa.array(["+I", None])]
)
def test_what_is_no_kind_is_refused(column: "pa.Array[pa.Scalar[pa.DataType]]") -> None:
    with pytest.raises(InvalidInputError, match="_ROW_KIND"):
        kinds_of(batch(_ROW_KIND=column), NONE)


def test_ignored_kinds_are_dropped_before_anything_else() -> None:
    kinds = kinds_of(batch(_ROW_KIND=pa.array([0, 1, 2, 3])), NONE)
    assert kept_kinds(kinds, NONE) is None
    no_delete = kept_kinds(kinds, TableOptions({"ignore-delete": "true"}))
    assert no_delete is not None
    assert no_delete.tolist() == [True, False, True, False]
    no_before = kept_kinds(kinds, TableOptions({"ignore-update-before": "true"}))
    assert no_before is not None
    assert no_before.tolist() == [True, False, True, True]
