"""`table.what_if`: the effect of maintenance before it is done."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from paimon_explore.arguments import boolean, mapping
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.explain.expiry_preview import ExpiryPreview, expiry_preview
from paimon_explore.inspection.rendering.code_snippet import Code, call_code
from paimon_explore.inspection.table_view import TableView
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.inspection.what_if.compaction_preview import (
    CompactionPreview,
    compaction_preview,
)
from paimon_explore.inspection.what_if.option_effects import duration_text
from paimon_explore.inspection.what_if.options_preview import OptionsPreview, options_preview
from paimon_explore.inspection.what_if.partition_expiry_preview import (
    PartitionExpiryPreview,
    partition_expiry_preview,
)
from paimon_explore.table.maintenance import Maintenance
from paimon_explore.table.operations.maintenance_arguments import (
    Age,
    Duration,
    optional_duration,
)
from paimon_explore.table.table_definition import OptionValue, option_texts

Specs = Mapping[str, object] | Sequence[Mapping[str, object]]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class WhatIf:
    """Previews of maintenance on the latest snapshot of a table; nothing is written.

    Each result can be printed, displayed, or converted with `to_arrow`.

    """

    _view: TableView

    def __repr__(self) -> str:
        """The table and the previews."""
        names = "compact, expire_snapshots, expire_partitions, options"
        return f"WhatIf({self._view.name!r}): {names}"

    def compact(
        self,
        *,
        full: bool = True,
        partitions: Specs | None = None,
        options: Mapping[str, OptionValue] | None = None,
    ) -> CompactionPreview:
        """Preview `Table.compact`: the files it would replace, and the table before and after.

        Args:
            full: as for `Table.compact`.
            partitions: as for `Table.compact`.
            options: options to try, such as `{"num-sorted-run.compaction-trigger": 3}`.

        Raises:
            InvalidInputError: an option has an invalid value, or a partition does not fit the
                table.
            UnsupportedFeatureError: the table uses a feature that prevents compaction.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.orders")
        >>> found = t.what_if.compact()
        >>> found.figures()["before"]["files"], found.figures()["after"]["files"]
        ([15, 15], [3, 3])
        """
        boolean("full", full)
        specs = None if partitions is None else _specs(partitions)
        given = option_texts(options)
        return compaction_preview(self._view, full=full, partitions=specs, options=given)

    def expire_snapshots(
        self,
        *,
        retain_min: int | None = None,
        retain_max: int | None = None,
        older_than: Age | None = None,
        limit: int | None = None,
    ) -> ExpiryPreview:
        """Preview `Maintenance.expire_snapshots` with the same arguments: what it would remove.

        Args:
            retain_min: keep at least so many of the newest snapshots.
            retain_max: keep at most so many.
            older_than: between these numbers, remove the snapshots older than this age or time.
            limit: remove at most so many at once.

        Raises:
            InvalidInputError: the arguments contradict each other.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.orders").what_if.expire_snapshots(retain_max=2).expiring
        (1, 2, 3)
        """
        store = self._view.store
        upkeep = Maintenance(
            _readable=store,
            _changeable=lambda: store,
            _dynamic_options=self._view.dynamic_options,
        )
        retention = upkeep.snapshot_retention(
            retain_min=retain_min, retain_max=retain_max, older_than=older_than, limit=limit
        )
        given = {"retain_min": retain_min, "retain_max": retain_max, "limit": limit}
        age = older_than if older_than is None else str(older_than)
        if isinstance(older_than, timedelta):
            age = duration_text(older_than // timedelta(milliseconds=1))
        name = f"{self._view.expression}.what_if.expire_snapshots"
        code = Code(python=call_code(name, **given, older_than=age))
        return expiry_preview(Inspector(self._view), retention, code)

    def expire_partitions(
        self,
        older_than: Duration | None = None,
        *,
        options: Mapping[str, OptionValue] | None = None,
    ) -> PartitionExpiryPreview:
        """Preview `Maintenance.expire_partitions`: the time of each partition, and which ones go.

        Args:
            older_than: the age, such as `30 d`; None for the option `partition.expiration-time`.
            options: options to try, such as `{"partition.timestamp-formatter": "yyyyMMdd"}`.

        Raises:
            InvalidInputError: no age is given, or the table is not partitioned.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.orders")
        >>> t.what_if.expire_partitions("30000 d").expiring
        ()
        """
        age = optional_duration("older_than", older_than)
        return partition_expiry_preview(self._view, age, option_texts(options))

    def options(self, options: Mapping[str, OptionValue | None]) -> OptionsPreview:
        """Preview `Table.set_options`: which options are accepted, and what they change.

        Args:
            options: new values by key; None resets an option to its default.

        Raises:
            InvalidInputError: a value is neither a str, a number, a bool nor None.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.orders")
        >>> found = t.what_if.options({"merge-engine": "first-row"})
        >>> found.accepted, found.changes[0].verdict.value
        (False, 'refused')
        """
        given = mapping("options", options, hint="Pass option values by key: {'bucket': 2}.")
        kept = option_texts({k: v for k, v in options.items() if v is not None})
        texts = {key: kept.get(key) for key in given}
        return options_preview(self._view, texts)


def _specs(partitions: Specs) -> list[Mapping[str, object]]:
    """The partitions of an argument; a single one may stand alone."""
    given = [partitions] if isinstance(partitions, Mapping) else list(partitions)
    return [mapping("A partition", spec) for spec in given]
