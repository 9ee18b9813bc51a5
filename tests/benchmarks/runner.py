"""Runs cases: one child per contender, round by round, all contenders in turn."""

import json
import os
import platform
import select
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.case import Answer, Case, Parameters

TESTS = Path(__file__).resolve().parents[1]
_PEERS = "PAIMON_EXPLORE_PEERS"
_PEER_ENVIRONMENT = TESTS.parent / ".venv-peers" / "bin" / "python"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """How to run.

    Attributes:
        warehouse: folder of the tables.
        rounds: runs that count, besides the first.
        contenders: the only ones to run; None for all.
        pythons: interpreter by contender; ours is this one, the peers' that of their environment.
        timeout_s: for one run.
    """

    warehouse: str
    rounds: int = 5
    contenders: frozenset[str] | None = None
    pythons: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = 300

    def python(self, contender: str) -> str:
        """The interpreter of a contender."""
        told = self.pythons.get(contender)
        if told is not None or contender in ("ours", "limit", "fastavro"):
            return told or sys.executable
        known = Path(os.environ.get(_PEERS) or _PEER_ENVIRONMENT)
        return str(known) if known.exists() else sys.executable


class Child:
    """A process that does what one contender can."""

    def __init__(self, contender: str, setting: Setting) -> None:
        self.contender = contender
        self._timeout_s = setting.timeout_s
        self._process = _started(contender, setting, [])
        self.hello = self._answer()

    def ask(self, operation: str, parameters: Parameters) -> Answer:
        """Run an operation; what goes wrong is in the answer."""
        assert self._process.stdin is not None
        request = json.dumps({"operation": operation, "parameters": parameters})
        try:
            self._process.stdin.write(request + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return {"error": f"ended with {self._process.wait()}"}
        return self._answer()

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    def _answer(self) -> Answer:
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], self._timeout_s)
        if not ready:
            self._process.kill()
            return {"error": f"longer than {self._timeout_s:.0f} s"}
        return _parsed(self._process.stdout.readline(), self._process)


def _started(contender: str, setting: Setting, more: Sequence[str]) -> "subprocess.Popen[str]":
    environment = {**os.environ, "PYTHONPATH": f"{TESTS.parent}{os.pathsep}{TESTS}"}
    command = [setting.python(contender), "-m", "benchmarks.child", contender, setting.warehouse]
    return subprocess.Popen(  # noqa: S603 - interpreters that the user chose
        [*command, *more],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=None if os.environ.get("BENCHMARKS_VERBOSE") else subprocess.DEVNULL,
        encoding="utf-8",
        env=environment,
    )


def _parsed(line: str, process: "subprocess.Popen[str]") -> Answer:
    if not line:
        return {"error": f"ended with {process.wait()}"}
    found: Answer = json.loads(line)
    return found


def run_all(cases: Iterable[Case], setting: Setting) -> Iterator[tuple[Case, Answer]]:
    """The result of each case as soon as it is there."""
    for case in cases:
        names = [c for c in case.contenders if not setting.contenders or c in setting.contenders]
        if names:
            yield case, (_fresh if case.fresh else _kept)(case, names, setting)


def _kept(case: Case, names: Sequence[str], setting: Setting) -> Answer:
    """Children live as long as the case."""
    with ExitStack() as stack:
        children: dict[str, Child] = {}
        versions: dict[str, Mapping[str, str]] = {}
        answers: dict[str, list[Answer]] = {name: [] for name in names}
        for name in names:
            child = Child(name, setting)
            stack.callback(child.close)
            if "error" in child.hello:
                answers[name].append(child.hello)
                continue
            versions[name] = child.hello["versions"]
            if case.operation in child.hello["operations"]:
                children[name] = child
            else:
                del answers[name]
        for number in range(_rounds(case, setting) + 1):
            for name, child in children.items():
                if _goes_on(case, name, number, answers[name]):
                    answers[name].append(_run(case, child, setting, number))
    return _result(case, answers, versions)


def _goes_on(case: Case, name: str, number: int, before: Sequence[Answer]) -> bool:
    return not any("error" in answer for answer in before) and not (number and name in case.once)


def _run(case: Case, child: Child, setting: Setting, number: int) -> Answer:
    parameters = dict(case.parameters)
    table = f"{case.id.replace('-', '_')}_{child.contender}_{number}"
    if case.new_table is not None:
        case.new_table(setting.warehouse, table)
        parameters["table"] = table
    answer = child.ask(case.operation, parameters)
    if case.verify is not None and "error" not in answer:
        return case.verify(setting.warehouse, table, answer)
    return answer


def _fresh(case: Case, names: Sequence[str], setting: Setting) -> Answer:
    """A new process for every run."""
    answers: dict[str, list[Answer]] = {name: [] for name in names}
    for _ in range(_rounds(case, setting) + 1):
        for name in names:
            if not any("error" in answer for answer in answers[name]):
                answers[name].append(_cold(case, name, setting))
    return _result(case, answers, {})


def _cold(case: Case, name: str, setting: Setting) -> Answer:
    began = time.perf_counter()
    request = {"operation": case.operation, "parameters": case.parameters}
    process = _started(name, setting, [json.dumps(request)])
    try:
        output, _ = process.communicate(timeout=setting.timeout_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return {"error": f"longer than {setting.timeout_s:.0f} s"}
    return {"wall_s": time.perf_counter() - began, "added_mib": 0.0, **_parsed(output, process)}


def _rounds(case: Case, setting: Setting) -> int:
    return setting.rounds if case.rounds is None else min(case.rounds, setting.rounds)


def _result(
    case: Case, answers: Mapping[str, Sequence[Answer]], versions: Mapping[str, Mapping[str, str]]
) -> Answer:
    rows = [_row(name, found, name in case.once) for name, found in answers.items() if found]
    checks = [row["check"] for row in rows if "check" in row and row["contender"] != "limit"]
    return {
        "title": case.title,
        "units": case.units,
        "unit": case.unit,
        "goals": [_goal(case, index, rows) for index in range(len(case.goals))],
        "agree": all(check == checks[0] for check in checks),
        "versions": versions,
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "rows": rows,
    }


def _row(name: str, found: Sequence[Answer], is_once: bool) -> Answer:  # noqa: FBT001 - private
    failed = next((answer["error"] for answer in found if "error" in answer), None)
    if failed is not None:
        return {"contender": name, "error": failed}
    counted = found if is_once or len(found) == 1 else found[1:]
    figures = counted[-1]["figures"]
    return {
        "contender": name,
        "rounds": len(counted),
        "cpu_s": statistics.median(answer["cpu_s"] for answer in counted),
        "wall_s": min(answer["wall_s"] for answer in counted),
        "added_mib": found[0]["added_mib"],
        "peak_mib": found[0]["peak_mib"],
        "figures": {
            key: statistics.median(answer["figures"][key] for answer in counted) for key in figures
        },
        "check": counted[-1]["check"],
    }


def _goal(case: Case, index: int, rows: Sequence[Answer]) -> Answer:
    goal = case.goals[index]
    by_name = {row["contender"]: row for row in rows if "error" not in row}
    ours, peer = by_name.get("ours"), by_name.get(goal.peer)
    value: float | None = None
    if ours is not None:
        match goal.measure.name:
            case "CPU":
                value = peer["cpu_s"] / ours["cpu_s"] if peer is not None else None
            case "PEAK":
                value = ours["added_mib"]
            case _:
                value = ours["figures"].get(goal.figure)
    return {
        "text": goal.text,
        "measure": goal.measure.name,
        "value": value,
        "met": None if value is None else goal.is_met(value),
    }
