"""Commands that check a table: `fsck` and `health`."""

from typing import TYPE_CHECKING

import click

from paimon_explore.command_line.command import command, main_group
from paimon_explore.command_line.exit_codes import FINDINGS, OK
from paimon_explore.command_line.options import opened_table, output_options, point_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from paimon_explore.command_line.rendering.output import Output
    from paimon_explore.table.table import Table


@command(main_group, "fsck", "fsck wh/demo.db/orders", "fsck demo.parcels -w wh --read-rows --json")
@opened_table
@click.option("--read-rows", is_flag=True, help="Also read every data file.")
@click.option(
    "--cross-check-all", is_flag=True, help="Decode all Avro metadata with fastavro as well."
)
@output_options
def fsck(*, table: "Table", read_rows: bool, cross_check_all: bool, output: "Output") -> int:
    """Check that the files of a table, in all branches, are complete and consistent.

    The exit code is 3 if there are findings.
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


@command(main_group, "health", "health wh/demo.db/parcels", "health demo.customers -w wh --json")
@opened_table
@point_options
@output_options
def health(*, table: "Table", point: "Callable[[Table], Table]", output: "Output") -> int:
    """Check the condition of a table: small files, unmerged runs, old snapshots and so on.

    Each finding has its figure, its threshold and the option that changes it. The exit code is 3
    if there are warnings or errors; notes do not count.
    """
    from paimon_explore.inspection.health.findings import Severity

    found = point(table).health()
    output.report(found)
    severe = sum(found.count(one) for one in (Severity.ERROR, Severity.WARNING))
    return FINDINGS if severe or found.problems else OK
