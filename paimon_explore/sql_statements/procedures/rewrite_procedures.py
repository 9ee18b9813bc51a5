"""Procedures that rewrite or repair tables: rescale, purge_files, compact_database and others."""

from paimon_explore.maintenance.rewrites.table_copy import check_copy, copy_files
from paimon_explore.metadata.table_paths import MAIN_BRANCH
from paimon_explore.sql_statements.outcome import Answer, answer
from paimon_explore.sql_statements.procedures.call_arguments import Call, Procedures
from paimon_explore.sql_statements.procedures.database_compaction import (
    compact_each,
    matching_tables,
)
from paimon_explore.sql_statements.procedures.partition_arguments import (
    named_partitions,
    partitions_of,
)
from paimon_explore.sql_statements.tokenizer import Reader
from paimon_explore.table.latest_schema import latest_schema
from paimon_explore.table.table import Table
from paimon_explore.table.table_base import store_of, write_target

REWRITES = Procedures()
"""The procedures by name."""


@REWRITES.add("table", "bucket_num", "partitions", "where")
def _rescale(one: Call) -> None:
    table = one.table()
    table.maintenance.rescale(one.number("bucket_num"), partitions=partitions_of(one, table))


@REWRITES.add("table", "dry_run")
def _purge_files(one: Call) -> Answer:
    one.table().maintenance.purge_files(dry_run=one.flag("dry_run", default=False))
    return answer("result string", [("Success",)])


@REWRITES.add("table", "dry_run", "parallelism")
def _remove_unexisting_files(one: Call) -> Answer:
    dry_run = one.flag("dry_run", default=False)
    report = one.table().maintenance.remove_unexisting_files(dry_run=dry_run)
    return answer("fileName string", [(path,) for path in report.files])


@REWRITES.add("table", "snapshot_id")
def _repair_earliest_snapshot(one: Call) -> Answer:
    table, number = one.table(), one.given("snapshot_id", one.number("snapshot_id"))
    previous = table.maintenance.repair_earliest_snapshot(number)
    columns = "previous_earliest_snapshot_id bigint, current_earliest_snapshot_id bigint"
    return answer(columns, [(previous, number)])


@REWRITES.add("table", "partitions")
def _mark_partition_done(one: Call) -> None:
    table = one.table()
    specs = named_partitions(one, table, one.needed("partitions"))
    table.maintenance.mark_partition_done(*specs)


@REWRITES.add("including_databases", "including_tables", "excluding_tables", "options")
def _compact_database(one: Call) -> Answer:
    report = compact_each(
        matching_tables(
            one.warehouse.warehouse(),
            one.text("including_databases") or ".*",
            one.text("including_tables") or ".*",
            one.text("excluding_tables"),
            options=one.options(),
        ),
        one.warehouse.engine.compact,
    )
    text = (
        f"Compact database finished. Success: {len(report.compacted)}, Failed: {len(report.errors)}"
    )
    return answer("result string", [(text,)])


@REWRITES.add("table", "where")
def _rewrite_file_index(one: Call) -> Answer:
    table = one.table()
    report = table.maintenance.rewrite_file_index(partitions_of(one, table))
    columns = "written_partitions int, written_indexes int"
    return answer(columns, [(report.partitions, len(report.files))])


@REWRITES.add("table", "partitions", "options", "where")
def _materialize_deletion_vectors(one: Call) -> None:
    table = one.table()
    table.maintenance.materialize_deletion_vectors(partitions_of(one, table))


@REWRITES.add("table", "partition", "overwrite")
def _compact_chain_table(one: Call) -> Answer:
    table = one.table()
    specs = named_partitions(one, table, one.needed("partition"))
    if len(specs) > 1:
        raise one.problem("only one partition can be compacted at a time")
    overwrite = one.flag("overwrite", default=False)
    made = table.maintenance.compact_chain_table(specs[0], overwrite=overwrite)
    return answer("result boolean", [(made is not None,)])


@REWRITES.add("table", "partitions")
def _reassign_row_id(one: Call) -> Answer:
    table = one.table()
    report = table.maintenance.reassign_row_ids(_partitions(one, table))
    done = "Skipped" if report.snapshot_id is None else "Success"
    return answer("result string", [(f"{done}: {report}",)])


def _partitions(one: Call, table: Table) -> list[dict[str, object]] | None:
    text = one.text("partitions")
    return named_partitions(one, table, text) if text else None


@REWRITES.add("table", "index_column", "index_type", "partitions", "options")
def _create_global_index(one: Call) -> None:
    if one.text("options"):
        raise one.problem("options of a build are not supported; leave them out")
    table = one.table()
    table.maintenance.create_global_index(
        one.needed("index_column"), one.needed("index_type").lower(), _partitions(one, table)
    )


@REWRITES.add("table", "index_column", "index_type", "partitions", "dry_run")
def _drop_global_index(one: Call) -> Answer:
    table = one.table()
    report = table.maintenance.drop_global_index(
        one.needed("index_column"),
        one.needed("index_type").lower(),
        _partitions(one, table),
        dry_run=one.flag("dry_run", default=False),
    )
    columns = "result boolean, dropped_file_count bigint"
    return answer(columns, [(True, len(report.files))])


@REWRITES.add("table", "source_branch", "target_branch")
def _merge_branch(one: Call) -> None:
    target = one.text("target_branch") or MAIN_BRANCH
    one.table().maintenance.merge_branch(one.needed("source_branch"), target)


@REWRITES.add("source_table", "target_table", "where")
def _copy(one: Call) -> None:
    catalog = one.warehouse.warehouse()
    source = one.warehouse.base(one.named("source_table"))
    path = Reader(one.needed("target_table")).path("the target table")
    if len(path) > 1 and one.warehouse.find_database(path[-2]) is None:
        catalog.create_database(path[-2])
    name = one.warehouse.named(path)
    schema = latest_schema(store_of(source))
    if not catalog.table_exists(name.table):
        catalog.create_table(
            name.table,
            schema.row_type,
            primary_key=schema.primary_keys,
            partition_by=schema.partition_keys,
            options={key: text for key, text in schema.options.items() if key != "path"},
            comment=schema.comment,
        )
    target = one.warehouse.base(name)
    ends = (write_target(source, replaces=False), write_target(target, replaces=False))
    check_copy(*ends, (source.name, target.name))
    copy_files(*ends, partitions_of(one, source))
