"""Every operation of every act made to fail, before its effect, after it, and with a lost reply.

Whatever is cut off is wholly visible or wholly absent; readers never fail; what is to stay stays;
doing it again finishes it and adds nothing twice; and what is left over is taken by the removal of
orphan files. All operations are cut in the deep run, else one of so many.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import count
from uuid import uuid4

import pytest

from paimon_explore import Table
from paimon_explore.errors import PaimonError, StorageError
from paimon_explore.fileio.memory import MemoryFileIO
from support.acts import ACTS, Act
from support.cuts import (
    Outcome,
    Readings,
    check_cut,
    check_finished,
    cuts_of,
    outcome,
    readings,
    rows_of,
    unaccounted,
)
from support.depth import some
from support.faulty_file_io import CrashError, Fault, FaultyFileIO
from support.figures import Figures
from support.memory_files import copied_files, forget_files
from support.table_model import Counted
from support.through import through

STRIDE = 31
OFTEN_CUT = "insert, merging manifests"
"""The act of which every third operation is cut in every run."""
_TURN = count()


@dataclass(frozen=True)
class Original:
    """A table before an act, which stays as it is, and what reading it gives."""

    table: Table
    files: MemoryFileIO
    before: tuple[Counted, Readings]


@cache
def original(kind: str, options: tuple[tuple[str, str], ...], before: object) -> Original:
    """The table of the acts that want the same one."""
    act = next(act for act in ACTS.values() if wanted(act) == (kind, options, before))
    name = str(uuid4())
    table = act.table(f"memory://{name}/wh")
    return Original(table, MemoryFileIO(name), (rows_of(table), readings(table)))


def wanted(act: Act) -> tuple[str, tuple[tuple[str, str], ...], object]:
    """The table that an act wants: its kind, its options, what is done to it first."""
    return act.kind, tuple((act.options or {}).items()), act.before


class Scene:
    """A table before an act, and what the act makes of it."""

    def __init__(self, name: str) -> None:
        self.act: Act = ACTS[name]
        found = original(*wanted(self.act))
        self.table, self.files = found.table, found.files
        with self.copy() as files:
            sound = FaultyFileIO(files, reads_too=True)
            table = through(self.table, sound)
            self.act.run(table)
            self.log = list(sound.log)
            self.outcome: Outcome = outcome(found.before, table, commits=self.act.commits)

    @contextmanager
    def copy(self) -> Iterator[MemoryFileIO]:
        """The files before the act, to be thrown away."""
        files = copied_files(self.files)
        yield files
        forget_files(files.name)

    def cut(self, step: int, fault: Fault) -> None:
        """Do it with a fault, check, do it again, check."""
        with self.copy() as files:
            faulty = through(self.table, FaultyFileIO(files, step, fault, reads_too=True))
            sound = through(self.table, files)
            error: Exception | None = None
            try:
                self.act.run(faulty)
            except (PaimonError, CrashError) as raised:
                error = raised
            rows = check_cut(sound, self.outcome, commits=self.act.commits)
            if self.act.commits and error is None:
                assert rows == self.outcome.last, "reported, but absent"
            elif self.act.commits and isinstance(error, StorageError):
                assert rows == self.outcome.states[0], "failed, but visible"
                assert unaccounted(sound) == [], "failed, but files are left over"
            self.act.run(sound)
            check_finished(sound, self.outcome)


@pytest.mark.parametrize("name", ACTS)
def test_an_act_that_is_cut_off_is_done_or_not_and_can_be_finished(
    name: str, figures: Figures
) -> None:
    scene = Scene(name)
    cuts = cuts_of(scene.log)
    assert any(fault is not Fault.BEFORE for _, fault in cuts), "the act changes nothing"
    chosen = some(cuts, 3 if name == OFTEN_CUT else STRIDE, 7 * next(_TURN))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # upkeep that failed behind a commit
        for step, fault in chosen:
            try:
                scene.cut(step, fault)
            except Exception as error:
                error.add_note(f"{fault.value}: operation {step}, {scene.log[step - 1]}")
                raise
    figures.add("injected faults", len(chosen))
