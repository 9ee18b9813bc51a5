"""Buckets against those of Java 0.7 to 2.0, which agree."""

import json
from pathlib import Path

import pyarrow as pa
import pytest

from paimon_explore.data_types.json_parser import parse_type
from paimon_explore.encoding.binary_row.row_encoder import encode_rows
from paimon_explore.encoding.bucket_function import bucket_of, key_hashes
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from support.decoding import with_arity
from support.wire import column

VECTORS = json.loads(
    (Path(__file__).parents[2] / "golden" / "vectors.json").read_text(encoding="utf-8")
)["java-2.0"]


def test_every_check_value_gets_the_key_bytes_the_hash_and_the_bucket_of_java() -> None:
    for case in VECTORS:
        several = isinstance(case["type"], list)
        texts = case["type"] if several else [case["type"]]
        values = case["value"] if several else [case["value"]]
        types = [parse_type(text, "vectors") for text in texts]
        columns = [column([v], t) for v, t in zip(values, types, strict=True)]
        function = case.get("function", "default")

        assert bucket_of(columns, types, case["buckets"], function).tolist() == [case["bucket"]]
        if function == "default":
            [key] = with_arity(encode_rows(columns, types), len(types))
            assert key.as_py().hex() == case["bucketKeyBytes"]
            assert key_hashes(columns, types).tolist() == [case["bucketKeyHash"]]


def test_many_rows_get_the_buckets_they_get_one_by_one() -> None:
    data_type = parse_type("STRING", "a test")
    values = ["a", "1234567", "12345678", "20241011", "123456789", "", "中文"]

    buckets = bucket_of([pa.array(values)], [data_type], 5)

    assert buckets.tolist() == [1, 2, 1, 2, 2, 4, 4]


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("INT", [None, 5, -1], [0, 1, 3]),
        ("FLOAT", [0.0, -0.0, None], [0, 0, 0]),
        ("STRING", [None, "", "hello"], [0, 0, 2]),
        ("DECIMAL(10, 4)", [None], [0]),
    ],
)
def test_hive_takes_null_and_zero_as_zero(
    text: str, values: list[object], expected: list[int]
) -> None:
    data_type = parse_type(text, "a test")

    assert bucket_of([column(values, data_type)], [data_type], 4, "hive").tolist() == expected


def test_the_mod_function_floors_as_java_does() -> None:
    data_type = parse_type("BIGINT", "a test")
    values = pa.array([-7, 7, None, -(2**63)], pa.int64())

    assert bucket_of([values], [data_type], 5, "mod").tolist() == [3, 2, 0, 2]


def test_unsuitable_keys_are_refused() -> None:
    timestamp = parse_type("TIMESTAMP(3)", "a test")
    moments = pa.array([0], pa.timestamp("ms"))

    with pytest.raises(UnsupportedFeatureError, match="hive"):
        bucket_of([moments], [timestamp], 4, "hive")
    with pytest.raises(InvalidInputError, match="one INT or BIGINT"):
        bucket_of([moments], [timestamp], 4, "mod")
    with pytest.raises(InvalidInputError, match="must be at least 1"):
        bucket_of([moments], [timestamp], 0)


def test_keys_of_many_rows_are_hashed_as_those_of_few() -> None:
    keys = pa.array(range(40_000), pa.int64())
    types = [parse_type("BIGINT", "test")]
    whole = bucket_of([keys], types, 7)
    tail = bucket_of([keys.slice(39_990)], types, 7)
    assert whole[39_990:].tolist() == tail.tolist()
    assert len(whole) == 40_000
