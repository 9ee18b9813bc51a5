"""Names that similar libraries have for what tables and catalogs can do, and where it is here."""

from collections.abc import Mapping

_OF_TABLES = {
    "table.to_arrow() or table.scan()": ("read collect fetch new_read_builder new_scan new_read"),
    "table.head()": "take show sample",
    "table.append(rows), or table.upsert(rows) for tables with a primary key": (
        "insert insert_into put write write_arrow write_pandas write_ray new_batch_write_builder "
        "new_stream_write_builder new_write new_commit new_postpone_fixed_bucket_write_builder "
        "write_arrow_batch write_row"
    ),
    "table.update(…), table.delete(where) or table.merge(…)": (
        "new_update merge_into delete_by_predicate update_by_predicate update_by_arrow_with_row_id "
        "update_by_arrow_batches_with_row_id new_update_by_row_id delete_by_row_id"
    ),
    "table.upsert(rows), or table.merge(rows, on=[…])": "upsert_by_arrow_with_key upsert_by_key",
    "table.at(…), or catalog.table(name, options)": "copy copy_without_time_travel",
    "table.changes()": "changelog_manager",
    "table.truncate() or table.drop_partitions(…)": "truncate_table truncate_partitions",
    "catalog.table('database.table$branch_name')": "branch",
    "catalog.sql(text), or paimon_explore.sql(text, t=table)": "sql query execute",
    "table.count()": "shape num_rows row_count",
    "table.scan().to_dataset()": "to_pyarrow_dataset dataset",
    "table.add_column(…), table.rename_column(…) or table.alter(…)": "update_schema",
    "table.create_tag(…) or table.rollback_to(…)": "manage_snapshots",
    "table.tags and table.branches": "refs",
    "the table as it is: each call reads the latest snapshot": "refresh reload update_incremental",
    "table.tags": "list_tags get_tag tag_manager",
    "table.branches": "list_branches branch_manager branch_exists",
    "table.delete_branch(name)": "drop_branch",
    "table.snapshots": "snapshot_manager list_snapshots history_snapshots",
    "table.schemas": "schema_manager",
    "table.maintenance.consumers": "consumer_manager",
    "table.path": "location file_io path_factory",
    "table.name": "identifier current_branch",
    "table.search(column, query)": (
        "full_text_search vector_search new_full_text_search_builder new_vector_search_builder "
        "new_hybrid_search_builder new_batch_vector_search_builder"
    ),
    "table.scan().to_batches()": "to_iterator to_record_batches to_arrow_batch_reader",
    "table.maintenance.create_global_index(…)": "new_global_index_builder",
    "table.schema": "dtypes fields primary_key primary_keys partition_keys spec comment",
    "table.schema.row_type.names": "column_names",
    "table.options": "properties metadata bucket_mode",
    "table.profile()": "info describe stats",
    "table.at(…)": "as_of time_travel version_as_of timestamp_as_of load_as_version",
    "table.snapshot": "version current_snapshot latest_snapshot",
    "table.follow(…)": "stream new_stream_read_builder",
    "table.rollback_to(…)": "restore undo rollback rollback_to_timestamp rollback_helper",
    "table.compact()": "optimize rewrite_data_files",
    "table.maintenance.expire_snapshots(…) and table.maintenance.remove_orphan_files(…)": "vacuum",
    "catalog.drop_table(name)": "drop",
}
_OF_CATALOGS = {
    "catalog.table(name)": "get_table load_table open_table read_table",
    "catalog.tables(database)": "list_tables show_tables",
    "catalog.databases()": "list_databases list_namespaces namespaces schemas show_databases",
    "catalog.create_database(name)": "create_namespace create_schema",
    "catalog.sql(text)": "query execute run",
    "catalog.database(name)": "get_database load_database",
    "catalog.views(database)": "list_views",
    "catalog.partitions(name)": "list_partitions list_partitions_paged",
    "catalog.table(name), whose methods they are": (
        "create_tag delete_tag list_tags get_tag create_branch drop_branch list_branches "
        "rollback_to drop_partitions load_snapshot append fast_forward rename_branch "
        "list_tags_paged get_table_schema get_table_path"
    ),
    "catalog.view(name)": "get_view load_view",
}
_OF_SCANS = {
    "scan.filter(where); a condition is SQL text, or pe.col('id') > 3": (
        "with_filter with_partition_filter new_predicate_builder where"
    ),
    "scan.select(columns)": "with_projection with_read_projection with_read_type project",
    "scan.row_type": "read_type",
    "scan.limit(rows)": "with_limit take",
    "scan.plan().splits": "splits new_scan",
    "scan.to_batches()": "to_iterator to_record_batches to_arrow_batch_reader new_read",
    "scan.parts()": "with_shard with_slice with_chunk_shuffle with_row_ranges",
    "scan.to_arrow().to_pylist()": "to_pylist to_dicts collect fetchall",
    "scan.to_pandas()": "df to_df",
}
"""Names of other libraries, separated by spaces, by the expression that does the same here."""


def missing_in_table(table: object, name: str, groups: Mapping[str, type]) -> AttributeError:
    """Return the error for an attribute that a table does not have.

    Args:
        table: the table.
        name: the attribute.
        groups: the classes of what the table's own attributes and methods return.
    """
    found = {f"table.{one}.{name}": name for one, owner in groups.items() if hasattr(owner, name)}
    return _missing(table, name, {**found, **_OF_TABLES})


def missing_in_catalog(catalog: object, name: str) -> AttributeError:
    """Return the error for an attribute that a catalog does not have.

    Args:
        catalog: the catalog.
        name: the attribute.
    """
    return _missing(catalog, name, _OF_CATALOGS)


def missing_in_scan(scan: object, name: str) -> AttributeError:
    """Return the error for an attribute that a scan does not have.

    Args:
        scan: the scan.
        name: the attribute.
    """
    return _missing(scan, name, _OF_SCANS)


def _missing(value: object, name: str, names_here: Mapping[str, str]) -> AttributeError:
    found = (here for here, others in names_here.items() if name in others.split())
    here = next(found, None)
    hint = "" if here is None else f". Use {here}."
    owner = type(value).__name__
    return AttributeError(
        f"{owner!r} object has no attribute {name!r}{hint}", name=name, obj=None if hint else value
    )
