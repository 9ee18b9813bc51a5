"""Five processes on one table for a long time: `python -m tests.soak --commits 100000`.

A writer, a reader of the stream of changes, compaction, expiry and the explorer share a table on
the object store of the tests, which fails 2 % of the requests; the writer is killed and started
again now and then. At 10, 50 and 100 % of the commits the memory, threads and open files of each
process are measured, and the snapshots and files of the table counted. The command fails if one of
them grows on, if a process ends, or if the rows of the stream are not those of the table.
"""

import argparse
import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Self

_TESTS = Path(__file__).resolve().parents[1]
sys.path[:1] = [str(_TESTS), str(_TESTS.parent)]

import paimon_explore as pe  # noqa: E402 - found only now
from paimon_explore.errors import PaimonError  # noqa: E402 - found only now

TABLE = "db.t"
KEYS, KEPT = 300, 40
"""Distinct primary keys, and snapshots that expiry keeps."""
SHARE = 0.02
"""Of the requests fail."""
AFTER = (0.1, 0.5, 1.0)
"""Shares of the commits after which is measured."""
ORPHANS_EVERY, ORPHANS_AGE = 1000, timedelta(minutes=5)
"""Commits between two removals of orphan files, and how old these are."""
_PATIENCE_S = 300
_OPTIONS = {
    "bucket": "2",
    "write-only": "true",
    "commit.max-retries": "1000",
    "commit.max-retry-wait": "200 ms",
}


@dataclass(frozen=True, slots=True)
class Job:
    """What a process knows.

    Attributes:
        folder: where the processes tell each other how far they are.
        location: of the warehouse.
        storage: options of it.
        commits: how many the writer makes.
    """

    folder: Path
    location: str
    storage: Mapping[str, str]
    commits: int

    def table(self) -> pe.Table:
        """Open the table."""
        return pe.Catalog(self.location, dict(self.storage)).table(TABLE)

    @property
    def written(self) -> int:
        """How many commits were reported as done."""
        path = self.folder / "written"
        return int(path.read_text(encoding="utf-8")) if path.exists() else 0

    @property
    def is_over(self) -> bool:
        """Whether the writer has made all commits."""
        return self.written >= self.commits


def write(job: Job) -> None:
    """Upsert keys in turn, and delete some; a commit that failed is made again."""
    table = job.table()
    for number in range(job.written, job.commits):
        kind = "-D" if number % 7 == 0 else "+U"
        ids = (number % KEYS, number * 31 % KEYS)
        rows = [{"id": i, "n": number, "_ROW_KIND": kind} for i in sorted(set(ids))]
        while True:
            with _counted(job, "writer") as attempt:
                table.upsert(rows)
            if attempt.succeeded:
                break
        new = job.folder / "written.new"
        new.write_text(str(number + 1), encoding="utf-8")
        new.replace(job.folder / "written")


def read(job: Job) -> None:
    """Apply the changes to a dictionary, which is told at the end."""
    rows: dict[int, int] = {}
    while True:
        is_last = job.is_over
        with _counted(job, "reader") as attempt:
            for batch in job.table().follow("earliest", consumer="soak", poll=0.2, timeout=3):
                for row in batch.rows.to_pylist():
                    if row["rowkind"] in ("+I", "+U"):
                        rows[row["id"]] = row["n"]
                    else:
                        rows.pop(row["id"], None)
        if is_last and attempt.succeeded:
            break
    (job.folder / "read").write_text(json.dumps(sorted(rows.items())), encoding="utf-8")


def compact(job: Job) -> None:
    """Compact all the time."""
    table = job.table()
    _until_over(job, "compaction", table.compact, 1.0)


def expire(job: Job) -> None:
    """Remove snapshots, and now and then what the killed writers left."""
    table = job.table()
    cleaned = 0

    def once() -> None:
        nonlocal cleaned
        table.maintenance.expire_snapshots(retain_min=10, retain_max=KEPT)
        if job.written >= cleaned + ORPHANS_EVERY:
            cleaned = job.written
            table.maintenance.remove_orphan_files(older_than=ORPHANS_AGE, dry_run=False)

    _until_over(job, "expiry", once, 1.0)


def look(job: Job) -> None:
    """Follow the table as the page of the explorer does."""
    widget = job.table().explore(live=0.5)

    def once() -> None:
        widget.poll()
        widget.files()
        widget.result()
        widget.state()

    _until_over(job, "explorer", once, 0.5)


ROLES: Mapping[str, Callable[[Job], None]] = {
    "writer": write,
    "reader": read,
    "compaction": compact,
    "expiry": expire,
    "explorer": look,
}


class _counted:  # noqa: N801 - used as a function
    """Count an error of ours instead of raising it."""

    def __init__(self, job: Job, role: str) -> None:
        self.succeeded = False
        self._path = job.folder / f"{role}.errors"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> bool:
        self.succeeded = error is None
        if isinstance(error, PaimonError):
            with self._path.open("a", encoding="utf-8") as told:
                told.write(f"{type(error).__name__}: {str(error)[:300]!r}\n")
            return True
        return False


def _until_over(job: Job, role: str, once: Callable[[], object], pause: float) -> None:
    while not job.is_over:
        with _counted(job, role):
            once()
        time.sleep(pause)


@dataclass(frozen=True, slots=True)
class Usage:
    """What a process has."""

    rss_mb: int
    threads: int
    files: int


def usage(pid: int) -> Usage:
    """Measure a process."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    told = dict(line.split(":", 1) for line in lines)
    rss_kb, threads = (int(told[name].split()[0]) for name in ("VmRSS", "Threads"))
    return Usage(rss_kb >> 10, threads, len(os.listdir(f"/proc/{pid}/fd")))  # noqa: PTH208 - of a process


@dataclass(frozen=True, slots=True)
class Measure:
    """The state after a share of the commits."""

    commits: int
    processes: Mapping[str, Usage]
    snapshots: int
    files: int

    def __str__(self) -> str:
        found = [f"{self.commits} commits: {self.snapshots} snapshots, {self.files} files"]
        for role, one in self.processes.items():
            found.append(f"  {role}: {one.rss_mb} MB, {one.threads} threads, {one.files} files")
        return "\n".join(found)


class Soak:
    """The processes of a run, and what became of them."""

    def __init__(self, job: Job, direct: Mapping[str, str], kill_every: int) -> None:
        self._job = job
        self._table = pe.Catalog(job.location, dict(direct)).table(TABLE)
        self._kill_every = kill_every
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.kills = 0

    def start(self, role: str) -> None:
        """Start a process."""
        job = self._job
        told = [str(job.folder), job.location, json.dumps(dict(job.storage)), str(job.commits)]
        command = [sys.executable, str(Path(__file__)), "--role", role, *told]
        with (job.folder / f"{role}.log").open("ab") as log:
            self.processes[role] = subprocess.Popen(command, stderr=log)  # noqa: S603 - this module

    def run(self, each: Callable[[], None]) -> list[Measure]:
        """Let the processes work, and kill the writer; `each` is called all the time."""
        found: list[Measure] = []
        pending = [int(self._job.commits * share) for share in AFTER]
        next_kill = self._kill_every
        while pending:
            each()
            written = self._job.written
            if written >= pending[0]:
                found.append(self.measure(written))
                print(found[-1], flush=True)  # noqa: T201 - the report
                pending.pop(0)
            elif written >= next_kill:
                next_kill += self._kill_every
                self.processes["writer"].send_signal(signal.SIGKILL)
                self.processes["writer"].wait()
                self.kills += 1
                self.start("writer")
            for role, process in self.processes.items():
                if process.poll() and not self._job.is_over:
                    log = (self._job.folder / f"{role}.log").read_text(encoding="utf-8")
                    raise AssertionError(f"{role} ended: {log[-3000:]}")
            time.sleep(0.05)
        return found

    def measure(self, written: int) -> Measure:
        """Measure all processes and the table."""
        measured = {}
        for role, process in self.processes.items():
            with suppress(OSError, KeyError):  # it may have ended
                measured[role] = usage(process.pid)
        store = self._table._store
        files = sum(1 for _ in store.file_io.walk(self._table.path))
        return Measure(written, measured, len(store.snapshots.ids()), files)

    def check_end(self) -> Measure:
        """Wait for the processes, and compare the stream with the table."""
        for role, process in self.processes.items():
            code = process.wait(_PATIENCE_S)
            log = (self._job.folder / f"{role}.log").read_text(encoding="utf-8")
            assert code == 0, f"{role}: {log[-3000:]}"
        read_rows = json.loads((self._job.folder / "read").read_text(encoding="utf-8"))
        rows = self._table.to_arrow().select(["id", "n"]).to_pylist()
        assert sorted([row["id"], row["n"]] for row in rows) == read_rows, "the stream differs"
        found = self._table.maintenance.fsck(read_rows=True)
        assert not found, found
        self._table.maintenance.expire_snapshots(
            retain_min=1, retain_max=KEPT, limit=self._job.commits
        )
        return self.measure(self._job.written)


def growth(found: list[Measure]) -> list[str]:
    """What grew on after half of the commits; caches and pools of threads are full by then."""
    problems = []
    _, middle, last = found
    for role, one in last.processes.items():
        before = middle.processes[role]
        if role != "writer" and one.rss_mb > 1.2 * before.rss_mb + 20:
            problems.append(f"memory of {role}")
        if one.threads > before.threads + 10:
            problems.append(f"threads of {role}")
        if one.files > before.files + 10:
            problems.append(f"open files of {role}")
    return problems


def main() -> None:
    """Run all, or one process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commits", type=int, default=100_000)
    parser.add_argument("--kill-every", type=int, default=500, help="commits of one writer")
    parser.add_argument("--role", nargs=5, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.role:
        role, folder, location, storage, commits = asked.role
        ROLES[role](Job(Path(folder), location, json.loads(storage), int(commits)))
        return
    from support.s3 import s3_place  # noqa: PLC0415 - of the parent alone
    from support.s3_faults import s3_faults  # noqa: PLC0415 - of the parent alone

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    begin = time.monotonic()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        place = stack.enter_context(s3_place("soak"))
        faulty = stack.enter_context(s3_faults(place, rate=SHARE))
        catalog = pe.Catalog(place.location, dict(place.options))
        catalog.create_database("db")
        catalog.create_table(
            TABLE, {"id": "BIGINT", "n": "BIGINT"}, primary_key="id", options=_OPTIONS
        )
        soak = Soak(
            Job(folder, faulty.location, faulty.options, asked.commits),
            place.options,
            asked.kill_every,
        )

        def forget_requests() -> None:
            place.requests.clear()
            faulty.log.clear()

        try:
            for role in ROLES:
                soak.start(role)
            found = soak.run(forget_requests)
            end = soak.check_end()
        finally:
            for process in soak.processes.values():
                process.kill()
        requests, faults = faulty.requests.total(), faulty.faults.total()
        errors = {
            path.stem: Counter(line.split(":")[0] for line in path.read_text("utf-8").splitlines())
            for path in sorted(folder.glob("*.errors"))
        }
    seconds = time.monotonic() - begin
    print(f"at the end {end.snapshots} snapshots, {end.files} files; {soak.kills} kills")  # noqa: T201
    print(f"{requests} requests, {faults} faults, {seconds:.0f} s, errors: {errors}")  # noqa: T201
    problems = growth(found)
    assert not problems, f"grows on: {problems}"
    assert end.snapshots <= KEPT + 5, "expiry removes too little"


main()
