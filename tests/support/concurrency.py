"""Acts on one table, interleaved operation by operation: it is as if one came after another.

A run is right if there is an order of the acts that were reported as done, in which an act that
ended before another began comes first, such that doing them one after the other gives the same
table: rows, tags, columns. Acts that failed have done nothing. Besides, the keys are those that the
acts say, worked out without the library.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import permutations
from uuid import uuid4

from paimon_explore import Table
from paimon_explore.errors import PaimonError
from paimon_explore.fileio.memory import MemoryFileIO
from paimon_explore.store.table_store import TableStore
from support.concurrent_acts import ACTS, ConcurrentAct
from support.concurrent_kinds import KINDS, Keys, Kind
from support.cuts import unaccounted
from support.memory_files import copied_files, forget_files
from support.paused_file_io import PausedFileIO
from support.schedules import Pick, Schedule
from support.table_model import Counted, found_in

Order = tuple[int, ...]
"""Jobs by number, one after the other."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What can be seen of a table.

    Attributes:
        rows: those that readers see.
        all_rows: and those that a compaction makes visible.
        tags: rows of each tag.
        columns: of the newest schema.
    """

    rows: Counted
    all_rows: Counted
    tags: Mapping[str, Counted]
    columns: tuple[str, ...]


def rows_of(table: Table) -> Counted:
    """What a read gives."""
    return found_in(table.to_arrow().to_pylist())


def keys_in(rows: Counted) -> Keys:
    """Partition and key of rows."""
    found: Keys = Counter()
    for cells, count in rows.items():
        named = dict(cells)
        found[str(named["p"]), int(str(named["k"]))] += count
    return found


@dataclass(slots=True)
class Arena:
    """A table of a kind, and the acts that are done to copies of it.

    Attributes:
        kind: the kind.
        acts: what each job does.
    """

    kind: Kind
    acts: tuple[ConcurrentAct, ...]
    _files: MemoryFileIO
    _table: Table
    _known: dict[Order, Seen | None] = field(default_factory=dict)

    @classmethod
    def of(cls, kind: str, acts: Sequence[str]) -> "Arena":
        """The acts of some names on a table of a kind."""
        files, table = _made(kind)
        return cls(KINDS[kind], tuple(ACTS[name] for name in acts), files, table)

    def lengths(self) -> list[list[str]]:
        """The operations of each act when it is alone."""
        return [self._alone(number) for number in range(len(self.acts))]

    def _alone(self, number: int) -> list[str]:
        files = copied_files(self._files)
        log: list[str] = []
        self.acts[number].run(self._on(PausedFileIO(files, log.append)), number)
        forget_files(files.name)
        return log

    def _on(self, file_io: PausedFileIO | MemoryFileIO) -> Table:
        return replace(self._table, _store=TableStore(file_io, self._table._store.paths))

    def run(self, pick: Pick) -> Schedule:
        """One interleaving, checked."""
        files = copied_files(self._files)

        def actor(number: int) -> Callable[[Callable[[str], None]], None]:
            def act(wait: Callable[[str], None]) -> None:
                self.acts[number].run(self._on(PausedFileIO(files, wait)), number)

            return act

        schedule = Schedule([actor(number) for number in range(len(self.acts))], pick)
        errors = schedule.run()
        try:
            self._check(files, schedule, errors)
        except BaseException as error:
            error.add_note("\n".join([f"errors: {errors!r}", *schedule.log]))
            raise
        finally:
            forget_files(files.name)
        return schedule

    def _check(
        self,
        files: MemoryFileIO,
        schedule: Schedule,
        errors: Sequence[BaseException | None],
    ) -> None:
        for act, error in zip(self.acts, errors, strict=True):
            if error is not None and not isinstance(error, act.may_fail):
                raise AssertionError(f"an act failed: {error!r}") from error
        done = [number for number, error in enumerate(errors) if error is None]
        orders = [order for order in permutations(done) if _in_time(order, schedule)]
        found = self._seen(files)
        if any(self._is_as(found, self._in_order(order)) for order in orders):
            return
        for order in orders:
            seen = self._in_order(order)
            if seen is not None:
                assert found == seen, f"not as in the order {order}"
        raise AssertionError("no order of the acts is possible")

    def _is_as(self, found: Seen, seen: Seen | None) -> bool:
        """Whether the table is as after some order of the acts.

        A compaction of one act may have made rows of another one visible.
        """
        if seen is None:
            return False
        if self._reads_in_between:
            return (found.tags, found.columns) == (seen.tags, seen.columns)
        return found in (seen, replace(seen, rows=seen.all_rows))

    def _in_order(self, order: Order) -> Seen | None:
        """The table after the acts one after the other; None if one of them then fails."""
        if order not in self._known:
            files = copied_files(self._files)
            self._known[order] = None
            try:
                for number in order:
                    self.acts[number].run(self._on(files), number)
            except PaimonError:
                return None
            seen = self._seen(files)
            keys = reduce(
                lambda k, n: self.acts[n].change(self.kind, k, n), order, self.kind.before
            )
            if not self._reads_postponed:
                assert keys_in(seen.all_rows) == keys, f"keys after {order}"
            self._known[order] = seen
            forget_files(files.name)
        return self._known[order]

    def _seen(self, files: MemoryFileIO) -> Seen:
        table = self._on(files)
        rows = rows_of(table)
        names = table._store.tags.names() if not self._steps_back else []
        tags = {name: rows_of(table.at(tag=name)) for name in names}
        schema = table._store.schemas.latest()
        assert schema is not None
        if not any(act.removes for act in self.acts):
            left = [path for path in unaccounted(table) if not path.endswith(".managed.blob")]
            assert left == [], "files are left over"
            self._forget_history(table)
        findings = table.maintenance.fsck(cross_check_records=0)
        assert findings == [], findings
        return Seen(
            rows=Counter() if self._reads_postponed else rows,
            all_rows=self._all_rows(table, rows),
            tags=tags,
            columns=tuple(column.name for column in schema.fields),
        )

    @property
    def _steps_back(self) -> bool:
        """Whether others may see, and tag, the first snapshot of a branch in the middle of an act.

        A fast-forward goes back to it before it takes over those that follow.
        """
        return any(act.steps_back for act in self.acts)

    @property
    def _reads_in_between(self) -> bool:
        """Whether an act may be made from rows that are there only in the middle of another act.

        A fast-forward is no single commit. What was made from the first snapshot of the branch is
        committed behind the later ones, as beside any other commits.
        """
        return self._steps_back and any(act.reads for act in self.acts)

    @property
    def _reads_postponed(self) -> bool:
        """Whether an act is made from rows of a table of which other rows are not seen yet.

        What it does to them depends on when they are compacted.
        """
        return self.kind.options.get("bucket") == "-2" and any(act.reads for act in self.acts)

    def _forget_history(self, table: Table) -> None:
        """Nothing has changed the oldest snapshots, the tag and the branch."""
        latest = self._table._store.snapshots.latest_id()
        assert latest is not None
        for number in range(1, latest):
            table._store.snapshots.delete(number)
        table._store.branches.delete("side")
        table._store.tags.delete("one")

    def _all_rows(self, table: Table, rows: Counted) -> Counted:
        options = self.kind.options
        if "first-row" in options.values() or options.get("bucket") == "-2":
            table.compact()
            return rows_of(table)
        if "deletion-vectors.enabled" in options and self.kind.keyed:
            merged = {"deletion-vectors.merge-on-read": "true"}
            return rows_of(replace(table, _dynamic_options=merged))
        return rows


def _in_time(order: Order, schedule: Schedule) -> bool:
    """Whether an order keeps those apart that did not overlap."""
    went = [choice for choice, _ in schedule.choices]
    first = {number: went.index(number) for number in order}
    last = {number: len(went) - went[::-1].index(number) for number in order}
    return not any(
        last[later] <= first[earlier]
        for place, earlier in enumerate(order)
        for later in order[place + 1 :]
    )


_TABLES: dict[str, tuple[MemoryFileIO, Table]] = {}


def _made(kind: str) -> tuple[MemoryFileIO, Table]:
    if kind not in _TABLES:
        files = MemoryFileIO(str(uuid4()))
        _TABLES[kind] = files, KINDS[kind].create(f"memory://{files.name}/wh")
    return _TABLES[kind]


def switching(*stays: tuple[int, int]) -> Pick:
    """Jobs go on for so many operations each, then all others to their end, in order of numbers."""
    plan = [job for job, count in stays for _ in range(count)]

    def pick(number: int, able: Sequence[int], before: int | None) -> int:
        if number < len(plan) and plan[number] in able:
            return plan[number]
        if number >= len(plan) and before in able and before is not None and number > len(plan):
            return before
        others = [job for job in able if job != before]
        return others[0] if number == len(plan) and others else able[0]

    return pick


def places(logs: Sequence[Sequence[str]], *, every: bool) -> list[list[int]]:
    """Before which operations of each job a switch may matter.

    Data, manifests and indexes never change; so it does not matter whether another job goes on
    before or after one of them is read or made, unless that job removes files.
    """
    return [
        [at for at, operation in enumerate(log) if every or _is_shared(operation)] for log in logs
    ]


def _is_shared(operation: str) -> bool:
    what, _, name = operation.partition(" ")
    is_marked = name.startswith(("snapshot", "schema", "tag", "LATEST", "EARLIEST", "branch"))
    return is_marked or what in ("list", "walk", "delete", "delete_folder", "replace")


def schedules(arena: Arena) -> Iterator[tuple[tuple[int, int], ...]]:
    """All ways to switch at most twice between two jobs where it may matter.

    The first goes on for a while, then the second, then the first to its end, then the second.
    """
    every = any(act.removes for act in arena.acts)
    logs = arena.lengths()
    found = places(logs, every=every)
    for first, second in ((0, 1), (1, 0)):
        for at in found[first]:
            yield ((first, at + 1), (second, len(logs[second]) * 9))
            for then in found[second][1:]:
                yield ((first, at + 1), (second, then + 1))
