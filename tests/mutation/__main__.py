"""`python -m tests.mutation`: the command, from the root of the repository."""

import argparse
import gc
import importlib
import pkgutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

_TESTS = Path(__file__).resolve().parents[1]
sys.path[:1] = [str(_TESTS), str(_TESTS.parent)]

from mutation.mutants import mutants, sample  # noqa: E402 - found only now
from mutation.packages import PACKAGES  # noqa: E402
from mutation.runner import outcomes, recorded  # noqa: E402

_PRELOADED = (
    "platformdirs.unix pdb doctest unittest zstandard tomllib typing_extensions"
    " numpy pandas fastavro pyarrow.compute pyarrow.dataset pyarrow.orc pyarrow.parquet"
)
_LAYER_BELOW = "paimon_explore.metadata"
"""No module of it imports what is mutated."""
_EQUIVALENT = Path(__file__).with_name("equivalent.txt")


def main() -> int:
    """Run a sample, tell the survivors and the share that was noticed; 1 below 90 %."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation")
    parser.add_argument("package", choices=sorted(PACKAGES))
    parser.add_argument("--sample", type=int, default=100, help="mutants")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="mutants of the sample that show this text")
    parser.add_argument("--budget", type=float, default=300, help="CPU seconds of the record")
    parser.add_argument("--record", help="file that keeps the record for later runs")
    parser.add_argument("--unmutated", action="store_true", help="control: all must survive")
    parser.add_argument("--tests", nargs="+", help="only these, for a look at new tests")
    asked = parser.parse_args()
    package = PACKAGES[asked.package]
    equivalent = _equivalent()
    chosen = sample([m for p in package.modules() for m in mutants(p)], asked.sample, asked.seed)
    chosen = [m for m in chosen if asked.only in m.key]
    _preload()
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        result = Path(asked.record or f"{folder}/record")
        known = recorded(package, asked.tests or package.test_paths(), asked.budget, result)
        for mutant, found in outcomes(chosen, known, Path(folder), unmutated=asked.unmutated):
            unnoticed = found in {"survived", "no test"}
            told = "equivalent" if unnoticed and mutant.key in equivalent else found
            counts[told] += 1
            _say(f"{told:<10} {mutant.path}:{mutant.line}: {mutant.change}: {mutant.code}")
    noticed = counts["noticed"] + counts["timed out"]
    compared = counts.total() - counts["equivalent"]
    _say(f"{asked.package}: {noticed} of {compared} noticed, {noticed / (compared or 1):.1%}")
    _say(", ".join(f"{count} {told}" for told, count in counts.most_common()))
    return int(noticed < 0.9 * compared)


def _preload() -> None:
    """Import what each child needs, so that it need not."""
    below = importlib.import_module(_LAYER_BELOW)
    modules = pkgutil.walk_packages(below.__path__, f"{_LAYER_BELOW}.")
    for name in (*_PRELOADED.split(), *(module.name for module in modules)):
        importlib.import_module(name)
    gc.freeze()


def _equivalent() -> set[str]:
    """Keys of the entries: the lines that neither a blank nor "#" begins."""
    lines = _EQUIVALENT.read_text(encoding="utf-8").splitlines()
    return {line for line in lines if line and line[0] not in " #"}


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
