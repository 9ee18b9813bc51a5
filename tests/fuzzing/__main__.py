"""Coverage-guided fuzzing of the decoders: `python -m tests.fuzzing TARGET`.

Needs the package `atheris`. A run starts from the decoder's good bytes and, with `--corpus`, from
the inputs that earlier runs kept. An input gives values or one of the decoder's errors; anything
else is a finding: another exception, more than 5 seconds, or more memory than the limit allows.
Findings are written to files and do not end the run; what ends the process does.
"""

import argparse
import hashlib
import resource
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import atheris

_TESTS = Path(__file__).resolve().parents[1]
sys.path[:1] = [str(_TESTS), str(_TESTS.parent)]

_COUNTED = ["paimon_explore"]
"""The packages whose branches guide the search."""

with atheris.instrument_imports(include=_COUNTED):
    from support.decoders import DECODERS, Decoder
from paimon_explore.limits import set_memory_limit  # noqa: E402 - after what is instrumented
from support.golden import GoldenTables  # noqa: E402 - as above

LIMIT = 64 << 20
"""Memory limit of the process, `limits.memory_limit`."""
MOST_GROWTH_KB = 6 * (LIMIT >> 10)
"""How much one input may add to the peak memory: what is packed, unpacked and converted."""
MOST_SECONDS = 5.0
_HANG_SECONDS = 60
_LARGEST = 1 << 14


class Watched:
    """A decoder that is asked for one input after another.

    Attributes:
        inputs: number of inputs.
        found: number of findings by their kind and place.
    """

    def __init__(self, decoder: Decoder, folder: Path) -> None:
        self.inputs = 0
        self.found: Counter[str] = Counter()
        self._decoder = decoder
        self._folder = folder
        self._peak = _peak_kb()

    def __call__(self, data: bytes) -> None:
        """Decode an input."""
        self.inputs += 1
        begin = time.perf_counter()
        try:
            self._decoder.read(data)
        except self._decoder.errors:
            pass
        except Exception as error:  # noqa: BLE001 - what is looked for
            self._keep(data, _place(error), traceback.format_exc())
        seconds = time.perf_counter() - begin
        if seconds > MOST_SECONDS:
            self._keep(data, "slow", f"{seconds:.1f} s")
        peak = _peak_kb()
        if peak - self._peak > MOST_GROWTH_KB:
            self._keep(data, "memory", f"{peak - self._peak:,} KB")
        self._peak = peak

    def _keep(self, data: bytes, kind: str, text: str) -> None:
        self.found[kind] += 1
        if self.found[kind] == 1:
            name = hashlib.sha256(data).hexdigest()[:12]
            self._folder.mkdir(parents=True, exist_ok=True)
            (self._folder / name).write_bytes(data)
            (self._folder / f"{name}.txt").write_text(f"{kind}\n{text}", encoding="utf-8")
            print(f"{kind}: {self._folder / name}", flush=True)  # noqa: T201 - the report


def _place(error: Exception) -> str:
    """What was raised, and where."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {Path(last.filename).name}:{last.lineno}"


def _peak_kb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", choices=[*DECODERS])
    parser.add_argument("--runs", type=int, default=-1, help="number of inputs")
    parser.add_argument("--seconds", type=int, default=0, help="longest time")
    parser.add_argument("--corpus", type=Path, help="folder that keeps inputs for later runs")
    parser.add_argument("--findings", type=Path, default=Path(tempfile.gettempdir(), "findings"))
    return parser.parse_args()


def main() -> None:
    """Run one target."""
    asked = _arguments()
    set_memory_limit(LIMIT)
    decoder = DECODERS[asked.target]
    with tempfile.TemporaryDirectory() as folder:
        golden = GoldenTables(_TESTS / "golden", Path(folder, "golden"))
        samples = decoder.samples(golden)
        corpus = asked.corpus or Path(folder, "corpus")
        corpus.mkdir(parents=True, exist_ok=True)
        for number, sample in enumerate(samples):
            (corpus / f"sample-{number}").write_bytes(sample)
        watched = Watched(decoder, asked.findings / asked.target.replace(" ", "_"))
        with atheris.instrument_imports(include=_COUNTED):  # what is imported when it is needed
            for path in sorted(corpus.iterdir()):
                watched(path.read_bytes())
        limits = [
            f"-max_len={max(_LARGEST, *(2 * len(sample) for sample in samples))}",
            f"-timeout={_HANG_SECONDS}", "-rss_limit_mb=4096", "-print_final_stats=0",
            f"-artifact_prefix={asked.findings}/", f"-runs={asked.runs}",
            f"-max_total_time={asked.seconds}",
        ]  # fmt: skip
        asked.findings.mkdir(parents=True, exist_ok=True)
        _fuzz(watched, [sys.argv[0], *limits, str(corpus)])


def _fuzz(watched: Callable[[bytes], None], arguments: list[str]) -> None:
    atheris.Setup(arguments, watched)
    atheris.Fuzz()


main()
