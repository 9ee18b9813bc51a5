"""The command line program `paimon-explore`.

`paimon-explore --help` lists the commands. Exit codes: 0 success, 1 failure (the reason is on
stderr), 2 wrong usage, 3 `fsck` or `health` found problems, 130 interrupted by Ctrl+C.

`show` and `lab` need no other packages; the other commands need those of the extra `cli`.
"""

import errno
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TextIO

from paimon_explore.command_line.command_names import FAILURE, INTERRUPTED, OK, PLAIN_COMMANDS
from paimon_explore.command_line.plain_commands import EXTRA_HINT, run_plain
from paimon_explore.errors import PaimonError, UnsupportedFeatureError

_PACKAGES = ("click", "rich")
"""The packages of the extra `cli` that every other command needs."""
_CLOSED_PIPE = (errno.EPIPE, errno.EINVAL) if os.name == "nt" else (errno.EPIPE,)
"""Errors of writes to a pipe that nobody reads any more."""
_OUTPUT_FAILURES = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""Errors of writes to the standard output, such as one that is a file on a full disk."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: command line without the program name; None for those of the process.

    Returns:
        The exit code.
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    sys.stdout, sys.stderr = sys.stdout or _nowhere(), sys.stderr or _nowhere()
    try:
        code = run_plain(given) if _is_plain(given) else _run(given)
        sys.stdout.flush()  # here, where a closed pipe is no error
    except PaimonError as error:
        print(f"paimon-explore: {error}", file=sys.stderr)  # noqa: T201 - the command's output
        return FAILURE
    except OSError as error:
        if error.filename is not None or error.errno not in (*_CLOSED_PIPE, *_OUTPUT_FAILURES):
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno in _CLOSED_PIPE:  # the reader closed it, as `| head` does
            return OK
        print(f"paimon-explore: Cannot write the output: {error.strerror}.", file=sys.stderr)  # noqa: T201 - as above
        return FAILURE
    except KeyboardInterrupt:
        return INTERRUPTED
    return code


def _nowhere() -> TextIO:
    """Where a process writes whose standard output or error is closed."""
    return Path(os.devnull).open("w", encoding="utf-8")


def _is_plain(given: Sequence[str]) -> bool:
    """Whether the command line needs no packages of the extra `cli`."""
    if given and given[0] in PLAIN_COMMANDS:
        return True
    has_no_command = not given or given[0].startswith("-")
    return has_no_command and _missing() is not None and not _completes()


def _completes() -> bool:
    return "_PAIMON_EXPLORE_COMPLETE" in os.environ


def _missing() -> str | None:
    """A package of the extra `cli` that is not installed."""
    return next((name for name in _PACKAGES if find_spec(name) is None), None)


def _run(given: Sequence[str]) -> int:
    missing = _missing()
    if missing is not None:
        shown = given[0] if given else "completion"
        feature = f"The command {shown!r} without the package {missing}"
        raise UnsupportedFeatureError(feature, hint=EXTRA_HINT)
    from paimon_explore.command_line.program import run  # noqa: PLC0415 - of the extra `cli`

    return run(given)


if __name__ == "__main__":
    sys.exit(main())
