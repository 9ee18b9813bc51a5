"""BLOBs of other tables, to which columns of `blob-view-field` refer.

Spec: append-table/blob, `blob-view-field`.
"""

from collections.abc import Callable, Iterator, Sequence

from paimon_explore.data_types.arrow_buffers import as_python
from paimon_explore.encoding.blob.blob_view import BlobView
from paimon_explore.errors import NotFoundError
from paimon_explore.merge.numpy_columns import ints_of
from paimon_explore.metadata.options.table_options import BLOB_AS_DESCRIPTOR, TableOptions
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.store.table_store import TableStore
from paimon_explore.table.searches.rows_by_id import files_with_row_ids, rows_by_id


def referenced_blobs(
    views: Sequence[BlobView], open_store: Callable[[str], TableStore], *, as_descriptor: bool
) -> dict[BlobView, object]:
    """Return the BLOBs that references refer to, or their descriptors.

    Args:
        views: the references.
        open_store: opens a table by its name.
        as_descriptor: return descriptors.

    Raises:
        NotFoundError: there is no such table, column or row.
    """
    row_ids: dict[str, dict[int, set[int]]] = {}
    for view in views:
        row_ids.setdefault(view.table, {}).setdefault(view.field_id, set()).add(view.row_id)
    found: dict[BlobView, object] = {}
    for table, columns in row_ids.items():
        target = _target(open_store(table), as_descriptor=as_descriptor)
        for field_id, wanted in columns.items():
            for row_id, value in _values(target, field_id, sorted(wanted)):
                found[BlobView(table=table, field_id=field_id, row_id=row_id)] = value
    for view in views:
        if view not in found:
            raise NotFoundError("row id", view.row_id, f"table {view.table}")
    return found


def _target(store: TableStore, *, as_descriptor: bool) -> ScanTarget:
    schema = store.schemas.latest()
    if schema is None:
        raise NotFoundError("table", store.paths.root)
    descriptors = {BLOB_AS_DESCRIPTOR.key: str(as_descriptor).lower()}
    return ScanTarget(
        store=store,
        schema=schema,
        options=TableOptions({**schema.options, **descriptors}),
        snapshot=store.snapshots.latest(),
    )


def _values(
    target: ScanTarget, field_id: int, row_ids: Sequence[int]
) -> Iterator[tuple[int, object]]:
    column = next((field.name for field in target.schema.fields if field.id == field_id), None)
    if column is None:
        raise NotFoundError("field id", field_id, target.store.paths.root)
    for batch in rows_by_id(target, files_with_row_ids(target), (column,), row_ids):
        yield from zip(ints_of(batch.column(1)).tolist(), as_python(batch.column(0)), strict=True)
