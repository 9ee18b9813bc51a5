"""The forms of the view What if: the settings of each action with their current values."""

from collections.abc import Iterable, Iterator
from enum import Enum

from paimon_explore.inspection.rendering.report import Form, FormField
from paimon_explore.inspection.table_view import TableView
from paimon_explore.inspection.what_if.input_text import ACTIONS, MORE, WhatIfInput
from paimon_explore.inspection.what_if.option_effects import definition_of
from paimon_explore.inspection.what_if.options_preview import effective_text
from paimon_explore.maintenance.expiry.snapshot_expiry import snapshot_retention
from paimon_explore.sanitize import masked_value

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
            fields = _compact_fields(view, given, partition)
        case "expire_snapshots":
            fields = _expiry_fields(view, given)
        case "expire_partitions":
            fields = _partition_fields(view, given)
        case _:
            fields = _option_fields(view, given, _COMMON)
    listed = list(fields)
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


def _compact_fields(view: TableView, given: WhatIfInput, partition: str) -> Iterator[FormField]:
    yield FormField(
        name="full",
        label="full compaction",
        current="true",
        value=given.settings.get("full", ""),
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
            value=given.settings.get("partition", ""),
            tooltip=f"Values of some partition columns: {names}.",
            example=partition,
        )
    yield from _option_fields(view, given, _KEYED if keyed else _APPEND)


def _expiry_fields(view: TableView, given: WhatIfInput) -> Iterator[FormField]:
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
        value = given.settings.get(name, "")
        yield FormField(name=name, current=current, value=value, tooltip=tooltip)


def _partition_fields(view: TableView, given: WhatIfInput) -> Iterator[FormField]:
    yield FormField(
        name="older_than",
        current=effective_text(view.options, "partition.expiration-time") or "",
        value=given.settings.get("older_than", ""),
        tooltip="Drop the partitions whose time is older than this age.",
        example="30 d",
    )
    yield from _option_fields(view, given, _PARTITION_EXPIRY)


def _option_fields(view: TableView, given: WhatIfInput, keys: Iterable[str]) -> Iterator[FormField]:
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
            value=given.settings.get(key, ""),
            allowed=allowed,
            tooltip=f"{definition.description}{fixed}",
        )


def _quoted(value: str) -> str:
    text = value.replace("'", "''")
    return f"'{text}'"
