"""Folders of partitions."""

import time
from datetime import date
from decimal import Decimal
from urllib.parse import unquote

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.definitions import ArrayType, AtomicType, TypeRoot
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.metadata.partition_path import escape_name, partition_paths, partition_texts
from support.odd_names import BLANK_VALUES, NOT_BLANK_VALUES

STRING = AtomicType(root=TypeRoot.VARCHAR, length=2**31 - 1)


def texts(
    array: Column, root: TypeRoot, *, legacy: bool = True, precision: int = 3
) -> list[str | None]:
    kind = AtomicType(root=root, precision=precision)
    return partition_texts([array], [kind], legacy_names=legacy)[0]


def test_keys_and_values_make_nested_folders() -> None:
    columns: list[Column] = [pa.array(["a b/c=d%", None, ""]), pa.array([1, 2, None], pa.int32())]
    assert partition_paths(["dt", "hr"], columns, [STRING, AtomicType(root=TypeRoot.INT)]) == [
        "dt=a b%2Fc%3Dd%25/hr=1",
        "dt=__DEFAULT_PARTITION__/hr=2",
        "dt=__DEFAULT_PARTITION__/hr=__DEFAULT_PARTITION__",
    ]


def test_blank_values_go_to_the_default_folder_of_the_table() -> None:
    assert partition_paths(["k"], [pa.array([" \t"])], [STRING], default_name="none") == ["k=none"]


def test_blank_is_what_java_takes_for_blank() -> None:
    assert partition_paths(["k"], [pa.array(BLANK_VALUES)], [STRING]) == [
        "k=__DEFAULT_PARTITION__"
    ] * len(BLANK_VALUES)
    assert partition_paths(["k"], [pa.array(NOT_BLANK_VALUES)], [STRING]) == [
        f"k={value}" for value in NOT_BLANK_VALUES
    ]


def test_tables_without_partitions_have_no_folder() -> None:
    assert partition_paths([], [], []) == [""]


def test_legacy_texts_are_those_of_java_to_string() -> None:
    assert texts(pa.array([date(2024, 1, 1)]), TypeRoot.DATE) == ["19723"]
    assert texts(pa.array([True, False]), TypeRoot.BOOLEAN) == ["true", "false"]
    assert texts(pa.array([1e10, 1.5]), TypeRoot.DOUBLE) == ["1.0E10", "1.5"]
    assert texts(pa.array([0.1], pa.float32()), TypeRoot.FLOAT) == ["0.1"]
    assert texts(pa.array([Decimal("1.50")]), TypeRoot.DECIMAL) == ["1.50"]
    assert texts(pa.array([37], pa.time32("ms")), TypeRoot.TIME) == ["37"]


def test_legacy_timestamps_drop_zero_seconds_and_group_the_fraction_in_threes() -> None:
    at = pa.array([0, 1_700_000_000_123, None, -1, 1000], pa.timestamp("ms"))
    assert texts(at, TypeRoot.TIMESTAMP) == [
        "1970-01-01T00:00",
        "2023-11-14T22:13:20.123",
        None,
        "1969-12-31T23:59:59.999",
        "1970-01-01T00:00:01",
    ]
    micros = pa.array([1_500], pa.timestamp("us"))
    assert texts(micros, TypeRoot.TIMESTAMP, precision=6) == ["1970-01-01T00:00:00.001500"]


def test_other_texts_are_those_of_a_cast() -> None:
    day = pa.array([date(2024, 1, 1), None])
    assert texts(day, TypeRoot.DATE, legacy=False) == ["2024-01-01", None]
    at = pa.array([1_700_000_000_123], pa.timestamp("ms"))
    assert texts(at, TypeRoot.TIMESTAMP, legacy=False) == ["2023-11-14 22:13:20.123"]
    clock = pa.array([3_723_100], pa.time32("ms"))
    assert texts(clock, TypeRoot.TIME, legacy=False) == ["01:02:03.1"]


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone of the process is fixed")
def test_instants_are_local_times_without_legacy_names(monkeypatch: pytest.MonkeyPatch) -> None:
    at = pa.array([1_704_103_200_000, None, 1_720_000_000_000], pa.timestamp("ms", "UTC"))
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        assert texts(at, TypeRoot.TIMESTAMP_LTZ, legacy=False) == [
            "2024-01-01 05:00:00.000",
            None,
            "2024-07-03 05:46:40.000",
        ]
        assert texts(at, TypeRoot.TIMESTAMP_LTZ)[0] == "2024-01-01T10:00"
    finally:
        monkeypatch.undo()
        time.tzset()


def test_types_without_a_folder_name_are_refused() -> None:
    with pytest.raises(UnsupportedFeatureError, match="VARBINARY"):
        texts(pa.array([b"a"]), TypeRoot.VARBINARY)
    with pytest.raises(UnsupportedFeatureError, match="nested"):
        partition_texts([pa.array([[1]])], [ArrayType(element=STRING)])


def test_escaping_leaves_spaces_and_other_scripts() -> None:
    assert escape_name("漢 字:1") == "漢 字%3A1"
    assert escape_name("\x01\x7f}") == "%01%7F%7D"
    with pytest.raises(InvalidInputError):
        escape_name("")


@given(st.text(min_size=1))
def test_names_are_percent_encoded(name: str) -> None:
    assert unquote(escape_name(name), errors="surrogatepass") == name
