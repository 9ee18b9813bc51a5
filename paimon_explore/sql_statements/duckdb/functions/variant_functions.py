"""Spark's functions of VARIANT values in DuckDB, where a variant is a struct of its byte strings.

The result of `variant_get` has the type of its third argument, so each type has a function of its
own, which is created before the first query that calls it.
"""

from collections.abc import Callable, Sequence
from functools import partial
from hashlib import sha224, sha256, sha384, sha512
from threading import Lock
from typing import TypeAlias
from zlib import crc32

import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.definitions import MAX_LENGTH, AtomicType, DataType, TypeRoot
from paimon_explore.encoding.variant.arrow_values import trees_of, variant_column
from paimon_explore.scan.predicate.variants.casts import cast_trees
from paimon_explore.scan.predicate.variants.kernels import VARIANT_KERNELS, trees_at
from paimon_explore.sql_statements.duckdb.functions.json_functions import (
    json_column,
    parsed_column,
    text_column,
)
from paimon_explore.sql_statements.duckdb.functions.text_functions import (
    by_row,
    conv,
    fail,
    format_by_pattern,
    format_number,
    levenshtein,
    mask,
    murmur_hashes,
    number_text,
    parse_url,
    parsed_number,
    soundex,
    type_names,
    xxhashes,
)
from paimon_explore.sql_statements.duckdb.functions.variant_schema import schema_text
from paimon_explore.sql_statements.duckdb.type_names import VARIANT, duckdb_type
from paimon_explore.threads import free_in_forks

Kernel = Callable[..., Column]
_STRING = AtomicType(root=TypeRoot.VARCHAR, length=MAX_LENGTH)
_BIGINT, _DOUBLE, _BOOLEAN, _DATE = (
    AtomicType(root=root)
    for root in (TypeRoot.BIGINT, TypeRoot.DOUBLE, TypeRoot.BOOLEAN, TypeRoot.DATE)
)


_Typed: TypeAlias = tuple[str, DataType]


class _TypedFunctions:
    """The functions whose results have a type that a query names, by their names."""

    def __init__(self) -> None:
        self._lock = free_in_forks(Lock())
        self._known: dict[str, _Typed] = {}

    def name(self, kind: str, target: DataType) -> str:
        """Return the name of the function of a kind of `TYPED` for a type."""
        duckdb_type(target)
        with self._lock:
            for name, known in self._known.items():
                if known == (kind, target):
                    return name
            name = f"spark_{kind}_{len(self._known)}"
            self._known[name] = (kind, target)
            return name

    def after(self, count: int) -> list[tuple[str, _Typed]]:
        """Return the functions that were added after a number of others."""
        with self._lock:
            return list(self._known.items())[count:]


_TYPED_FUNCTIONS = _TypedFunctions()
typed_function, typed_functions_after = _TYPED_FUNCTIONS.name, _TYPED_FUNCTIONS.after


def reads_path(name: str) -> bool:
    """Return whether a function needs only the value at a path, its second argument."""
    return name == "variant_get" or name.startswith(("spark_cast_", "spark_try_cast_"))


def _whole_cast(target: DataType) -> Kernel:
    return lambda columns: cast_trees(trees_of(columns[0]), target, None, fails=True)


def _cast(target: DataType, columns: Sequence[Column], *, fails: bool) -> Column:
    return cast_trees(trees_at(*columns), target, None, fails=fails)


def _variants(columns: Sequence[Column]) -> Column:
    return variant_column(trees_of(columns[0]))


def _schemas(columns: Sequence[Column]) -> Column:
    texts = [schema_text([tree]) for tree in trees_of(columns[0])]
    found: Column = pa.array(texts, pa.string())
    return found


def _checksums(columns: Sequence[Column]) -> Column:
    values = [one.as_py() for one in columns[0]]
    return pa.array([None if one is None else crc32(one) for one in values], pa.int64())


def _digests(columns: Sequence[Column]) -> Column:
    texts: list[str | None] = []
    for value, bits in zip(*columns, strict=True):
        digest = _DIGESTS.get(bits.as_py())
        if digest is None or not value.is_valid:
            texts.append(None)
        else:
            texts.append(digest(value.as_py()).hexdigest())
    return pa.array(texts, pa.string())


_DIGESTS = {0: sha256, 224: sha224, 256: sha256, 384: sha384, 512: sha512}
_SET = (VARIANT, "VARCHAR", VARIANT, "BOOLEAN")
FUNCTIONS: dict[str, tuple[Sequence[str] | None, str, Kernel]] = {
    "spark_variant": (None, VARIANT, _variants),
    "to_variant_object": (None, VARIANT, _variants),
    "variant_delete": (None, VARIANT, VARIANT_KERNELS["variant_delete"]),
    "variant_get": ((VARIANT, "VARCHAR"), VARIANT, VARIANT_KERNELS["variant_get"]),
    "spark_variant_set": (_SET, VARIANT, VARIANT_KERNELS["variant_set"]),
    "spark_try_variant_set": (_SET, VARIANT, VARIANT_KERNELS["try_variant_set"]),
    "parse_json": (("VARCHAR",), VARIANT, VARIANT_KERNELS["parse_json"]),
    "try_parse_json": (("VARCHAR",), VARIANT, VARIANT_KERNELS["try_parse_json"]),
    "spark_variant_json": ((VARIANT,), "VARCHAR", VARIANT_KERNELS["to_json"]),
    "spark_variant_text": ((VARIANT,), "VARCHAR", _whole_cast(_STRING)),
    "spark_variant_whole": ((VARIANT,), "BIGINT", _whole_cast(_BIGINT)),
    "spark_variant_real": ((VARIANT,), "DOUBLE", _whole_cast(_DOUBLE)),
    "spark_variant_boolean": ((VARIANT,), "BOOLEAN", _whole_cast(_BOOLEAN)),
    "spark_variant_date": ((VARIANT,), "DATE", _whole_cast(_DATE)),
    "is_variant_null": ((VARIANT,), "BOOLEAN", VARIANT_KERNELS["is_variant_null"]),
    "schema_of_variant": ((VARIANT,), "VARCHAR", _schemas),
    "spark_json_text": (None, "VARCHAR", json_column),
    "spark_nested_text": (None, "VARCHAR", text_column),
    "spark_type_name": (None, "VARCHAR", type_names),
    "spark_conv": (("VARCHAR", "INTEGER", "INTEGER"), "VARCHAR", by_row(conv)),
    "spark_format_number": (
        ("VARCHAR", "INTEGER", "BOOLEAN"),
        "VARCHAR",
        by_row(format_number),
    ),
    "spark_hash": (None, "INTEGER", murmur_hashes),
    "xxhash64": (None, "BIGINT", xxhashes),
    "spark_format_by_pattern": (("VARCHAR",) * 2, "VARCHAR", by_row(format_by_pattern)),
    "spark_number_format": (("VARCHAR",) * 2, "VARCHAR", by_row(number_text)),
    "spark_number": (("VARCHAR",) * 2, "VARCHAR", by_row(parsed_number)),
    "spark_fail": (("VARCHAR",), "BOOLEAN", by_row(fail)),
    "spark_levenshtein": (("VARCHAR",) * 2, "INTEGER", by_row(levenshtein, pa.int32())),
    "soundex": (("VARCHAR",), "VARCHAR", by_row(soundex)),
    "spark_mask": (("VARCHAR",) * 5, "VARCHAR", by_row(mask, nulls=True)),
    "spark_parse_url": (("VARCHAR",) * 3, "VARCHAR", by_row(parse_url, nulls=True)),
    "crc32": (("BLOB",), "BIGINT", _checksums),
    "spark_sha2": (("BLOB", "INTEGER"), "VARCHAR", _digests),
}
"""Parameter types, None for any; type of the result; kernel."""
_AT_PATH = (VARIANT, "VARCHAR")
TYPED: dict[str, tuple[Sequence[str], Callable[[DataType, Sequence[Column]], Column]]] = {
    "cast": (_AT_PATH, partial(_cast, fails=True)),
    "try_cast": (_AT_PATH, partial(_cast, fails=False)),
    "from_json": (("VARCHAR",), parsed_column),
}
"""Parameter types; kernel."""
