"""`python tests/benchmarks`: the command of the suite, from any folder."""

import sys
from pathlib import Path

_TESTS = Path(__file__).resolve().parents[1]
sys.path[:1] = [str(_TESTS), str(_TESTS.parent)]

from benchmarks.command import main  # noqa: E402 - found only now

sys.exit(main())
