"""Commands that rewrite or remove files: `compact`, `expire`, `orphans`.

Each prints what it is about to do and asks, unless `--yes` is given; `--dry-run` changes nothing.

Commands that check a table: `fsck` and `health`.
"""

from typing import TYPE_CHECKING, Any

import click

from paimon_explore.command_line.command import command, confirm_options, confirmed, main_group
from paimon_explore.command_line.command_names import FINDINGS, OK
from paimon_explore.command_line.options import (
    column_names,
    key_values,
    opened_table,
    output_options,
    point_options,
)
from paimon_explore.sanitize import sanitized

if TYPE_CHECKING:
    from collections.abc import Callable

    from paimon_explore.command_line.rendering.output import Output
    from paimon_explore.table.table import Table


@command(main_group, "compact")
@opened_table
@click.option("--minor", is_flag=True, help="Only what the table's options ask for.")
@click.option(
    "--partition",
    "partitions",
    multiple=True,
    metavar="KEY=VALUE",
    help="Only this partition; repeat it for partitions with several columns.",
)
@click.option(
    "--sort",
    "strategy",
    type=click.Choice(["order", "zorder", "hilbert", "auto"]),
    help="Also sort the rows of an append table.",
)
@click.option("--by", "columns", metavar="NAMES", help="The columns to sort by, comma-separated.")
@confirm_options
@output_options
def compact(  # noqa: PLR0913 - the options of the command
    *,
    table: "Table",
    minor: bool,
    partitions: tuple[str, ...],
    strategy: str | None,
    columns: str | None,
    is_confirmed: bool,
    is_dry_run: bool,
    output: "Output",
) -> None:
    """Rewrite files into fewer and larger ones with the same rows, in one commit.

    Examples:
        compact wh/demo.db/orders --dry-run
        compact demo.orders -w wh --partition dt=2026-01-01 --yes
        compact demo.orders -w wh --sort zorder --by id,amount --yes --json
    """
    from paimon_explore.command_line.compaction_preview import compaction_rows, summary
    from paimon_explore.inspection.rendering.number_format import plural

    names = column_names(columns) or []
    is_sort = strategy is not None or bool(names)
    spec = key_values(partitions, "--partition") or None
    rows = compaction_rows(table, full=not minor, every=is_sort, partition=spec)
    if is_dry_run:
        output.listing(rows, noun="bucket")
        return
    what = summary(rows)
    if not rows.num_rows:
        output.document({"snapshot_id": None}, f"{table.name}: there is nothing to compact.")
        return
    confirmed(sanitized(f"{table.name}: rewrite {what}?"), is_confirmed=is_confirmed)
    snapshot = table.compact(full=not minor, partitions=spec, strategy=strategy, columns=names)
    if snapshot is None:
        output.document({"snapshot_id": None}, f"{table.name}: there was nothing to compact.")
        return
    files = table.inspect.files().num_rows
    text = f"{table.name}: snapshot {snapshot.id} has {plural(files, 'data file')}."
    output.document({"snapshot_id": snapshot.id, "files": files}, text)


@command(main_group, "expire")
@opened_table
@click.option("--retain-min", type=click.IntRange(min=1), help="Keep at least so many.")
@click.option("--retain-max", type=click.IntRange(min=1), help="Keep at most so many.")
@click.option("--older-than", metavar="AGE", help="Between them: older than '2 d', or a time.")
@click.option("--limit", type=click.IntRange(min=1), help="Remove at most so many at once.")
@confirm_options
@output_options
def expire(  # noqa: PLR0913 - the options of the command
    *,
    table: "Table",
    retain_min: int | None,
    retain_max: int | None,
    older_than: str | None,
    limit: int | None,
    is_confirmed: bool,
    is_dry_run: bool,
    output: "Output",
) -> int:
    """Remove old snapshots and the files that only they need.

    Options that are left out have the values of the table's snapshot.… options. With --dry-run,
    --csv prints the files that would be removed.

    Examples:
        expire wh/demo.db/orders --retain-max 2 --dry-run
        expire demo.orders -w wh --older-than '2 d' --retain-min 1 --yes
    """
    given: dict[str, Any] = {"retain_min": retain_min, "retain_max": retain_max}
    given |= {"older_than": older_than, "limit": limit}
    if is_dry_run:
        return output.report(table.what_if.expire_snapshots(**given))
    planned = table.maintenance.expire_snapshots(**given, dry_run=True)
    if not planned.expired:
        none = {"expired": [], "data_files": 0, "metadata_files": 0}
        output.document(none, f"{table.name}: no snapshot expires.")
        return OK
    what = repr(planned).removeprefix("would remove ")
    confirmed(sanitized(f"{table.name}: remove {what}?"), is_confirmed=is_confirmed)
    done = table.maintenance.expire_snapshots(**given)
    document = {
        "expired": list(done.expired),
        "data_files": len(done.files.data_files),
        "metadata_files": len(done.files.metadata_files),
    }
    output.document(document, f"{table.name}: {done!r}")
    return OK


@command(main_group, "orphans")
@opened_table
@click.option(
    "--older-than",
    default="1 d",
    show_default=True,
    metavar="AGE",
    help="Only files last changed before this age or time; longer than any commit takes.",
)
@click.option("--external", is_flag=True, help="Also search external paths.")
@confirm_options
@output_options
def orphans(
    *,
    table: "Table",
    older_than: str,
    external: bool,
    is_confirmed: bool,
    is_dry_run: bool,
    output: "Output",
) -> None:
    """Remove files that no snapshot, tag or branch refers to; JSON and CSV list them.

    Examples:
        orphans wh/demo.db/orders --dry-run
        orphans demo.orders -w wh --older-than '3 d' --yes --json
    """
    from functools import partial

    import pyarrow as pa

    from paimon_explore.inspection.rendering.number_format import bytes_text, plural
    from paimon_explore.sanitize import masked

    remove = partial(
        table.maintenance.remove_orphan_files, older_than=older_than, external=external
    )
    found = remove(dry_run=True)
    what = f"{plural(len(found.files), 'orphan file')}, {bytes_text(found.size)}"
    if output.is_text:
        for path in found.files:
            output.line(sanitized(path))
        output.stream.flush()
    if not is_dry_run and found.files:
        confirmed(sanitized(f"{table.name}: remove {what}?"), is_confirmed=is_confirmed)
        found = remove(dry_run=False)
        what = f"removed {plural(len(found.files), 'orphan file')}, {bytes_text(found.size)}"
    if not output.is_text:
        paths = pa.table({"path": pa.array(map(masked, found.files), pa.string())})
        output.rows(paths, noun="file")
    output.message(f"{table.name}: {what}")


@command(main_group, "fsck")
@opened_table
@click.option("--read-rows", is_flag=True, help="Also read every data file.")
@click.option(
    "--cross-check-all", is_flag=True, help="Decode all Avro metadata with fastavro as well."
)
@output_options
def fsck(*, table: "Table", read_rows: bool, cross_check_all: bool, output: "Output") -> int:
    """Check that the files of a table, in all branches, are complete and consistent.

    The exit code is 3 if there are findings.

    Examples:
        fsck wh/demo.db/orders
        fsck demo.parcels -w wh --read-rows --json
    """
    import pyarrow as pa

    from paimon_explore.inspection.rendering.number_format import plural
    from paimon_explore.sanitize import masked

    limit = {"cross_check_records": None} if cross_check_all else {}
    found = table.maintenance.fsck(read_rows=read_rows, **limit)
    rows = [
        {
            "severity": one.severity.value,
            "path": masked(one.path),
            "problem": masked(one.what),
            "rule": one.rule,
        }
        for one in found
    ]
    if not output.is_text:
        names = ("severity", "path", "problem", "rule")
        schema = pa.schema([(name, pa.string()) for name in names])
        output.rows(pa.Table.from_pylist(rows, schema=schema))
    else:
        _print_findings(rows, output)
        count = plural(len(found), "finding") if found else "no findings"
        output.message(
            f"{table.name}: {count}. {str(found.avro)[:1].upper()}{str(found.avro)[1:]}."
        )
    return FINDINGS if found else OK


def _print_findings(rows: list[dict[str, str]], output: "Output") -> None:
    """Each finding on lines of its own, since paths are long."""
    from paimon_explore.command_line.rendering.report_text import wrapped

    for row in rows:
        for line in wrapped(f"{row['severity']}: {row['problem']}", output.width):
            output.line(line, style="bold red")
        for name in ("path", "rule"):
            label = "file" if name == "path" else name
            for line in wrapped(f"{label}: {row[name]}", output.width, "  "):
                output.line(line)


@command(main_group, "health")
@opened_table
@point_options
@output_options
def health(*, table: "Table", point: "Callable[[Table], Table]", output: "Output") -> int:
    """Check the condition of a table: small files, unmerged runs, old snapshots and so on.

    Each finding has its figure, its threshold and the option that changes it. The exit code is 3
    if there are warnings or errors; notes do not count.

    Examples:
        health wh/demo.db/parcels
        health demo.customers -w wh --json
    """
    from paimon_explore.inspection.health.findings import Severity

    found = point(table).health()
    output.report(found)
    severe = sum(found.count(one) for one in (Severity.ERROR, Severity.WARNING))
    return FINDINGS if severe or found.problems else OK
