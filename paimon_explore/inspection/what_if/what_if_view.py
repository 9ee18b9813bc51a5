"""The view What if of the explorer: a form, the preview of the selected action, and its code."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import TypeAlias

from paimon_explore.errors import InvalidInputError, PaimonError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.explain.expiry_preview import expiry_preview, parse_retention
from paimon_explore.inspection.overview.example_inputs import example_partition
from paimon_explore.inspection.problem import problem_of
from paimon_explore.inspection.rendering.code_snippet import Code, call_code
from paimon_explore.inspection.rendering.form_view import FormView
from paimon_explore.inspection.rendering.report import Commands
from paimon_explore.inspection.rendering.result import Result
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.inspection.what_if.commands import (
    compact_commands,
    expire_partitions_commands,
    expire_snapshots_commands,
    option_commands,
)
from paimon_explore.inspection.what_if.compaction_preview import compaction_preview
from paimon_explore.inspection.what_if.input_text import WhatIfInput, parse_input
from paimon_explore.inspection.what_if.options_preview import options_preview
from paimon_explore.inspection.what_if.partition_expiry_preview import partition_expiry_preview
from paimon_explore.inspection.what_if.what_if_form import what_if_form
from paimon_explore.maintenance.expiry.snapshot_expiry import snapshot_retention
from paimon_explore.metadata.options.option_definition import (
    parse_duration,
    parse_flag,
    read_value,
)
from paimon_explore.metadata.schema.schema_validation import check_dynamic_options

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
    """The view for an input; see `input_text`.

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
    try:
        preview, commands = _PREVIEWS[given.action](inspector, given, now_ms)
    except PaimonError as error:
        return WhatIfView(
            name=view.name,
            form=form,
            problem=problem_of(error),
            note=note,
            code=Code(python=f"{view.expression}.what_if.{given.action}(…)"),
            renderer=view.renderer,
        )
    return WhatIfView(
        name=view.name,
        form=form,
        result=preview,
        commands=commands,
        note=note,
        code=preview.code,
        renderer=view.renderer,
    )


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
    specs = [_partition(partition)] if partition.strip() else None
    python = call_code(
        f"{view.expression}.what_if.compact",
        full=None if full else False,
        partitions=specs,
        options=options or None,
    )
    preview = compaction_preview(
        view, full=full, partitions=specs, options=options, code=Code(python=python)
    )
    return preview, compact_commands(view, full=full, partitions=specs, options=options)


def _partition(text: str) -> Mapping[str, object]:
    """The values of a partition written as `dt=d1/hr=3` or `dt=d1, hr=3`."""
    spec: dict[str, object] = {}
    for part in text.replace(",", "/").split("/"):
        name, equals, value = (item.strip() for item in part.partition("="))
        if not equals:
            raise InvalidInputError(
                f"{part.strip()!r} is not a partition value.", hint="Write dt=d1, hr=3."
            )
        spec[name] = None if value == "null" else value.strip("'\"")
    return spec


def _expire_snapshots(inspector: Inspector, given: WhatIfInput, now_ms: int) -> _Preview:
    view = inspector.view
    unknown = [name for name in given.settings if name not in _RETENTION]
    if unknown:
        raise InvalidInputError(
            f"{unknown[0]!r} is not a setting of snapshot expiry.",
            hint="Settings: retain_min, retain_max, older_than, limit.",
        )
    text = ", ".join(f"{name}={value}" for name, value in given.settings.items())
    defaults = snapshot_retention(view.options, lambda: now_ms)
    retention = parse_retention(text, defaults, now_ms)
    arguments: dict[str, object] = {
        name: value if name == "older_than" else int(value)
        for name, value in given.settings.items()
    }
    code = Code(python=call_code(f"{view.expression}.what_if.expire_snapshots", **arguments))
    commands = expire_snapshots_commands(view, arguments, retention.keep_after_ms)
    return expiry_preview(inspector, retention, code), commands


def _expire_partitions(inspector: Inspector, given: WhatIfInput, _now_ms: int) -> _Preview:
    view = inspector.view
    options = dict(given.settings)
    text = options.pop("older_than", "").strip()
    check_dynamic_options(view.target(None, travelled=False).schema, options)
    age = None
    if text:
        age = timedelta(milliseconds=read_value("older_than", text, parse_duration))
    written = _timedelta_code(age)
    rest = f", options={options!r}" if options and written else f"options={options!r}"
    python = f"{view.expression}.what_if.expire_partitions({written}{rest if options else ''})"
    preview = partition_expiry_preview(
        view, age, view.options.changed(options), code=Code(python=python)
    )
    return preview, expire_partitions_commands(view, text or None, written or None)


def _timedelta_code(age: timedelta | None) -> str:
    """An age as Python code."""
    return "" if age is None else repr(age).removeprefix("datetime.")


def _options(inspector: Inspector, given: WhatIfInput, _now_ms: int) -> _Preview:
    view = inspector.view
    options = dict(given.settings)
    code = Code(python=call_code(f"{view.expression}.what_if.options", options))
    preview = options_preview(view, options, code)
    changes = preview.accepted and bool(options)
    return preview, option_commands(view, options) if changes else None


_PREVIEWS: Mapping[str, Callable[[Inspector, WhatIfInput, int], _Preview]] = {
    "compact": _compact,
    "expire_snapshots": _expire_snapshots,
    "expire_partitions": _expire_partitions,
    "options": _options,
}
