"""Acts that several jobs do to one table at once, and what each does to the keys of the table."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from paimon_explore import Table
from paimon_explore.errors import (
    CommitConflictError,
    MissingFileError,
    PaimonError,
)
from paimon_explore.metadata.options.effective_options import needs_lookup
from support.acts import LATER
from support.concurrent_kinds import ONE, TWO, Keys, Kind, Rows, row

Run = Callable[[Table, int], object]
Change = Callable[[Kind, Keys, int], Keys]
"""The keys after an act of a job, by the number of the job."""
Errors = tuple[type[PaimonError], ...]

SHARED, NEW = 1, 200
"""A key that is there from the beginning, and one that several jobs add."""


def unchanged(_: Kind, keys: Keys, __: int) -> Keys:
    return keys


@dataclass(frozen=True, slots=True, kw_only=True)
class ConcurrentAct:
    """Something that a job does to a table.

    Attributes:
        run: does it, as the job of a number.
        change: what it does to the keys.
        may_fail: how it may fail because of others; then it has done nothing.
        removes: whether it removes files that others may need.
        steps_back: whether others may see an old snapshot as the newest in the middle of it.
        reads: whether what it writes is made from rows of the table.
    """

    run: Run
    change: Change = unchanged
    may_fail: Errors = ()
    removes: bool = False
    steps_back: bool = False
    reads: bool = False


_WRITE_ONLY = {"write-only": "true"}
_EAGER = {"num-sorted-run.compaction-trigger": "2", "compaction.min.file-num": "2"}


def _new_rows(table: Table, number: int) -> Rows:
    """Rows of keys that all jobs write, and one of the job's own."""
    partition = TWO if table.schema.is_cross_partition and number else ONE
    value = 1000 * (number + 1)
    return [
        row(partition, SHARED, value),
        row(partition, NEW + 1 + number, value),
        row(partition, NEW, value),
    ]


def _new_keys(kind: Kind, keys: Keys, number: int) -> Keys:
    partition = TWO if kind.crosses and number else ONE
    return kind.grown(keys, Counter((partition, k) for k in (SHARED, NEW + 1 + number, NEW)))


def _write(table: Table, number: int) -> None:
    lazy = replace(table, _dynamic_options={**table._dynamic_options, **_WRITE_ONLY})
    lazy.append(_new_rows(table, number))


def _write_and_compact(table: Table, number: int) -> None:
    """A compaction that is due in any case takes level 0 alone, without the runs below."""
    options = {} if needs_lookup(table.options) else _EAGER
    replace(table, _dynamic_options=options).append(_new_rows(table, number))


def _compact_a_little(table: Table, _: int) -> None:
    replace(table, _dynamic_options=_EAGER).compact(full=False)


def _without(keep: Callable[[str, int], bool]) -> Change:
    return lambda _, keys, __: Counter({one: n for one, n in keys.items() if keep(*one)})


def _merge(table: Table, number: int) -> None:
    source = _new_rows(table, number)
    merge = table.merge(source, on="k")
    merge = merge.when_matched_update({"v": "target.v + source.v"})
    merge.when_not_matched_insert().execute()


def _merged(kind: Kind, keys: Keys, number: int) -> Keys:
    there = {k for _, k in keys}
    partition = TWO if kind.crosses and number else ONE
    new = (k for k in (SHARED, NEW + 1 + number, NEW) if k not in there)
    return keys + Counter((partition, k) for k in new)


def _overwrite(table: Table, number: int) -> None:
    rows = [row(ONE, k, 7000 + number) for k in (SHARED, NEW, NEW + 11 + number)]
    if table.schema.is_cross_partition:
        whole = {"dynamic-partition-overwrite": "false"}
        replace(table, _dynamic_options=whole).overwrite(rows)
    else:
        table.overwrite(rows, {"p": ONE})


def _overwritten(kind: Kind, keys: Keys, number: int) -> Keys:
    new = Counter((ONE, k) for k in (SHARED, NEW, NEW + 11 + number))
    return new + Counter({one: n for one, n in keys.items() if one[0] != ONE and not kind.crosses})


def _sort(table: Table, _: int) -> None:
    table.compact(strategy="order", columns=["v"])


ACTS: Mapping[str, ConcurrentAct] = MappingProxyType(
    {
        "write": ConcurrentAct(run=_write, change=_new_keys),
        "write, compact behind": ConcurrentAct(run=_write_and_compact, change=_new_keys),
        "delete": ConcurrentAct(
            run=lambda table, _: table.delete("k < 3 and p = '2024-01-01'"),
            change=_without(lambda p, k: not (k < 3 and p == ONE)),
            reads=True,
        ),
        "update": ConcurrentAct(
            run=lambda table, number: table.update({"v": f"v + {number + 1}"}, "k in (1, 2, 200)"),
            reads=True,
        ),
        "merge": ConcurrentAct(run=_merge, change=_merged, reads=True),
        "overwrite": ConcurrentAct(run=_overwrite, change=_overwritten),
        "drop partition": ConcurrentAct(
            run=lambda table, _: table.drop_partitions({"p": ONE}),
            change=_without(lambda p, _: p != ONE),
        ),
        "compact": ConcurrentAct(run=lambda table, _: table.compact()),
        "compact a little": ConcurrentAct(run=_compact_a_little),
        "sort": ConcurrentAct(run=_sort),
        "add a column": ConcurrentAct(
            run=lambda table, number: table.add_column(f"x{number}", "INT")
        ),
        "tag": ConcurrentAct(run=lambda table, number: table.create_tag(f"t{number}")),
        "fast-forward": ConcurrentAct(
            run=lambda table, _: table.fast_forward("side"),
            change=lambda kind, _, __: kind.branched,
            may_fail=(CommitConflictError,),  # beside an expiry; it has changed nothing
            removes=True,
            steps_back=True,
        ),
        "roll back": ConcurrentAct(
            run=lambda table, _: table.rollback_to(tag="one"),
            change=lambda kind, _, __: kind.tagged,
            removes=True,
        ),
        "expire": ConcurrentAct(
            run=lambda table, _: table.maintenance.expire_snapshots(retain_max=1, older_than=LATER),
            removes=True,
        ),
        "remove orphans": ConcurrentAct(
            run=lambda table, _: table.maintenance.remove_orphan_files(dry_run=False),
            may_fail=(MissingFileError,),  # in the middle of an expiry; it has removed nothing
            removes=True,
        ),
    }
)
"""The acts by name."""


def takes(kind: Kind, act: str) -> bool:
    """Whether a kind of table takes an act, written out."""
    if act == "sort":
        return not kind.keyed and not kind.refuses_sort
    if act == "delete":
        return kind.engine == "deduplicate" and "data-evolution.enabled" not in kind.options
    if act in ("update", "merge"):
        return kind.engine in ("deduplicate", "partial-update")
    return True
