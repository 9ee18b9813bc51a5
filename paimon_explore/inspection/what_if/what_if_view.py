"""The view What if of the explorer: a form, the preview of the selected action, and its code.

The forms of the view What if: the settings of each action with their current values.

The code that does what a preview shows: Python with this package, and SQL for Spark.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from enum import Enum
from typing import TypeAlias

from paimon_explore.data_types.local_time import local_moment
from paimon_explore.errors import InvalidInputError, PaimonError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.explain.expiry_preview import (
    expiry_of_settings,
    retention_arguments,
)
from paimon_explore.inspection.history.file_history import partition_type
from paimon_explore.inspection.overview.example_inputs import example_partition
from paimon_explore.inspection.partition_argument import parse_partition
from paimon_explore.inspection.problem import problem_of
from paimon_explore.inspection.rendering.code_snippet import Code, call_code
from paimon_explore.inspection.rendering.form_view import (
    ACTIONS,
    MORE,
    FormView,
    WhatIfInput,
    parse_input,
)
from paimon_explore.inspection.rendering.report import Commands, Form, FormField
from paimon_explore.inspection.rendering.result import Result
from paimon_explore.inspection.rows.row_code import quoted_name
from paimon_explore.inspection.table_view import TableView
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.inspection.what_if.compaction_preview import compaction_preview
from paimon_explore.inspection.what_if.option_effects import definition_of
from paimon_explore.inspection.what_if.options_preview import effective_text, options_preview
from paimon_explore.inspection.what_if.partition_expiry_preview import (
    partition_expiry_preview,
)
from paimon_explore.maintenance.expiry.snapshot_expiry import snapshot_retention
from paimon_explore.metadata.options.option_definition import (
    parse_duration,
    parse_flag,
    read_value,
)
from paimon_explore.metadata.options.option_reference import OPTION_REFERENCE
from paimon_explore.metadata.options.table_options import PARTITION_DEFAULT_NAME
from paimon_explore.metadata.table_paths import MAIN_BRANCH
from paimon_explore.sanitize import masked_value

_Preview: TypeAlias = tuple[Result, Commands | None]
"""A preview, and code that does it; None if it would be refused."""
MAX_FILES = 100_000
"""Number of files of a table above which the view does not preview a compaction of all of them
unless it is asked to."""
_RETENTION = ("retain_min", "retain_max", "older_than", "limit")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class WhatIfView(FormView):
    """A form with the preview of one action; without one, the action would be refused."""

    kind = "what_if"


def what_if_view(inspector: Inspector, text: str, now_ms: int) -> WhatIfView:
    """The view for an input; see `form_view`.

    An input that cannot be previewed is shown as a problem below its form.

    Args:
        inspector: the table.
        text: the input.
        now_ms: current time, epoch milliseconds.

    Raises:
        InvalidInputError: the input is malformed, or does not start with an action.
    """
    given = parse_input(text)
    view = inspector.view
    form = what_if_form(view, given, example_partition(inspector))
    note = ""
    if not inspector.is_newest:
        note = "Maintenance acts on the latest snapshot, so this is its preview."
    code = Code(python=f"{view.expression}.what_if.{given.action}(…)")
    found = WhatIfView(name=view.name, form=form, note=note, code=code)
    try:
        preview, commands = _PREVIEWS[given.action](inspector, given, now_ms)
    except PaimonError as error:
        return replace(found, problem=problem_of(error))
    return replace(found, result=preview, commands=commands, code=preview.code)


def _compact(inspector: Inspector, given: WhatIfInput, _now_ms: int) -> _Preview:
    view = inspector.view
    options = dict(given.settings)
    files = len(inspector.current_files()) if inspector.snapshot is not None else 0
    if not options and files > MAX_FILES:
        raise InvalidInputError(
            f"The table has {files:,} data files; the preview of all of them takes minutes.",
            hint="Enter a partition, or full = true to preview the whole table.",
        )
    full = read_value("full", options.pop("full", "true"), parse_flag)
    partition = options.pop("partition", "")
    keys = partition_type(view).names
    specs = [parse_partition(partition, keys)] if partition.strip() else None
    preview = compaction_preview(view, full=full, partitions=specs, options=options)
    preview = replace(preview, has_links=inspector.is_newest)
    return preview, compact_commands(view, full=full, partitions=specs, options=options)


def _expire_snapshots(inspector: Inspector, given: WhatIfInput, now_ms: int) -> _Preview:
    unknown = [name for name in given.settings if name not in _RETENTION]
    if unknown:
        raise InvalidInputError(
            f"{unknown[0]!r} is not a setting of snapshot expiry.",
            hint="Settings: retain_min, retain_max, older_than, limit.",
        )
    preview = expiry_of_settings(inspector, given.settings, now_ms)
    arguments = retention_arguments(given.settings)
    keep_after_ms = preview.retention.keep_after_ms
    return preview, expire_snapshots_commands(inspector.view, arguments, keep_after_ms)


def _expire_partitions(inspector: Inspector, given: WhatIfInput, _now_ms: int) -> _Preview:
    view = inspector.view
    options = dict(given.settings)
    text = options.pop("older_than", "").strip()
    age = None
    if text:
        age = timedelta(milliseconds=read_value("older_than", text, parse_duration))
    preview = partition_expiry_preview(view, age, options)
    return preview, expire_partitions_commands(view, text, options)


def _options(inspector: Inspector, given: WhatIfInput, _now_ms: int) -> _Preview:
    view = inspector.view
    options = dict(given.settings)
    preview = options_preview(view, options)
    changes = preview.accepted and bool(options)
    return preview, option_commands(view, options) if changes else None


_PREVIEWS: Mapping[str, Callable[[Inspector, WhatIfInput, int], _Preview]] = {
    "compact": _compact,
    "expire_snapshots": _expire_snapshots,
    "expire_partitions": _expire_partitions,
    "options": _options,
}


_FLAG = ("true", "false")
_KEYED = (
    *("num-sorted-run.compaction-trigger", "compaction.max-size-amplification-percent"),
    *("compaction.size-ratio", "num-levels", "target-file-size", "compaction.small-file-ratio"),
)
_APPEND = (
    *("target-file-size", "compaction.small-file-ratio", "compaction.min.file-num"),
    *("compaction.delete-ratio-threshold",),
)
_PARTITION_EXPIRY = (
    *("partition.expiration-strategy", "partition.timestamp-pattern"),
    *("partition.timestamp-formatter", "partition.expiration-max-num"),
)
_COMMON = (
    *("bucket", "target-file-size", "file.format", "num-sorted-run.compaction-trigger"),
    *("changelog-producer", "deletion-vectors.enabled", "merge-engine"),
    *("snapshot.num-retained.min", "snapshot.num-retained.max", "snapshot.time-retained"),
)


def what_if_form(view: TableView, given: WhatIfInput, partition: str = "") -> Form:
    """The form of an action, filled in with the given settings.

    Args:
        view: the table.
        given: the action and the settings.
        partition: a partition of the table as an example; empty for none.
    """
    match given.action:
        case "compact":
            fields = _compact_fields(view, partition)
        case "expire_snapshots":
            fields = _expiry_fields(view)
        case "expire_partitions":
            fields = _partition_fields(view)
        case _:
            fields = _option_fields(view, _COMMON)
    listed = [replace(field, value=given.settings.get(field.name, "")) for field in fields]
    names = {field.name for field in listed}
    others = {key: value for key, value in given.settings.items() if key not in names}
    more = ", ".join(f"{key} = {_quoted(value)}" for key, value in others.items())
    if given.action != "expire_snapshots":
        listed.append(
            FormField(
                name=MORE,
                label="other options",
                value=more,
                tooltip="Further table options as key = value, separated by commas.",
                example="write-buffer-size = 64 mb",
            )
        )
    return Form(
        title="Preview; nothing is written",
        actions=tuple(ACTIONS.items()),
        action=given.action,
        fields=tuple(listed),
    )


def _compact_fields(view: TableView, partition: str) -> Iterator[FormField]:
    yield FormField(
        name="full",
        label="full compaction",
        current="true",
        allowed=_FLAG,
        tooltip="true: a full compaction, which rewrites all files that can be merged. false: a "
        "minor compaction, which rewrites the files that the options below select.",
    )
    keyed = view.schema is not None and bool(view.schema.primary_keys)
    if view.schema is not None and view.schema.partition_keys:
        names = ", ".join(f"{name}=…" for name in view.schema.partition_keys)
        yield FormField(
            name="partition",
            current="all partitions",
            tooltip=f"Values of some partition columns: {names}.",
            example=partition,
        )
    yield from _option_fields(view, _KEYED if keyed else _APPEND)


def _expiry_fields(view: TableView) -> Iterator[FormField]:
    now = snapshot_retention(view.options)
    fields = (
        ("retain_min", str(now.retain_min), "Keep at least so many of the newest snapshots."),
        ("retain_max", str(now.retain_max), "Keep at most so many snapshots."),
        (
            "older_than",
            effective_text(view.options, "snapshot.time-retained") or "",
            "Between these numbers, remove the snapshots older than this age (1 d) or time.",
        ),
        ("limit", str(now.limit), "Remove at most so many snapshots at once."),
    )
    for name, current, tooltip in fields:
        yield FormField(name=name, current=current, tooltip=tooltip)


def _partition_fields(view: TableView) -> Iterator[FormField]:
    yield FormField(
        name="older_than",
        current=effective_text(view.options, "partition.expiration-time") or "",
        tooltip="Drop the partitions whose time is older than this age.",
        example="30 d",
    )
    yield from _option_fields(view, _PARTITION_EXPIRY)


def _option_fields(view: TableView, keys: Iterable[str]) -> Iterator[FormField]:
    for key in keys:
        definition = definition_of(key)
        assert definition is not None  # noqa: S101 - the keys above; a test checks them
        allowed: tuple[str, ...] = ()
        if isinstance(definition.default, bool):
            allowed = _FLAG
        elif isinstance(definition.default, Enum):
            allowed = tuple(str(member.value) for member in type(definition.default))
        fixed = (
            " Cannot be changed once the table has a snapshot." if definition.is_immutable else ""
        )
        current = effective_text(view.options, key)
        yield FormField(
            name=key,
            current="none" if current is None else masked_value(key, current),
            allowed=allowed,
            tooltip=f"{OPTION_REFERENCE[definition.key].description}{fixed}",
        )


def _quoted(value: str) -> str:
    return "'{}'".format(value.replace("'", "''"))


_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SEPARATOR = re.compile("[,;]")


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
        **(_partition_arguments(view, specs) if specs else {}),
        "compact_strategy": None if full else sql_text("minor"),
        "options": sql_text(_pairs(options)) if options else None,
    }
    python = call_code(f"{table}.compact", full=None if full else False, partitions=specs)
    return _commands("compaction", python, "compact", arguments)


def expire_snapshots_commands(
    view: TableView, given: Mapping[str, object], keep_after_ms: int
) -> Commands:
    """The code of a snapshot expiry.

    Args:
        view: the table.
        given: arguments of `Maintenance.expire_snapshots`.
        keep_after_ms: the time that the argument `older_than` means, epoch milliseconds.
    """
    moment = f"{local_moment(keep_after_ms):%Y-%m-%d %H:%M:%S}"
    arguments = {
        "table": sql_text(_sql_name(view)),
        "retain_max": given.get("retain_max"),
        "retain_min": given.get("retain_min"),
        "older_than": sql_text(moment) if "older_than" in given else None,
        "max_deletes": given.get("limit"),
    }
    python = call_code(f"{view.expression}.maintenance.expire_snapshots", **given)
    return _commands("expiry", python, "expire_snapshots", arguments)


def expire_partitions_commands(view: TableView, age: str, options: Mapping[str, str]) -> Commands:
    """The code of a partition expiry.

    Args:
        view: the table.
        age: the age as in `partition.expiration-time`; empty for the option of the table.
        options: options that override those of the table.
    """
    arguments = {
        "table": sql_text(_sql_name(view)),
        "expiration_time": sql_text(age) if age else None,
        "options": sql_text(_pairs(options)) if options else None,
    }
    table = _python_table(view, options)
    python = call_code(f"{table}.maintenance.expire_partitions", *filter(None, [age]))
    return _commands("expiry", python, "expire_partitions", arguments)


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
    return ".".join(part if _PLAIN.fullmatch(part) else quoted_name(part) for part in parts)


def _partition_arguments(
    view: TableView, specs: Sequence[Mapping[str, object]]
) -> Mapping[str, object]:
    """The partitions as an argument of a procedure: a condition if a value has a separator."""
    if any(_SEPARATOR.search(str(value)) for spec in specs for value in spec.values()):
        tests = [[_test(name, value) for name, value in spec.items()] for spec in specs]
        return {"where": sql_text(" OR ".join(map(" AND ".join, tests)))}
    null = view.options.value(PARTITION_DEFAULT_NAME)
    named = [{name: null if v is None else v for name, v in spec.items()} for spec in specs]
    return {"partitions": sql_text(";".join(map(_pairs, named)))}


def _test(name: str, value: object) -> str:
    return f"{quoted_name(name)} {'IS NULL' if value is None else f'= {sql_text(str(value))}'}"


def _pairs(values: Mapping[str, object]) -> str:
    return ",".join(f"{name}={value}" for name, value in values.items())


def _commands(what: str, python: str, procedure: str, arguments: Mapping[str, object]) -> Commands:
    given = ", ".join(
        f"{name} => {value}" for name, value in arguments.items() if value is not None
    )
    call = f"CALL sys.{procedure}({given})"
    return Commands(title=f"Code for this {what}", rows=(("Python", python), ("Spark SQL", call)))
