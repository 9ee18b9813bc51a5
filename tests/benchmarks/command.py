"""The command: which cases to run, and where the results go."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.data.tables import ensure
from benchmarks.report import report
from benchmarks.runner import Setting, run_all
from benchmarks.workloads import GROUPS

RESULTS = Path(__file__).with_name("results.json")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, store, report; 1 if contenders disagree or ours fails."""
    asked = _parser().parse_args(arguments)
    stored = Path(asked.json)
    results = json.loads(stored.read_text(encoding="utf-8")) if stored.exists() else {}
    groups = asked.groups or list(GROUPS)
    cases = [case for name in groups for case in GROUPS[name] if asked.only in case.id]
    setting = Setting(
        warehouse=str(Path(asked.data).resolve()),
        rounds=asked.rounds,
        contenders=frozenset(asked.contenders.split(",")) if asked.contenders else None,
        pythons=dict(text.split("=", 1) for text in asked.python),
        timeout_s=asked.timeout,
    )
    if not asked.report:
        for name in dict.fromkeys(table for case in cases for table in case.tables):
            ensure(setting.warehouse, name)
    failed = 0
    for case, result in run_all(cases if not asked.report else (), setting):
        results[case.id] = result
        sys.stdout.write(report({case.id: result}) + "\n")
        sys.stdout.flush()
        failed += not result["agree"] or any(
            "error" in row for row in result["rows"] if row["contender"] == "ours"
        )
        stored.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    ordered = {c.id: results[c.id] for group in GROUPS.values() for c in group if c.id in results}
    if asked.markdown:
        Path(asked.markdown).write_text(report(ordered), encoding="utf-8")
    return 1 if failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python tests/benchmarks", description=__doc__)
    parser.add_argument("groups", nargs="*", choices=[[], *GROUPS], help="all by default")
    parser.add_argument("--only", default="", help="cases whose name holds this")
    parser.add_argument("--contenders", default="", help="ours,rust,pypaimon,limit")
    parser.add_argument("--rounds", type=int, default=5, help="runs that count")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one run")
    parser.add_argument("--python", action="append", default=[], metavar="CONTENDER=PATH")
    parser.add_argument("--data", default="bench-data", help="folder of the tables")
    parser.add_argument("--json", default=str(RESULTS), help="results; a case is replaced")
    parser.add_argument("--markdown", default="", help="file for the full report")
    parser.add_argument("--report", action="store_true", help="no runs, only the reports")
    return parser
