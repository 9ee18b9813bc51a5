"""The code that does what a preview shows: Python with this package, and SQL for Spark."""

import re
from collections.abc import Mapping, Sequence

from paimon_explore.data_types.local_time import local_moment
from paimon_explore.inspection.rendering.code_snippet import call_code
from paimon_explore.inspection.rendering.report import Commands
from paimon_explore.inspection.table_view import TableView
from paimon_explore.metadata.table_paths import MAIN_BRANCH

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def compact_commands(
    view: TableView,
    *,
    full: bool,
    partitions: Sequence[Mapping[str, object]] | None,
    options: Mapping[str, str],
) -> Commands:
    """The code of a compaction."""
    table = _python_table(view, options)
    specs = None if partitions is None else [dict(spec) for spec in partitions]
    arguments = {
        "table": sql_text(_sql_name(view)),
        "partitions": None if specs is None else sql_text(";".join(map(_spec_text, specs))),
        "compact_strategy": None if full else sql_text("minor"),
        "options": _sql_options(options),
    }
    return Commands(
        title="Code for this compaction",
        rows=(
            (
                "Python",
                call_code(f"{table}.compact", full=None if full else False, partitions=specs),
            ),
            ("Spark SQL", _call("compact", arguments)),
        ),
    )


def expire_snapshots_commands(
    view: TableView, given: Mapping[str, object], keep_after_ms: int
) -> Commands:
    """The code of a snapshot expiry.

    Args:
        view: the table.
        given: arguments of `Maintenance.expire_snapshots`.
        keep_after_ms: the time that the argument `older_than` means, epoch milliseconds.
    """
    limit = given.get("limit")
    moment = f"{local_moment(keep_after_ms):%Y-%m-%d %H:%M:%S}"
    arguments = {
        "table": sql_text(_sql_name(view)),
        "retain_max": _sql_number(given.get("retain_max")),
        "retain_min": _sql_number(given.get("retain_min")),
        "older_than": sql_text(moment) if "older_than" in given else None,
        "max_deletes": _sql_number(limit),
    }
    return Commands(
        title="Code for this expiry",
        rows=(
            ("Python", call_code(f"{view.expression}.maintenance.expire_snapshots", **given)),
            ("Spark SQL", _call("expire_snapshots", arguments)),
        ),
    )


def expire_partitions_commands(
    view: TableView, age_text: str | None, age_code: str | None
) -> Commands:
    """The code of a partition expiry.

    Args:
        view: the table.
        age_text: the age as in `partition.expiration-time`; None for the option of the table.
        age_code: the age as Python code.
    """
    arguments = {
        "table": sql_text(_sql_name(view)),
        "expiration_time": None if age_text is None else sql_text(age_text),
    }
    return Commands(
        title="Code for this expiry",
        rows=(
            ("Python", f"{view.expression}.maintenance.expire_partitions({age_code or ''})"),
            ("Spark SQL", _call("expire_partitions", arguments)),
        ),
    )


def option_commands(view: TableView, options: Mapping[str, str | None]) -> Commands:
    """The code that changes options; None resets an option to its default."""
    kept = {key: value for key, value in options.items() if value is not None}
    unset = [key for key, value in options.items() if value is None]
    rows: list[tuple[str, str]] = []
    name = _sql_name(view)
    if kept:
        rows.append(("Python", f"{view.expression}.set_options({kept!r})"))
        pairs = ", ".join(f"{sql_text(k)} = {sql_text(v)}" for k, v in kept.items())
        rows.append(("Spark SQL", f"ALTER TABLE {name} SET TBLPROPERTIES ({pairs})"))
    if unset:
        keys = ", ".join(map(sql_text, unset))
        rows.append(("Python", f"{view.expression}.set_options({dict.fromkeys(unset)!r})"))
        rows.append(("Spark SQL", f"ALTER TABLE {name} UNSET TBLPROPERTIES ({keys})"))
    return Commands(title="Code for this change", rows=tuple(rows))


def sql_text(text: str) -> str:
    r"""The text as a literal of Spark SQL.

    >>> print(sql_text("it's"))
    'it\'s'
    """
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _python_table(view: TableView, options: Mapping[str, str]) -> str:
    if not options:
        return view.expression
    branch = None if view.branch == MAIN_BRANCH else view.branch
    return call_code("pe.open_table", view.location, branch=branch, options=dict(options))


def _sql_name(view: TableView) -> str:
    """The name of the table in SQL; parts that are not plain identifiers are quoted."""
    parts = view.name.split(".", 1)
    return ".".join(part if _PLAIN.fullmatch(part) else _quoted(part) for part in parts)


def _quoted(part: str) -> str:
    escaped = part.replace("`", "``")
    return f"`{escaped}`"


def _sql_options(options: Mapping[str, str]) -> str | None:
    if not options:
        return None
    return sql_text(",".join(f"{key}={value}" for key, value in options.items()))


def _sql_number(value: object) -> str | None:
    return None if value is None else str(value)


def _spec_text(spec: Mapping[str, object]) -> str:
    return ",".join(f"{name}={value}" for name, value in spec.items())


def _call(procedure: str, arguments: Mapping[str, str | None]) -> str:
    given = ", ".join(
        f"{name} => {value}" for name, value in arguments.items() if value is not None
    )
    return f"CALL sys.{procedure}({given})"
