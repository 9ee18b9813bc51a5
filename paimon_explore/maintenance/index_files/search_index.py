"""Building full-text and vector indexes: the content of one index file.

Spec: pypaimon 2.1, global indexes; the options have the prefix `full-text.`, the type of a vector
index, or `fields.<column>.`.
"""

import json
from collections.abc import Mapping
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow_buffers import Ints, as_python
from paimon_explore.data_types.definitions import (
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    TypeRoot,
    VectorType,
)
from paimon_explore.data_types.formatter import type_text
from paimon_explore.errors import InvalidInputError, needs_extra
from paimon_explore.maintenance.index_files.sorted_index import IndexContent
from paimon_explore.metadata.options.column_options import (
    PK_FULL_TEXT_INDEX_OPTIONS,
    PK_VECTOR_INDEX_OPTIONS,
    PK_VECTOR_INDEX_TYPE,
)
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.scan.manifest_arrays import row_array
from paimon_explore.scan.search_indexes import FULL_TEXT, VECTOR_TYPES

_FULL_TEXT_PREFIX = "full-text."
_TEXTS = frozenset({TypeRoot.CHAR, TypeRoot.VARCHAR})
_DISKANN = (
    *("build-preset", "max-degree", "build-search-list-size", "alpha", "seed"),
    *("memory-budget-bytes", "storage-layout", "raw-vector-encoding", "build-distance"),
)
_OPTION_NAMES: Mapping[str, str] = {
    "index.dimension": "dimension",
    "distance.metric": "metric",
    "pq.use-opq": "use-opq",
    **{
        name: name
        for name in (
            *("dimension", "metric", "use-opq", "nlist", "expected-vector-count"),
            *("ivf.coarse-assignment", "ivf.pq-encoding", "ivf.train.max-points-per-centroid"),
            *("pq.train.max-points-per-centroid", "pq.m", "pq.code-ratio", "pq.bits", "rq.bits"),
            *("target-recall", "max-bytes-per-vector", "deployment-profile"),
        )
    },
    **{name: f"diskann.{name}" for name in _DISKANN},
    **{f"diskann.{name}": f"diskann.{name}" for name in _DISKANN},
}
"""Option of Paimon without prefix -> option of the library."""
_DEFAULT_METRIC = "inner_product"


def check_search_column(field: DataField, index_type: str) -> None:
    """Check that a column can have a full-text or vector index.

    Raises:
        InvalidInputError: its type cannot.
    """
    kind = field.type
    if index_type == FULL_TEXT:
        fits, needed = isinstance(kind, AtomicType) and kind.root in _TEXTS, "of texts"
    else:
        fits = isinstance(kind, VectorType | ArrayType) and _is_float(kind.element)
        needed = "of type VECTOR<FLOAT, n> or ARRAY<FLOAT>"
    if not fits:
        raise InvalidInputError(
            f"An index of type {index_type} needs a column {needed}; "
            f"{field.name!r} is {type_text(kind)}."
        )


def _is_float(kind: DataType) -> bool:
    return isinstance(kind, AtomicType) and kind.root is TypeRoot.FLOAT


def search_index(
    column: "pa.ChunkedArray[Any]",
    rows: Ints,
    field: DataField,
    index_type: str,
    options: TableOptions,
) -> IndexContent | None:
    """Return the index file of some rows; None if it would be empty.

    Args:
        column: n values.
        rows: n rows in the file's range, ascending.
        field: the column.
        index_type: `full-text` or a type of vector index.
        options: of the table.

    Raises:
        InvalidInputError: a vector or an option is invalid.
        UnsupportedFeatureError: the optional package is not installed.
    """
    if index_type in VECTOR_TYPES:
        return _vector_index(column, rows, field, index_type, options)
    with needs_extra("full-text", "building a full-text index"):
        from paimon_explore.encoding.global_index import full_text_file  # noqa: PLC0415 - optional
    chosen = _with_prefix(options, _FULL_TEXT_PREFIX)
    texts = [None if text is None else str(text) for text in as_python(column.combine_chunks())]
    data = full_text_file.encode_full_text(texts, rows.tolist(), chosen)
    meta = json.dumps(chosen, separators=(",", ":")).encode()
    return IndexContent(data=data, row_count=len(rows), meta=meta)


def _with_prefix(options: TableOptions, prefix: str) -> dict[str, str]:
    return {
        key.removeprefix(prefix): value for key, value in options.items() if key.startswith(prefix)
    }


def _vector_index(
    column: "pa.ChunkedArray[Any]",
    rows: Ints,
    field: DataField,
    index_type: str,
    options: TableOptions,
) -> IndexContent | None:
    with needs_extra("vindex", "building a vector index"):
        from paimon_explore.encoding.global_index import vector_file  # noqa: PLC0415 - optional
    valid = np.asarray(column.is_valid())
    if not valid.any():
        return None
    chosen = vector_options(field, index_type, options)
    vectors = _vectors(column.filter(pa.array(valid)), rows[valid], field, chosen.get("dimension"))
    chosen["dimension"] = str(vectors.shape[1])
    data = vector_file.encode_vectors(vectors, rows[valid].tolist(), chosen)
    return IndexContent(data=data, row_count=len(rows), meta=b"{}")


def vector_options(field: DataField, index_type: str, options: TableOptions) -> dict[str, str]:
    """Return the options of the library: those of the column come before those of the type."""
    chosen = {
        _OPTION_NAMES[name]: value
        for prefix in (f"{index_type}.", f"fields.{field.name}.")
        for name, value in _with_prefix(options, prefix).items()
        if name in _OPTION_NAMES
    }
    chosen["index.type"] = index_type.replace("-", "_")
    chosen.setdefault("metric", _DEFAULT_METRIC)
    if isinstance(field.type, VectorType):
        chosen["dimension"] = str(field.type.length)
    return chosen


def is_installed(index_type: str) -> bool:
    """Whether the optional package that builds a type of index is there."""
    return find_spec("paimon_ftindex" if index_type == FULL_TEXT else "paimon_vindex") is not None


def primary_key_search_index(
    column: "pa.ChunkedArray[Any]", field: DataField, index_type: str, options: TableOptions
) -> IndexContent:
    """Return the file of a primary-key index over all rows; it is empty without a vector.

    Vectors that are not finite numbers are left out, as a compaction must not fail.

    Args:
        column: n values.
        field: the column.
        index_type: `full-text` or a type of vector index.
        options: of the table.

    Raises:
        InvalidInputError: an option is invalid.
    """
    rows = np.arange(len(column))
    is_text = index_type == FULL_TEXT
    own = PK_FULL_TEXT_INDEX_OPTIONS if is_text else PK_VECTOR_INDEX_OPTIONS
    chosen = dict(options)
    for name, value in _json_options(own.value_for(field.name, options)):
        is_whole = name.startswith((f"{index_type}.", "fields."))
        chosen[name if is_whole else f"{index_type}.{name}"] = value
    if not is_text:
        rows = _finite_vectors(column)
        column = column.take(row_array(rows))
        metric = metric_of(field, index_type, options)
        chosen |= {f"fields.{field.name}.{key}": metric for key in ("metric", "distance.metric")}
    made = (
        search_index(column, rows, field, index_type, TableOptions(chosen)) if len(rows) else None
    )
    return made or IndexContent(data=b"", row_count=0, meta=b"")


def _json_options(text: str | None) -> list[tuple[str, str]]:
    """The build options of an index, a JSON object of texts."""
    try:
        found = json.loads(text) if text and text.strip() else {}
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise InvalidInputError(f"The build options of an index are no JSON object: {text}.")
    return [(str(name), str(value)) for name, value in found.items()]


def _finite_vectors(column: "pa.ChunkedArray[Any]") -> Ints:
    """Return the rows whose vectors consist of finite numbers, ascending."""
    valid: Ints = np.flatnonzero(np.asarray(column.is_valid()))
    lists = column.take(row_array(valid)).combine_chunks()
    owners = np.asarray(pc.call_function("list_parent_indices", [lists]))
    values = pc.call_function("list_flatten", [lists]).to_numpy(zero_copy_only=False)
    found: Ints = np.delete(valid, np.unique(owners[~np.isfinite(values)]))
    return found


def metric_of(field: DataField, index_type: str | None, options: TableOptions) -> str:
    """Return the metric of the vectors of a column, as pypaimon 2.1 finds it.

    Args:
        field: the column.
        index_type: of its index; None if it has none.
        options: of the table.
    """
    name = field.name
    kind = index_type or PK_VECTOR_INDEX_TYPE.value_for(name, options)
    prefixes = (f"fields.{name}.pk-vector.", f"fields.{name}.", f"{kind}.", "")
    keys = [prefix + key for prefix in prefixes for key in ("distance.metric", "metric")]
    found = [options[key] for key in keys if key in options]
    if not found and kind is not None:
        found = [_DEFAULT_METRIC]
    if not found:  # that of other columns or types, if they agree
        of_others = {value for key, value in options.items() if key.endswith(".metric")}
        found = [*of_others] if len(of_others) == 1 else ["l2"]
    return found[0].lower().replace("-", "_")


def _vectors(
    column: "pa.ChunkedArray[Any]", rows: Ints, field: DataField, dimension: str | None
) -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
    lists = column.combine_chunks()
    sizes = np.asarray(pc.call_function("list_value_length", [lists]))
    wanted = int(sizes[0]) if dimension is None else int(dimension)
    given = "the first vector" if dimension is None else "the index, by its option 'dimension',"
    for at in np.flatnonzero(sizes != wanted)[:1].tolist():
        raise InvalidInputError(
            f"Column {field.name!r}: the vector of indexed row {rows[at]} (counted from 0, in the "
            f"order of _ROW_ID) has {sizes[at]} elements, but {given} has {wanted}.",
            hint="Change the row, or set its vector to NULL, and create the index again.",
        )
    for at in np.setdiff1d(np.arange(len(rows)), _finite_vectors(column))[:1].tolist():
        raise InvalidInputError(
            f"Column {field.name!r}: the vector of indexed row {rows[at]} (counted from 0, in the "
            f"order of _ROW_ID), {lists[at].as_py()}, has an element that is not a finite number.",
            hint="Change the row, or set its vector to NULL, and create the index again.",
        )
    numbers = pc.call_function("list_flatten", [lists]).to_numpy(zero_copy_only=False)
    return np.asarray(numbers, np.float32).reshape(len(lists), wanted)


def shards(start: int, end: int, rows: int) -> list[tuple[int, int]]:
    """Return the parts of a range of rows, divided at multiples of `rows`.

    >>> shards(5, 25, 10)
    [(5, 10), (10, 20), (20, 25)]
    """
    first = start - start % rows + rows
    return list(pairwise([start, *range(first, end, rows), end]))
