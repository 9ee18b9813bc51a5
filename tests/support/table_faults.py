"""Acts of a state machine on whole tables that are cut off, and what must be left of the table."""

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial, wraps
from typing import Any

import hypothesis.strategies as st
from hypothesis.stateful import Rule

from paimon_explore import Table
from paimon_explore.errors import IcebergMetadataWarning, PaimonError
from paimon_explore.fileio import memory
from paimon_explore.fileio.memory import MemoryFileIO
from support.faulty_file_io import CrashError, Fault, FaultyFileIO
from support.table_machine import TableMachine
from support.table_model import Line, State, found_in
from support.through import through

_WHOLE = {
    *("tag_and_expire", "branch_and_expire", "branches_of_one_tag"),
    *("read", "read_by_sql", "read_changes", "find_the_first_change", "read_a_history"),
    *(
        "compare",
        "profile",
        "read_system_tables",
        "read_iceberg_metadata",
        "rename_table",
        "rescale",
    ),
}
"""Acts that are not cut off: those of several acts, and those that change nothing."""
_AGAIN = {
    *("rename_branch", "end_branch", "roll_back", "roll_back_to_tag", "create_branch"),
    *("expire_snapshots", "expire_changelogs", "expire_tags", "rename_tag", "delete_tag"),
}
"""Acts in several steps that are done again after they were cut off."""


@dataclass(frozen=True, slots=True)
class _Model:
    """What a table must hold, and how many names were given."""

    lines: dict[str, Line]
    made: int
    fleeting: set[str]
    leaves_orphans: bool


class FaultyTableMachine(TableMachine):
    """Everything that can be done to a table, and fails now and then."""

    faulty: FaultyFileIO | None = None
    is_interrupted = True

    def open(self, name: str, options: Mapping[str, str] | None = None) -> Table:
        table = super().open(name, options)
        return table if self.faulty is None else through(table, self.faulty)

    @classmethod
    def setup_state(cls) -> Any:  # noqa: ANN401 - hypothesis has no public name for it
        """Each act of one step also says at which of its changes it is cut off."""
        state = super().setup_state()
        rules = [rule if rule.function.__name__ in _WHOLE else _cut(rule) for rule in state.rules]
        return replace(state, rules=rules)

    def cut_off(self, run: partial[None], step: int, fault: Fault) -> None:
        """Do something in full, then, with the table as it was, with a fault."""
        files = memory._FILE_SETS[self.space]
        content, folders, before = dict(files.content), set(files.folders), self._model()
        run()
        whole = self._model()
        files.content, files.folders = content, folders
        self._become(before)
        if not self._is_cut(run, step, fault):
            return
        part = self._model()
        name = run.func.__name__
        self.count(f"cut off: {name}")
        if name in _AGAIN:
            self._become(before)
            self.leaves_orphans = True
            try:
                run()
            except (PaimonError, AssertionError):  # some of it, or all, was done
                pass
            else:
                self.count(f"done again: {name}")
                return
        self._become(before)
        self.leaves_orphans = True
        self.fleeting |= whole.fleeting
        self.made = max(self.made, whole.made)
        self.lines = self._found(before.lines, [whole.lines, part.lines, before.lines])

    def _is_cut(self, run: Callable[[], None], step: int, fault: Fault) -> bool:
        """Do something with a fault; whether it failed."""
        sound = self.table
        self.faulty = FaultyFileIO(MemoryFileIO(self.space), step, fault)
        self.table = through(sound, self.faulty)
        try:
            with warnings.catch_warnings():
                for kind in (RuntimeWarning, IcebergMetadataWarning):  # failed behind a commit
                    warnings.simplefilter("ignore", kind)
                run()
        except (PaimonError, CrashError, AssertionError):
            if len(self.faulty.log) < step:
                raise
            return True
        finally:
            has_failed = len(self.faulty.log) >= step
            self.faulty, self.table = None, sound
        self.leaves_orphans |= has_failed
        return False

    def _model(self) -> _Model:
        return _Model(_copied(self.lines), self.made, set(self.fleeting), self.leaves_orphans)

    def _become(self, model: _Model) -> None:
        self.lines, self.made = _copied(model.lines), model.made
        self.fleeting, self.leaves_orphans = set(model.fleeting), model.leaves_orphans

    def _found(self, before: Mapping[str, Line], models: list[dict[str, Line]]) -> dict[str, Line]:
        """The branches as they are now, of what one of some models says.

        What is in the first and the last model must be there.
        """
        names = ["main", *self.table._store.branches.names()]
        found = {}
        for name in names:
            if not self._is_whole(name):
                self.table.delete_branch(name)
                continue
            lines = [model[name] for model in models if name in model]
            assert lines, f"branch {name} is in no model"
            found[name] = self._found_line(name, lines)
        for name in before.keys() & models[0].keys():
            assert name in found, f"branch {name} was lost"
            for known, new, now in [
                (before[name].states, models[0][name].states, found[name].states),
                (before[name].logs, models[0][name].logs, found[name].logs),
            ]:
                for number in known.keys() & new.keys():
                    if known[number].serial == new[number].serial:
                        assert now[number].serial == known[number].serial, (name, number)
            old_tags, new_tags = before[name].tags, models[0][name].tags
            for tag in old_tags.keys() & new_tags.keys():
                if old_tags[tag] == new_tags[tag]:
                    assert found[name].tags[tag] == old_tags[tag], (name, tag)
        return found

    def _is_whole(self, name: str) -> bool:
        """Whether a branch has its schemas, which are the last that is created."""
        store = self.table._store.for_branch(name)
        latest = store.snapshots.latest()
        return bool(store.schemas.ids()) and (
            latest is None or latest.schema_id in store.schemas.ids()
        )

    def _found_line(self, name: str, lines: list[Line]) -> Line:
        table = self.open(name)
        store = table._store
        columns = tuple((field.name, field.id) for field in table.schema.fields)
        known = [line for line in lines if line.columns == columns]
        assert known, f"columns of {name} are {columns}"
        line = Line(columns=columns, highest=max(line.highest for line in known))
        for number in store.snapshots.ids():
            states = [line.states[number] for line in lines if number in line.states]
            line.states[number] = _matching(table.at(snapshot=number), states)
        for number in store.changelogs.ids():
            logs = [line.logs.get(number) or line.states.get(number) for line in lines]
            line.logs[number] = next(log for log in logs if log is not None)
        for tag in store.tags.names():
            tags = [line.tags[tag] for line in lines if tag in line.tags]
            number = store.tags.load(tag).snapshot.id
            states = [state for found, state in tags if found == number]
            line.tags[tag] = number, _matching(table.at(tag=tag), states)
        for consumer, at in store.consumers.list().items():
            if consumer == "s":
                table.maintenance.consumers.delete("s")
            else:
                line.consumers[consumer] = at.next_snapshot
        return line


def _cut(rule: Rule) -> Rule:
    act = rule.function

    @wraps(act)
    def run(self: FaultyTableMachine, *, step: int, fault: Fault, **arguments: object) -> None:
        self.cut_off(partial(act, self, **arguments), step, fault)

    more = {"step": st.integers(1, 8), "fault": st.sampled_from(Fault)}
    return replace(rule, function=run, arguments={**rule.arguments, **more})


def _matching(view: Table, states: Iterable[State]) -> State:
    rows = found_in(view.to_arrow().to_pylist())
    matching = [state for state in states if state.rows == rows]
    assert matching, f"{view} is none of what it may be: {rows}"
    return matching[0]


def _copied(lines: Mapping[str, Line]) -> dict[str, Line]:
    return {
        name: replace(
            line,
            states=dict(line.states),
            tags=dict(line.tags),
            logs=dict(line.logs),
            consumers=dict(line.consumers),
        )
        for name, line in lines.items()
    }
