"""Checks that the values of columns may be read; contents of BLOB columns of descriptors or views.

Spec: append-table/blob, `blob-descriptor-field`, `blob-view-field`; `blob-as-descriptor`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeAlias, TypeVar

import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Column, as_python
from paimon_explore.errors import CorruptFileError, UnsupportedFeatureError
from paimon_explore.metadata.options.table_options import (
    BLOB_AS_DESCRIPTOR,
    BLOB_DESCRIPTOR_FIELD,
    BLOB_VIEW_FIELD,
    BLOB_VIEW_RESOLVE_ENABLED,
    TableOptions,
)
from paimon_explore.metadata.schema.storage_validation import managed_blobs
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.store.table_store import TableStore

T = TypeVar("T")
_Values: TypeAlias = Callable[[Sequence[object]], Sequence[object]]
"""Returns the contents of the stored values of a column."""


def check_readable_columns(
    store: TableStore,
    names: Sequence[str],
    schema_options: Mapping[str, str],
    options: TableOptions,
) -> None:
    """Check that all rows of columns may be read.

    Args:
        store: the table.
        names: the columns.
        schema_options: options of the schema.
        options: effective options.

    Raises:
        UnsupportedFeatureError: the catalog restricts rows or values.
    """
    if store.environment is not None:
        from paimon_explore.store.query_authorization import check_unrestricted  # noqa: PLC0415 - catalogs

        check_unrestricted(store, names, schema_options, options)


def with_contents(
    batches: Iterator[pa.RecordBatch],
    columns: Sequence[str],
    schema: TableSchema,
    options: TableOptions,
    store: TableStore,
) -> Iterator[pa.RecordBatch]:
    """Replace descriptors and references by the contents, unless they are asked for.

    Args:
        batches: rows.
        columns: their columns.
        schema: the reading schema.
        options: effective options.
        store: the table.

    Raises:
        CorruptFileError: a value is no descriptor or reference, or its file ends before the
            contents do.
        UnsupportedFeatureError: contents are in another storage than the table, or the other tables
            of the catalog are not known.
        MissingFileError: a file of contents does not exist.
        NotFoundError: a referenced table, column or row does not exist.
    """
    as_descriptor = options.value(BLOB_AS_DESCRIPTOR)
    replaced: dict[str, _Values] = {}
    if not as_descriptor:
        for name in {*options.value(BLOB_DESCRIPTOR_FIELD), *managed_blobs(schema, options)}:
            replaced[name] = partial(_all_contents, name=name, store=store)
    if options.value(BLOB_VIEW_RESOLVE_ENABLED):
        for name in options.value(BLOB_VIEW_FIELD):
            replaced[name] = partial(
                _referenced, name=name, store=store, as_descriptor=as_descriptor
            )
    replaced = {name: replaced[name] for name in columns if name in replaced}
    return (_replaced(batch, replaced) for batch in batches) if replaced else batches


def _replaced(batch: pa.RecordBatch, replaced: "Mapping[str, _Values]") -> pa.RecordBatch:
    for name, values_of in replaced.items():
        at = batch.schema.get_field_index(name)
        values = values_of(as_python(batch.column(at)))
        column: Column = pa.array(values, batch.column(at).type)
        batch = batch.set_column(at, batch.schema.field(at), column)
    return batch


def _referenced(
    values: Sequence[object], *, name: str, store: TableStore, as_descriptor: bool
) -> Sequence[object]:
    from paimon_explore.encoding.blob.blob_view import decode_view  # noqa: PLC0415 - BLOBs

    views = [
        _decoded(value, decode_view, name, store) if isinstance(value, bytes) else None
        for value in values
    ]
    given = [view for view in views if view is not None]
    if not given:
        return values
    if store.siblings is None:
        raise UnsupportedFeatureError(
            f"reading BLOB column {name!r}, which refers to other tables of a catalog,",
            store.paths.root,
            hint="Open the table with a catalog, or pass "
            f"options={{{BLOB_VIEW_RESOLVE_ENABLED.key!r}: 'false'}} to read the references.",
        )
    found = store.siblings.blobs(given, as_descriptor=as_descriptor)
    return [None if view is None else found[view] for view in views]


def _all_contents(values: Sequence[object], *, name: str, store: TableStore) -> Sequence[object]:
    from paimon_explore.encoding.blob.blob_collections import each_blob  # noqa: PLC0415 - BLOBs

    return [each_blob(value, partial(_blob, name=name, store=store)) for value in values]


def _blob(value: bytes, name: str, store: TableStore) -> bytes:
    from paimon_explore.encoding.blob.blob_descriptor import decode_descriptor  # noqa: PLC0415 - BLOBs
    from paimon_explore.store.blob_contents import read_contents  # noqa: PLC0415 - likewise

    return read_contents(store, _decoded(value, decode_descriptor, name, store))


def _decoded(value: bytes, decode: Callable[[bytes], T], name: str, store: TableStore) -> T:
    try:
        return decode(value)
    except ValueError as error:
        raise CorruptFileError(store.paths.root, f"column {name!r}", str(error)) from error
