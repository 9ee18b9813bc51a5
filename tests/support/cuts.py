"""What must be true of a table after something was cut off."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from paimon_explore import Table
from paimon_explore.maintenance.expiry.reachable_files import TableFiles, roots_of
from support.acts import IDENTIFIER, LATER, USER
from support.faulty_file_io import Fault
from support.table_model import Counted, found_in

Readings = Mapping[str, Counted]


def cuts_of(log: Sequence[str]) -> list[tuple[int, Fault]]:
    """Each operation fails before; those that change something also after, and by a crash."""
    found = []
    for step, operation in enumerate(log, 1):
        is_read = operation.split()[0] in ("read", "open", "status", "exists", "list", "walk")
        found += [(step, fault) for fault in ([Fault.BEFORE] if is_read else Fault)]
    return found


def rows_of(table: Table) -> Counted:
    """What reading the table gives."""
    return found_in(table.to_arrow().to_pylist())


def readings(table: Table) -> Readings:
    """What reading each snapshot and tag gives."""
    views = {f"snapshot {i}": table.at(snapshot=i) for i in table._store.snapshots.ids()}
    views |= {f"tag {name}": table.at(tag=name) for name in table._store.tags.names()}
    return {name: rows_of(view) for name, view in views.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What an act does when nothing goes wrong.

    Attributes:
        before: what the snapshots and tags referenced.
        after: what they hold behind it.
        states: what a reader may see of the table in between.
        branches: the branches behind it.
        last: the rows behind it.
    """

    before: Readings
    after: Readings
    states: tuple[Counted, ...]
    branches: tuple[str, ...]
    last: Counted

    @property
    def kept(self) -> Readings:
        """What must read at any time."""
        return {name: rows for name, rows in self.before.items() if self.after.get(name) == rows}


def outcome(before: tuple[Counted, Readings], table: Table, *, commits: bool) -> Outcome:
    """The outcome of an act.

    Args:
        before: rows of the table, and of its snapshots and tags, before the act.
        table: behind the act.
        commits: whether readers see nothing but what was and what is committed.
    """
    rows, old = before
    new = readings(table)
    fresh = [found for name, found in new.items() if name not in old]
    last = rows_of(table)
    others = [] if commits else [*old.values(), *new.values(), last]  # also of another schema
    return Outcome(
        before=old,
        after=new,
        states=(rows, *fresh, *others),
        branches=tuple(table._store.branches.names()),
        last=last,
    )


def check_cut(table: Table, expected: Outcome, *, commits: bool) -> Counted:
    """Readers see one of the states, which is returned, and whatever is to stay is there.

    A commit has nothing to do with older snapshots, so that only one of them is read behind it.
    """
    found = rows_of(table)
    assert found in expected.states
    kept = list(expected.kept.items())
    for name, rows in kept[:1] if commits else kept:
        kind, _, key = name.partition(" ")
        view = table.at(snapshot=int(key)) if kind == "snapshot" else table.at(tag=key)
        assert rows_of(view) == rows, name
    return found


def check_finished(table: Table, expected: Outcome) -> None:
    """It was done again: all is as if nothing had happened, but for orphans."""
    assert tuple(table._store.branches.names()) == expected.branches
    own = [s for s in table._store.snapshots.list() if s.commit_user == USER]
    kinds = [s.commit_kind for s in own if s.commit_identifier == IDENTIFIER]
    assert len(kinds) == len(set(kinds)), "committed twice"
    table.maintenance.remove_orphan_files(older_than=LATER, dry_run=False)
    assert unaccounted(table) == []
    assert table.maintenance.fsck(cross_check_records=0) == []
    assert rows_of(table) == expected.last
    if own:
        return
    for name, rows in readings(table).items():
        assert rows in (expected.after.get(name, rows), expected.before.get(name, rows)), name


_NAMED = ("schema", "snapshot", "tag", "consumer", "changelog")


def unaccounted(table: Table) -> list[str]:
    """Files that nothing of the table refers to."""
    options = table.options
    referenced = (
        TableFiles(store=table._store, options=options)
        .referenced_by(roots_of(table._store, options))
        .all
    )
    root = f"{table.path}/"
    return sorted(_unknown(table, root, referenced))


def _unknown(table: Table, root: str, referenced: frozenset[str]) -> Iterable[str]:
    for status in table._store.file_io.walk(table.path):
        folders = status.path.removeprefix(root).split("/")[:-1]
        if folders[:1] == ["branch"]:
            folders = folders[2:]
        is_named = folders in [[name] for name in _NAMED] and not status.name.startswith(".")
        if not is_named and status.path not in referenced:
            yield status.path
