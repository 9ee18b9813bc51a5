"""`CALL sys.…`: maintenance procedures with the names and arguments of the Java procedures.

Arguments are positional or named (`name => value`); names ignore case and `_`.
Values are constants or expressions that the engine evaluates.
"""

import difflib
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta

from paimon_explore.commit.committer import Committer
from paimon_explore.errors import (
    InvalidInputError,
    NotFoundError,
    UnsupportedFeatureError,
    choices,
)
from paimon_explore.maintenance.expiry.snapshot_expiry import ExpiryReport
from paimon_explore.maintenance.references.auto_tags import create_auto_tags
from paimon_explore.metadata.consumer import Consumer
from paimon_explore.metadata.options.option_definition import parse_names
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.snapshot import NO_WATERMARK, Snapshot
from paimon_explore.sql_statements.outcome import Answer, answer
from paimon_explore.sql_statements.procedures.call_arguments import Call, Procedure, Procedures
from paimon_explore.sql_statements.procedures.catalog_procedures import (
    CATALOG_PROCEDURES,
    MIGRATIONS,
)
from paimon_explore.sql_statements.procedures.partition_arguments import (
    idle_partitions,
    partitions_of,
)
from paimon_explore.sql_statements.procedures.rewrite_procedures import REWRITES
from paimon_explore.sql_statements.table_resolution import Name, Warehouse
from paimon_explore.sql_statements.tokenizer import Kind, Reader
from paimon_explore.table.latest_schema import latest_schema
from paimon_explore.table.table_base import dynamic_options_of, store_of

_CONNECTOR = "Use the Java connector: pe.spark.session(warehouse=…, connector='java')."
_ELSEWHERE = {
    "alter_column_default_value": "Write ALTER TABLE … ALTER COLUMN … SET DEFAULT constant.",
    "clone": "Write CALL sys.copy(source_table => 'a.t', target_table => 'b.t').",
    "copy_files": "Write CALL sys.copy(source_table => 'a.t', target_table => 'b.t').",
    "create_tag_from_watermark": "Find the snapshot in t$snapshots, and pass it to sys.create_tag.",
    "data_evolution_merge_into": "Write MERGE INTO; _ROW_ID is a column of its tables.",
    "drop_partition": "Write ALTER TABLE … DROP PARTITION (name = constant).",
    "full_text_search": "Write SELECT * FROM full_text_search('table', 'column', 'words', 10).",
    "merge_into": "Write MERGE INTO.",
    "migrate_file": "t.add_files(…) adds Parquet files to a table.",
    "query_service": "A table is read by its primary key with WHERE.",
    "refresh_object_table": _CONNECTOR,
    "repair": "A catalog in a folder does not need it: the tables of the folder are found. To "
    "bring a table into a Hive metastore, copy it: CALL sys.copy(source_table => 'a.t', "
    "target_table => 'b.t').",
    "rollback_to": "Write CALL sys.rollback(table => 'a.t', snapshot => 3), or tag => 'v1'.",
    "sort_compact": "Write CALL sys.compact(…, order_strategy => 'zorder', order_by => 'a,b').",
    "vector_search": "Write SELECT * FROM vector_search('table', 'column', array(0.1f, 0.7f), 10).",
}
"""What to write instead of procedures that only other engines or releases have."""
PROCEDURES = Procedures({**REWRITES, **CATALOG_PROCEDURES, **MIGRATIONS})
"""The procedures by name."""
_KEPT = ("table", "retain_max", "retain_min", "older_than", "max_deletes", "options")
_TAG = ("table", "tag", "snapshot", "time_retained")
_EXPIRY = {
    "timestamp_formatter": "partition.timestamp-formatter",
    "timestamp_pattern": "partition.timestamp-pattern",
    "expire_strategy": "partition.expiration-strategy",
    "max_expires": "partition.expiration-max-num",
}
_SUFFIX = re.compile("(name|id)$")
_RANGE = re.compile(r"([0-9]+)(?:\s*-\s*([0-9]+))?")


def call(warehouse: Warehouse, reader: Reader) -> Answer | None:
    """Run the rest of a CALL; return None for an unknown procedure without a warehouse."""
    path = reader.path("the procedure")
    if [part.lower() for part in path[:-1]] not in (["sys"], ["paimon", "sys"]):
        if warehouse.catalog is None:
            return None
        hint = f"Write CALL sys.{path[-1]}(…)."
        raise InvalidInputError(f"{'.'.join(path)!r} is not a Paimon procedure.", hint=hint)
    name = path[-1].lower()
    found = PROCEDURES.get(name)
    if found is None:
        raise _unknown(name)
    values = _arguments(warehouse, name, found, reader.parts("the arguments"))
    reader.end()
    return found.answer(
        Call(warehouse=warehouse, procedure=name, arguments=found.arguments, values=values)
    )


def _unknown(name: str) -> InvalidInputError | UnsupportedFeatureError:
    if name in _ELSEWHERE:
        return UnsupportedFeatureError(f"the procedure {name}", hint=_ELSEWHERE[name])
    near = difflib.get_close_matches(name, PROCEDURES, n=1)
    known = f"Procedures: {choices(sorted(PROCEDURES), limit=50)}."
    hint = f"Did you mean {near[0]!r}? {known}" if near else known
    return InvalidInputError(f"Unknown procedure {name!r}.", hint=hint)


def signature(name: str) -> str:
    """Return a procedure's name with its argument names.

    >>> signature("delete_tag")
    'delete_tag(table, tag)'
    """
    return f"{name}({', '.join(PROCEDURES[name].arguments)})"


def _arguments(
    warehouse: Warehouse, name: str, procedure: Procedure, texts: Sequence[str]
) -> dict[str, object]:
    known = {_plain(argument): argument for argument in procedure.arguments}
    found: dict[str, object] = {}
    for place, text in enumerate(texts):
        reader = Reader(text)
        if reader.here.is_name and reader.ahead(1).sign == "=>":
            given = reader.identifier("the argument")
            reader.next()
            plain = _plain(given)
            other = _SUFFIX.sub("", plain)  # Flink's tag_name, snapshot_id
            argument = known.get(plain) or known.get(other)
        else:
            given = f"number {place + 1}"
            argument = procedure.arguments[place] if place < len(procedure.arguments) else None
        if argument is None or argument in found:
            what = "is unknown" if argument is None else "is given twice"
            hint = f"Syntax: CALL sys.{signature(name)}."
            raise InvalidInputError(f"CALL sys.{name}: argument {given} {what}.", hint=hint)
        found[argument] = _value(warehouse, reader, name, argument)
    return found


def _plain(name: str) -> str:
    return name.lower().replace("_", "")


def _value(warehouse: Warehouse, reader: Reader, name: str, argument: str) -> object:
    text = reader.rest()
    if not text:
        raise InvalidInputError(f"CALL sys.{name}: argument {argument} has no value.")
    if Reader(text).here.kind is Kind.TEXT and Reader(text).ahead(1).kind is Kind.END:
        return Reader(text).text("the value")
    try:
        return warehouse.engine.evaluate(text)
    except InvalidInputError as error:
        raise InvalidInputError(
            f"CALL sys.{name}: {argument} => {text} is not a constant.",
            hint="Strings are written in single quotes.",
        ) from error


@PROCEDURES.add(
    "table",
    "partitions",
    "compact_strategy",
    "order_strategy",
    "order_by",
    "where",
    "options",
    "partition_idle_time",
    "buckets",
)
def _compact(one: Call) -> None:
    table = one.table()
    strategy = (one.text("compact_strategy") or "full").lower()
    if strategy not in {"full", "minor"}:
        raise one.problem(f"compact_strategy = {strategy!r} is unknown", "Use 'full' or 'minor'.")
    partitions, buckets = partitions_of(one, table), _buckets(one)
    idle = one.duration("partition_idle_time")
    order = (one.text("order_strategy") or "none").lower()
    columns = parse_names(one.text("order_by") or "")
    if idle is not None:
        if order != "none":
            raise one.problem("partition_idle_time and order_strategy cannot be combined")
        partitions = idle_partitions(table, idle, partitions)
    if order != "none":
        if buckets is not None:
            raise one.problem("buckets and order_strategy cannot be combined")
        table.compact(strategy=order, columns=columns, partitions=partitions)
    elif columns:
        raise one.problem("order_by is given without order_strategy", "Add order_strategy.")
    else:
        full = strategy == "full"
        engine = one.warehouse.engine
        engine.compact(table, full=full, partitions=partitions, buckets=buckets)


def _buckets(one: Call) -> list[int] | None:
    """Return the buckets given as `0-99,200`: numbers, and ranges with both ends included."""
    text = one.text("buckets")
    if not text or not text.strip():
        return None
    found: set[int] = set()
    for part in text.split(","):
        match = _RANGE.fullmatch(part.strip())
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if first > last:
            raise one.problem(f"buckets = {text!r} is not of the form '0-99,200-299'")
        found.update(range(first, last + 1))
    return sorted(found)


@PROCEDURES.add("table", "options", "dry_run")
def _compact_manifest(one: Call) -> None:
    table = one.table()
    if one.flag("dry_run", default=False):
        return
    schema = latest_schema(store_of(table))
    options = TableOptions({**schema.options, **dynamic_options_of(table)})
    Committer(store_of(table), schema, options=options).compact_manifests()


@PROCEDURES.add(*_KEPT)
def _expire_snapshots(one: Call) -> Answer:
    return _expired(one, one.table().maintenance.expire_snapshots, "deleted_snapshots_count")


@PROCEDURES.add(*_KEPT)
def _expire_changelogs(one: Call) -> Answer:
    return _expired(one, one.table().maintenance.expire_changelogs, "deleted_changelogs_count")


def _expired(one: Call, expire: Callable[..., ExpiryReport], count: str) -> Answer:
    report = expire(
        retain_max=one.number("retain_max"),
        retain_min=one.number("retain_min"),
        older_than=one.moment("older_than"),
        limit=one.number("max_deletes"),
    )
    return answer(f"{count} int", [(len(report.expired),)])


@PROCEDURES.add("table", "expiration_time", *_EXPIRY, "options")
def _expire_partitions(one: Call) -> Answer:
    table = one.table()
    given = {key: text for name, key in _EXPIRY.items() if (text := one.text(name)) is not None}
    upkeep = replace(table.maintenance, _dynamic_options={**dynamic_options_of(table), **given})
    gone = upkeep.expire_partitions(one.duration("expiration_time"))
    texts = [", ".join(f"{key}={value}" for key, value in part.items()) for part in gone]
    return answer(
        "expired_partitions string", [(text,) for text in texts or ["No expired partitions."]]
    )


@PROCEDURES.add("table", "older_than", "dry_run", "parallelism", "mode")
def _remove_orphan_files(one: Call) -> Answer:
    text = one.needed("table")
    if text.endswith(".*"):
        database = one.warehouse.known_database(text[:-2])
        names = one.warehouse.warehouse().tables(database)
        tables = [one.warehouse.base(Name(table=f"{database}.{name}")) for name in names]
    else:
        tables = [one.table()]
    mode = one.text("mode") or "local"
    if mode.lower() not in {"local", "distributed"}:
        raise one.problem(f"mode = {mode!r} is unknown. Use 'local' or 'distributed'")
    older = one.moment("older_than") or timedelta(days=1)
    dry = one.flag("dry_run", default=False)
    reports = [t.maintenance.remove_orphan_files(older_than=older, dry_run=dry) for t in tables]
    row = (sum(len(r.files) for r in reports), sum(r.size for r in reports))
    columns = "deletedFileCount bigint, deletedFileTotalLenInBytes bigint"
    return answer(columns, [row])


@PROCEDURES.add(*_TAG)
def _create_tag(one: Call) -> None:
    one.table().create_tag(
        one.needed("tag"), one.number("snapshot"), retained=one.duration("time_retained")
    )


@PROCEDURES.add("table", "tag", "timestamp", "time_retained")
def _create_tag_from_timestamp(one: Call) -> Answer:
    table, moment = one.table(), one.given("timestamp", one.moment("timestamp"))
    millis = moment.timestamp() * 1000
    later = [s for s in table.snapshots if s.time_millis >= millis]
    if not later:
        msg = f"Table {table.name} has no snapshot at or after {moment}."
        raise NotFoundError("snapshot", str(moment), table.name, message=msg)
    tag, retained = one.needed("tag"), one.duration("time_retained")
    made = table.create_tag(tag, later[0].id, retained=retained)
    columns = "tagName string, snapshot bigint, commit_time bigint, watermark string"
    snapshot = made.snapshot
    watermark = "null" if snapshot.watermark is None else str(snapshot.watermark)
    row = (tag, snapshot.id, snapshot.time_millis, watermark)
    return answer(columns, [row])


@PROCEDURES.add(*_TAG)
def _replace_tag(one: Call) -> None:
    one.table().maintenance.replace_tag(
        one.needed("tag"), one.number("snapshot"), retained=one.duration("time_retained")
    )


@PROCEDURES.add("table", "tag", "target_tag")
def _rename_tag(one: Call) -> None:
    one.table().maintenance.rename_tag(one.needed("tag"), one.needed("target_tag"))


@PROCEDURES.add("table", "tag")
def _delete_tag(one: Call) -> None:
    table = one.table()
    for name in one.needed_names("tag", table.tags):
        table.delete_tag(name)


@PROCEDURES.add("table", "older_than")
def _expire_tags(one: Call) -> Answer:
    gone = one.table().maintenance.expire_tags(older_than=one.moment("older_than"))
    return answer("expired_tags string", [(name,) for name in gone or ["No expired tags."]])


@PROCEDURES.add("table", "force")
def _trigger_tag_automatic_creation(one: Call) -> None:
    table = one.table()
    create_auto_tags(store_of(table), table.options)


def _rolled_back(before: int | None, made: Snapshot) -> Answer:
    columns = "previous_snapshot_id bigint, current_snapshot_id bigint"
    return answer(columns, [(before, made.id)])


@PROCEDURES.add("table", "version", "snapshot", "tag")
def _rollback(one: Call) -> Answer:
    table = one.table()
    before = store_of(table).snapshots.latest_id()
    version, snapshot, tag = one.text("version"), one.number("snapshot"), one.text("tag")
    if version is not None:
        if version.isdigit():
            snapshot = int(version)
        else:
            tag = version
    made = table.rollback_to(snapshot=snapshot, tag=tag)
    return _rolled_back(before, made)


@PROCEDURES.add("table", "timestamp")
def _rollback_to_timestamp(one: Call) -> Answer:
    table, moment = one.table(), one.given("timestamp", one.moment("timestamp"))
    before = store_of(table).snapshots.latest_id()
    return _rolled_back(before, table.rollback_to(timestamp=moment))


@PROCEDURES.add("table", "watermark")
def _rollback_to_watermark(one: Call) -> Answer:
    table, watermark = one.table(), one.given("watermark", one.number("watermark"))

    def reached(snapshot: Snapshot) -> bool:
        found = snapshot.watermark
        return found is not None and found != NO_WATERMARK and found <= watermark

    known = [s.watermark for s in table.snapshots if s.watermark not in (None, NO_WATERMARK)]
    hint = f"The watermarks start with {known[0]}." if known else "No snapshot has a watermark."
    found = [snapshot.id for snapshot in table.snapshots if reached(snapshot)]
    if not found:
        what = f"with a watermark of at most {watermark}"
        msg = f"Table {table.name} has no snapshot {what}."
        raise NotFoundError("snapshot", what, table.name, message=msg, hint=hint)
    before = store_of(table).snapshots.latest_id()
    return _rolled_back(before, table.rollback_to(snapshot=found[-1]))


@PROCEDURES.add("table", "branch", "tag", "ignoreIfExists")
def _create_branch(one: Call) -> None:
    table, branch = one.table(), one.needed("branch")
    if branch not in table.branches or not one.flag("ignoreIfExists", default=False):
        table.create_branch(branch, one.text("tag"))


@PROCEDURES.add("table", "branch")
def _delete_branch(one: Call) -> None:
    table = one.table()
    for name in one.needed_names("branch", table.branches):
        table.delete_branch(name)


@PROCEDURES.add("table", "from_branch", "to_branch")
def _rename_branch(one: Call) -> None:
    one.table().maintenance.rename_branch(one.needed("from_branch"), one.needed("to_branch"))


@PROCEDURES.add("table", "branch")
def _fast_forward(one: Call) -> None:
    one.table().fast_forward(one.needed("branch"))


@PROCEDURES.add("table", "consumer_id", "next_snapshot_id")
def _reset_consumer(one: Call) -> None:
    one.check_stated("next_snapshot_id", "Omit next_snapshot_id to delete the consumer.")
    consumers = store_of(one.table()).consumers
    name, following = one.needed("consumer_id"), one.number("next_snapshot_id")
    if following is None:
        consumers.delete(name)
    else:
        consumers.save(name, Consumer(next_snapshot=following))


@PROCEDURES.add("table", "including_consumers", "excluding_consumers")
def _clear_consumers(one: Call) -> None:
    spared = (one.text("excluding_consumers") or "").strip()
    if not spared:
        one.check_stated("including_consumers", "Omit including_consumers to delete all consumers.")
    consumers = store_of(one.table()).consumers
    try:
        wanted = re.compile((one.text("including_consumers") or "").strip() or ".*")
        kept = re.compile(spared or "(?!)")
    except re.error as error:
        raise one.problem(f"{error.pattern!r} is not a regular expression: {error}") from error
    for name in consumers.ids():
        if wanted.fullmatch(name) and not kept.fullmatch(name):
            consumers.delete(name)


@PROCEDURES.add("table")
def _expire_consumers(one: Call) -> Answer:
    gone = one.table().maintenance.expire_consumers()
    return answer("expired_consumers string", [(name,) for name in gone])


@PROCEDURES.add("table", "read_rows", "cross_check_records")
def _fsck(one: Call) -> Answer:
    limit = one.number("cross_check_records")
    found = one.table().maintenance.fsck(
        read_rows=one.flag("read_rows", default=False),
        cross_check_records=100_000 if limit is None else limit,
    )
    return answer("finding string", [(str(finding),) for finding in found])
