"""One contender in a process of its own: requests and answers are a line of JSON each.

Runs in any environment that has the contender: nothing but the standard library is imported here.
"""

import gc
import importlib
import json
import os
import statistics
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

_MIB = 1 << 20


def _status_mib(key: str) -> float:
    """A line of Linux's `/proc/self/status`; 0 elsewhere."""
    try:
        with open("/proc/self/status", encoding="ascii") as lines:  # noqa: PTH123 - quick start
            found = next((line for line in lines if line.startswith(key)), "x 0")
    except OSError:
        return 0.0
    return int(found.split()[1]) / 1024


def _forget_peak() -> None:
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:  # noqa: PTH123 - quick start
            file.write("5")
    except OSError:
        return


def measured(run: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
    """Times and memory of a run, and what it returned."""
    gc.collect()
    _forget_peak()
    before = _status_mib("VmRSS")
    cpu, wall = time.process_time(), time.perf_counter()
    found = dict(run())
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = _status_mib("VmHWM")
    figures = found.pop("figures", {})
    return {
        "wall_s": wall,
        "cpu_s": cpu,
        "added_mib": peak - before,
        "peak_mib": peak,
        "figures": figures,
        "check": found,
    }


def answer(contender: ModuleType, warehouse: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """Do what a request asks; an error becomes part of the answer."""
    name, parameters = request["operation"], dict(request["parameters"])
    try:
        prepare = getattr(contender, f"prepare_{name}", None)
        if prepare is not None:
            parameters["prepared"] = prepare(warehouse, **parameters)
        shared = _SHARED.get(name)
        if shared is not None:
            return measured(lambda: shared(contender, warehouse, **parameters))
        operation = getattr(contender, name)
        found = measured(lambda: operation(warehouse, **parameters))
        check = getattr(contender, f"check_{name}", None)
        return found if check is None else {**found, "check": check(**found["check"])}
    except Exception as error:  # noqa: BLE001 - whatever it is, the runner is told
        traceback.print_exc()
        return {"error": f"{type(error).__name__}: {error}"[:300]}


def commit_series(
    contender: ModuleType, warehouse: str, table: str, count: int, first: int = 0
) -> dict[str, Any]:
    """Commits of one row each, timed one by one; what fails is counted."""
    commit = contender.one_row_commits(warehouse, table)
    cpu: list[float] = []
    wall: list[float] = []
    errors: list[str] = []
    for number in range(first, first + count):
        cpu_before, before = time.process_time(), time.perf_counter()
        try:
            commit(number)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told
            errors.append(f"{type(error).__name__}: {error}"[:200])
            continue
        cpu.append(1000 * (time.process_time() - cpu_before))
        wall.append(1000 * (time.perf_counter() - before))
    some = min(_SOME, max(1, count // 3))
    early, late = statistics.median(cpu[1 : 1 + some]), statistics.median(cpu[-some:])
    figures = {
        "cpu_ms_first": early,
        "cpu_ms_last": late,
        "last_per_first": late / early,
        "wall_ms_last": statistics.median(wall[-some:]),
        "raised": len(errors),
    }
    sys.stderr.writelines(f"{text}\n" for text in sorted(set(errors)))
    return {"done": len(cpu), "figures": figures}


_SOME = 50


def commit_race(
    contender: ModuleType, warehouse: str, table: str, processes: int, each: int
) -> dict[str, Any]:
    """Several processes commit at the same time."""
    name = contender.__name__.rpartition(".")[2]
    command = [sys.executable, "-m", "benchmarks.child", name, warehouse]
    runners = [
        subprocess.Popen(  # noqa: S603 - this very program
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
        )
        for _ in range(processes)
    ]
    for runner in runners:
        assert runner.stdout is not None
        runner.stdout.readline()
    began = time.perf_counter()
    for place, runner in enumerate(runners):
        assert runner.stdin is not None
        parameters = {"table": table, "count": each, "first": place * each}
        request = {"operation": "commit_series", "parameters": parameters}
        runner.stdin.write(json.dumps(request) + "\n")
        runner.stdin.close()
    answers = [_last_answer(runner) for runner in runners]
    seconds = time.perf_counter() - began
    done = sum(answer["check"]["done"] for answer in answers)
    raised = sum(answer["figures"]["raised"] for answer in answers)
    return {"figures": {"done": done, "raised": raised, "seconds": seconds}}


def _last_answer(runner: "subprocess.Popen[str]") -> dict[str, Any]:
    assert runner.stdout is not None
    line = runner.stdout.readline()
    runner.wait()
    runner.stdout.close()
    found: dict[str, Any] = json.loads(line)
    if "error" in found:
        raise RuntimeError(found["error"])
    return found


_SHARED: Mapping[str, Callable[..., dict[str, Any]]] = {
    "commit_series": commit_series,
    "commit_race": commit_race,
}
"""Operations that need only a contender's `one_row_commits`."""


def first_answer(name: str, warehouse: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """The one request of a process whose start counts: CPU since the interpreter began."""
    contender = importlib.import_module(f"benchmarks.contenders.{name}")
    check = getattr(contender, request["operation"])(warehouse, **request["parameters"])
    return {
        "cpu_s": time.process_time(),
        "peak_mib": _status_mib("VmHWM"),
        "figures": {"modules": len(sys.modules)},
        "check": dict(check),
    }


def main() -> None:
    """Answer until the input ends."""
    name, warehouse = sys.argv[1:3]
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print must not get among the answers

    def reply(value: Mapping[str, Any]) -> None:
        print(json.dumps(value, default=str), file=replies, flush=True)

    if len(sys.argv) > 3:
        reply(first_answer(name, warehouse, json.loads(sys.argv[3])))
        return
    contender = importlib.import_module(f"benchmarks.contenders.{name}")
    operations = [key for key, value in vars(contender).items() if callable(value)]
    if "one_row_commits" in operations:
        operations += _SHARED
    reply({"operations": operations, "versions": contender.versions()})
    for line in sys.stdin:
        reply(answer(contender, warehouse, json.loads(line)))


if __name__ == "__main__":
    main()
