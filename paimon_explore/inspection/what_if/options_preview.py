"""Preview of changed options: which are accepted, when they take effect, and what they change.

The rules are those of `ALTER TABLE`, which are applied to the schema without storing the result.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum

import pyarrow as pa

from paimon_explore.data_types.arrow import schema_from_text
from paimon_explore.errors import InvalidInputError, PaimonError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.rendering.chart import Tone
from paimon_explore.inspection.rendering.code_snippet import Code, call_code
from paimon_explore.inspection.rendering.number_format import (
    Number,
    bytes_text,
    count_text,
    plural,
    signed_text,
)
from paimon_explore.inspection.rendering.report import Cell, Entry, Note, Report, Section, grid
from paimon_explore.inspection.rendering.result import Result, rows_table
from paimon_explore.inspection.table_view import TableView
from paimon_explore.inspection.what_if.compaction_preview import compaction_preview
from paimon_explore.inspection.what_if.option_effects import (
    default_text,
    definition_of,
    option_effect,
)
from paimon_explore.maintenance.expiry.snapshot_expiry import expire_snapshots, snapshot_retention
from paimon_explore.metadata.manifest.entry_cancellation import live_entries
from paimon_explore.metadata.options.table_options import BUCKET, TableOptions
from paimon_explore.metadata.schema.alter_schema import apply_changes
from paimon_explore.metadata.schema.schema_change import RemoveOption, SchemaChange, SetOption
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.sanitize import masked_value
from paimon_explore.scan.manifest_arrays import numbers

_COMPACTION = ("compaction.", "num-", "target-file-size", "source.split.open-file-cost")
_EXPIRY = ("snapshot.num-retained", "snapshot.time-retained", "snapshot.expire.limit")
_BUCKET_COLUMNS = (
    *("kind", "partition", "bucket", "total_buckets", "level", "file_name", "file_size"),
    *("row_count", "extra_files", "embedded_file_index", "external_path"),
)


class Verdict(StrEnum):
    """Whether an option can be changed."""

    ACCEPTED = "accepted"
    UNCHANGED = "unchanged"
    REFUSED = "refused"


_TONES = {Verdict.ACCEPTED: Tone.ADD, Verdict.UNCHANGED: Tone.MUTED, Verdict.REFUSED: Tone.REMOVE}

OPTION_CHANGES = schema_from_text(
    "option string, before string, after string, verdict string, effect string"
)
"""One row per option; `before` and `after` are the effective values, null for none; `effect` says
when it takes effect, or why it is refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionChange:
    """One option.

    Attributes:
        key: the option.
        before: effective value as text; None if it has none.
        after: effective value after the change.
        verdict: whether it can be changed.
        effect: when it takes effect, or why it is refused.
    """

    key: str
    before: str | None
    after: str | None
    verdict: Verdict
    effect: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Consequence:
    """A figure that the change affects.

    Attributes:
        figure: name of the figure.
        before: its value as text.
        after: its value after the change.
        difference: the difference as text; empty if there is none.
    """

    figure: str
    before: str
    after: str
    difference: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class OptionsPreview(Result):
    """The effect that changed options would have.

    Attributes:
        name: the table.
        changes: the options.
        refusal: why the options are refused together, although each alone is accepted; else empty.
        consequences: figures before and after.
    """

    name: str
    changes: tuple[OptionChange, ...]
    refusal: str
    consequences: tuple[Consequence, ...]
    kind = "what_if"

    @property
    def accepted(self) -> bool:
        """Whether `ALTER TABLE` would accept all options together."""
        return not self.refusal and all(c.verdict is not Verdict.REFUSED for c in self.changes)

    def to_arrow(self) -> pa.Table:
        """The options as `OPTION_CHANGES`."""
        return rows_table(map(_cells, self.changes), OPTION_CHANGES)

    def figures(self) -> dict[str, object]:
        """The verdicts and the figures before and after."""
        return {
            "accepted": self.accepted,
            "refusal": self.refusal,
            "options": {c.key: c.verdict.value for c in self.changes},
            "consequences": {c.figure: [c.before, c.after] for c in self.consequences},
        }

    def to_report(self) -> Report:
        """The options with their effect, and the figures before and after."""
        refused = sum(c.verdict is Verdict.REFUSED for c in self.changes)
        changed = sum(c.verdict is Verdict.ACCEPTED for c in self.changes)
        if not self.changes:
            title = f"{self.name}: no option is given"
        elif refused or self.refusal:
            title = f"{self.name}: the options would be refused"
        else:
            title = f"{self.name}: {plural(changed, 'option')} would change"
        return Report(title=title, sections=tuple(self._sections()))

    def _sections(self) -> Iterator[Section]:
        if not self.changes:
            yield Note(text="Give options and their new values, such as target-file-size = 64 mb.")
            return
        if self.refusal:
            yield Note(text=self.refusal, tone=Tone.REMOVE)
        rows: list[list[Entry]] = [
            [
                key,
                "none" if before is None else before,
                "none" if after is None else after,
                Cell(text=change.verdict.value, tone=_TONES[change.verdict]),
                effect,
            ]
            for change in self.changes
            for key, before, after, _, effect in (_cells(change),)
        ]
        yield grid("Options", ("option", "before", "after", "result", "effect or reason"), rows)
        if self.consequences:
            figures = [(c.figure, c.before, c.after, c.difference) for c in self.consequences]
            heads = ("figure", "before#", "after#", "difference#")
            yield grid("Before and after", heads, figures)


def _cells(change: OptionChange) -> tuple[str | None, ...]:
    """The cells of a change, with masked values."""
    values = (change.before, change.after)
    before, after = (None if v is None else masked_value(change.key, v) for v in values)
    return change.key, before, after, change.verdict.value, change.effect


def options_preview(view: TableView, options: Mapping[str, str | None]) -> OptionsPreview:
    """Preview changed options.

    Args:
        view: the table; its schema must be readable.
        options: new values by key; None resets an option to its default.

    Raises:
        PaimonError: metadata cannot be read.
    """
    schema = view.target(None, travelled=False).schema
    snapshot = view.store.snapshots.latest()
    together = _refusal(schema, options, snapshot)
    changes = tuple(
        _change(schema, key, value, snapshot, alone=bool(together))
        for key, value in options.items()
    )
    if any(change.verdict is Verdict.REFUSED for change in changes):
        together = ""
    found = OptionsPreview(
        name=view.name,
        changes=changes,
        refusal=together,
        consequences=(),
        code=Code(python=call_code(f"{view.expression}.what_if.options", options)),
    )
    if not found.accepted:
        return found
    return replace(found, consequences=tuple(_consequences(view, schema, options, snapshot)))


def _refusal(
    schema: TableSchema, options: Mapping[str, str | None], snapshot: Snapshot | None
) -> str:
    """Why the table cannot have these options; empty if it can."""
    changes: list[SchemaChange] = [
        RemoveOption(key=key) if value is None else SetOption(key=key, value=value)
        for key, value in options.items()
    ]
    try:
        apply_changes(schema, changes, has_snapshots=snapshot is not None)
    except InvalidInputError as error:
        return error.message
    return ""


def _change(
    schema: TableSchema, key: str, value: str | None, snapshot: Snapshot | None, *, alone: bool
) -> OptionChange:
    before = effective_text(TableOptions(schema.options), key)
    kept = {k: v for k, v in schema.options.items() if k != key}
    after = effective_text(TableOptions(kept if value is None else {**kept, key: value}), key)
    verdict, effect = Verdict.ACCEPTED, option_effect(key)
    if before == after:
        verdict, effect = Verdict.UNCHANGED, "The effective value stays the same."
    if alone and (refused := _refusal(schema, {key: value}, snapshot)):
        verdict, effect, after = Verdict.REFUSED, refused, value
    return OptionChange(key=key, before=before, after=after, verdict=verdict, effect=effect)


def effective_text(options: TableOptions, key: str) -> str | None:
    """The effective value of an option as text: as given, else its default; None if it has none."""
    known = definition_of(key)
    if known is None:
        return options.get(key)
    for name in (known.key, *known.fallback_keys):
        if name in options:
            return options[name]
    return default_text(known)


def _consequences(
    view: TableView,
    schema: TableSchema,
    options: Mapping[str, str | None],
    snapshot: Snapshot | None,
) -> Iterator[Consequence]:
    if snapshot is None:
        return
    kept = {k: v for k, v in schema.options.items() if k not in options}
    after = TableOptions(
        {**kept, **{k: v for k, v in options.items() if v is not None}, **view.dynamic_options}
    )
    if any(key.startswith(_COMPACTION) for key in options):
        yield from _compaction(view, after)
    if any(key.startswith(_EXPIRY) for key in options):
        reports = [
            expire_snapshots(view.store, given, snapshot_retention(given), dry_run=True)
            for given in (view.options, after)
        ]
        ids = [len(report.expired) for report in reports]
        yield _consequence("snapshots that would expire", ids, count_text)
        files = [len(report.files.data_files) for report in reports]
        yield _consequence("data files to delete", files, count_text)
    if BUCKET.key in options:
        yield from _buckets(view, snapshot, after.value(BUCKET))


def _compaction(view: TableView, after: TableOptions) -> Iterator[Consequence]:
    """What a minor compaction would do now, with the present and the changed options."""
    try:
        found = [
            compaction_preview(view, full=False),
            compaction_preview(view, full=False, options=dict(after)),
        ]
    except PaimonError as error:
        yield Consequence(figure="minor compaction", before=error.message, after=error.message)
        return
    files = [one.to_arrow().num_rows for one in found]
    yield _consequence("files that a minor compaction replaces", files, count_text)
    sizes = [one.bytes_rewritten for one in found]
    yield _consequence("bytes that a minor compaction rewrites", sizes, bytes_text)


def _buckets(view: TableView, snapshot: Snapshot, count: int) -> Iterator[Consequence]:
    """The buckets of all partitions, if all of them were rewritten."""
    manifests = view.store.manifests
    found = manifests.read_many(manifests.all(snapshot).names, _BUCKET_COLUMNS)
    table = live_entries(found).table
    totals = numbers(table, "total_buckets").tolist()
    partitions = table.column("partition").to_pylist()
    by_partition: dict[object, int] = dict(zip(partitions, totals, strict=True))
    other = {p for p, total in by_partition.items() if total != count}
    yield _consequence("partitions with another number of buckets", [0, len(other)], count_text)
    sizes = numbers(table, "file_size").tolist()
    rewritten = sum(n for n, p in zip(sizes, partitions, strict=True) if p in other)
    yield _consequence("bytes to rewrite with INSERT OVERWRITE", [0, rewritten], bytes_text)
    fixed = [total for total in by_partition.values() if total > 0]
    if len(fixed) == len(by_partition) and fixed and count > 0:
        buckets = [sum(fixed), count * len(fixed)]
        yield _consequence("buckets", buckets, count_text)
        mean = [sum(sizes) / one for one in buckets]
        yield _consequence("mean size of a bucket", mean, bytes_text)


def _consequence(figure: str, pair: Sequence[Number], text: Callable[[Number], str]) -> Consequence:
    before, after = pair
    return Consequence(
        figure=figure,
        before=text(before),
        after=text(after),
        difference=signed_text(after - before, text),
    )
