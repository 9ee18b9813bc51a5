"""Ranges of partitions that manifests cover."""

import pyarrow as pa
import pytest

from paimon_explore.commit.manifest_writer import range_of_entries, range_of_manifests
from paimon_explore.data_types.definitions import AtomicType, DataField, RowType, TypeRoot
from paimon_explore.encoding.binary_row.row_encoder import encode_rows
from paimon_explore.errors import CorruptFileError
from paimon_explore.metadata.manifest.manifest_list import MANIFEST_LIST_SCHEMA, ManifestFiles
from support.decoding import with_arity
from support.entries import entries, entry, int_row

INT = AtomicType(root=TypeRoot.INT)
DOUBLE = AtomicType(root=TypeRoot.DOUBLE)
BY_INT = RowType(fields=(DataField(id=0, name="p", type=INT),))
BY_DOUBLE = RowType(fields=(DataField(id=0, name="p", type=DOUBLE),))
NULL_ROW = (1).to_bytes(4, "big") + b"\0\1" + bytes(14)


def double_row(value: float) -> bytes:
    return with_arity(encode_rows([pa.array([value])], [DOUBLE]), 1)[0].as_py() or b""


def test_the_range_spans_all_entries_and_counts_their_nulls() -> None:
    rows = [entry(f"f{i}", partition=p) for i, p in enumerate([int_row(5), NULL_ROW, int_row(2)])]
    found = range_of_entries(entries(*rows, entry("g", partition=NULL_ROW)), BY_INT)
    assert (found.low, found.high, found.null_counts) == (int_row(2), int_row(5), (2,))


def test_nothing_but_nulls_has_no_bounds() -> None:
    found = range_of_entries(entries(entry("f", partition=NULL_ROW)), BY_INT)
    assert (found.low, found.high, found.null_counts) == (NULL_ROW, NULL_ROW, (1,))


def test_a_partition_that_cannot_be_decoded_is_corrupt() -> None:
    with pytest.raises(CorruptFileError, match="in _PARTITION, value 0"):
        range_of_entries(entries(entry("f", partition=b"x"), entry("g")), BY_INT)
    with pytest.raises(CorruptFileError, match="_PARTITION_STATS"):
        range_of_manifests(files(manifest(b"x", b"x", [0])), BY_INT)


def test_one_partition_is_its_own_range() -> None:
    rows = [entry("f", partition=int_row(5)), entry("g", partition=int_row(5))]
    found = range_of_entries(entries(*rows), BY_INT)
    assert (found.low, found.high, found.null_counts) == (int_row(5), int_row(5), (0,))
    two = [entry("f", partition=NULL_ROW), entry("g", partition=NULL_ROW)]
    assert range_of_entries(entries(*two), BY_INT).null_counts == (2,)


def test_one_partition_of_nan_leaves_no_bounds() -> None:
    found = range_of_entries(entries(entry("f", partition=double_row(float("nan")))), BY_DOUBLE)
    assert found.low == found.high == NULL_ROW
    assert found.null_counts == (0,)


def test_a_nan_leaves_no_bounds() -> None:
    rows = [entry("f", partition=double_row(1.0)), entry("g", partition=double_row(float("nan")))]
    found = range_of_entries(entries(*rows), BY_DOUBLE)
    assert found.low == found.high == NULL_ROW
    assert found.null_counts == (0,)


def test_without_partitions_the_range_is_the_empty_row() -> None:
    found = range_of_entries(entries(entry("f")), RowType(fields=()))
    assert (found.low, found.high, found.null_counts) == (bytes(12), bytes(12), ())


def manifest(low: bytes, high: bytes, nulls: object, added: int = 3) -> dict[str, object]:
    return {
        "file_name": "m",
        "file_size": 1,
        "num_added_files": added,
        "num_deleted_files": 0,
        "partition_min": low,
        "partition_max": high,
        "partition_null_counts": nulls,
        "schema_id": 0,
    }


def files(*rows: dict[str, object]) -> ManifestFiles:
    return ManifestFiles(pa.Table.from_pylist(list(rows), schema=MANIFEST_LIST_SCHEMA))


def test_ranges_of_manifests_add_up() -> None:
    found = range_of_manifests(
        files(
            manifest(int_row(2), int_row(4), [1]),
            manifest(NULL_ROW, NULL_ROW, [3]),
            manifest(int_row(1), int_row(3), [0]),
        ),
        BY_INT,
    )
    assert found is not None
    assert (found.low, found.high, found.null_counts) == (int_row(1), int_row(4), (4,))


def test_an_unknown_bound_stays_unknown() -> None:
    found = range_of_manifests(
        files(manifest(int_row(2), int_row(4), [0]), manifest(NULL_ROW, NULL_ROW, [1])), BY_INT
    )
    assert found is not None
    assert found.low == NULL_ROW


@pytest.mark.parametrize("nulls", [None, [], [None]])
def test_manifests_that_do_not_count_nulls_do_not_tell_enough(nulls: object) -> None:
    assert range_of_manifests(files(manifest(int_row(1), int_row(1), nulls)), BY_INT) is None
