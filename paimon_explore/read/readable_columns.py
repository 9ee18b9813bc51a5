"""Checks that the values of columns may and can be read."""

from collections.abc import Iterator, Mapping, Sequence

from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.metadata.options.table_options import (
    BLOB_AS_DESCRIPTOR,
    BLOB_DESCRIPTOR_FIELD,
    BLOB_VIEW_FIELD,
    BLOB_VIEW_RESOLVE_ENABLED,
    TableOptions,
)
from paimon_explore.store.table_store import TableStore


def check_readable_columns(
    store: TableStore,
    names: Sequence[str],
    schema_options: Mapping[str, str],
    options: TableOptions,
) -> None:
    """Check that all rows of columns may be read, and that the stored values are the contents.

    Args:
        store: the table.
        names: the columns.
        schema_options: options of the schema.
        options: effective options.

    Raises:
        UnsupportedFeatureError: the catalog restricts rows or values, or a BLOB column stores
            references to contents elsewhere, which are not followed.
    """
    check_stored_contents(store, names, options)
    if store.environment is not None:
        from paimon_explore.store.query_authorization import check_unrestricted  # noqa: PLC0415 - catalogs

        check_unrestricted(store, names, schema_options, options)


def check_stored_contents(store: TableStore, names: Sequence[str], options: TableOptions) -> None:
    """Check that the stored values of columns are the contents.

    Raises:
        UnsupportedFeatureError: a BLOB column stores references, which are not followed.
    """
    for name, kind, hint in _references(options):
        if name in names:
            raise UnsupportedFeatureError(
                f"reading the contents of BLOB column {name!r}, which stores {kind},",
                store.paths.root,
                hint=f"Select other columns, or pass options={{{hint}}} to read what is stored.",
            )


def _references(options: TableOptions) -> Iterator[tuple[str, str, str]]:
    """Yield each column of references, what it stores, and the option that returns it."""
    if options.has(BLOB_DESCRIPTOR_FIELD) and not options.value(BLOB_AS_DESCRIPTOR):
        for name in options.value(BLOB_DESCRIPTOR_FIELD):
            yield name, "descriptors", f"{BLOB_AS_DESCRIPTOR.key!r}: 'true'"
    if options.has(BLOB_VIEW_FIELD) and options.value(BLOB_VIEW_RESOLVE_ENABLED):
        for name in options.value(BLOB_VIEW_FIELD):
            yield name, "references to other tables", f"{BLOB_VIEW_RESOLVE_ENABLED.key!r}: 'false'"
