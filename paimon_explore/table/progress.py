"""A progress bar for work of more than half a second, in terminals and notebooks.

Nothing is displayed in scripts whose stderr is not a terminal, on Spark's workers, in threads
other than the main one, and if the environment variable `TQDM_DISABLE` is set, which also turns off
the bars of tqdm. After an interrupt (Ctrl+C, the notebook's stop button) the bar is removed.
"""

import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Protocol, TypeVar

Part = TypeVar("Part")

_WAIT_S = 0.5
_EVERY_S = 0.1
_WIDTH = 30
_DISPLAY = "IPython.display"
_KERNEL = "ZMQInteractiveShell"


class ProgressDisplay(Protocol):
    """Where a bar is drawn."""

    def draw(self, line: str) -> None:
        """Show a line in place of the one before."""

    def clear(self) -> None:
        """Take the line away."""


class _Terminal:
    """A line of a terminal that is overwritten in place."""

    def draw(self, line: str) -> None:
        sys.stderr.write(f"\r{line}\x1b[K")
        sys.stderr.flush()

    def clear(self) -> None:
        self.draw("")


class _Notebook:
    """An output of the running cell that is updated in place."""

    def __init__(self) -> None:
        self._handle: _Handle | None = None

    def draw(self, line: str) -> None:
        shown = {"text/plain": line}
        if self._handle is None:
            display = sys.modules[_DISPLAY].display  # loaded, or this is no notebook
            self._handle = display(shown, raw=True, display_id=True)
        else:
            self._handle.update(shown, raw=True)

    def clear(self) -> None:
        if self._handle is not None:
            self._handle.update({"text/plain": ""}, raw=True)


class _Handle(Protocol):
    """A displayed output that can be updated."""

    def update(self, shown: object, *, raw: bool) -> None:
        """Replace the output."""


class ProgressBar:
    """The bar of some work, shown once the work has taken long.

    Args:
        what: the label of the bar.
        wait_s: how long nothing is shown.
        display: where to draw; None for the terminal or notebook, if there is one.
    """

    def __init__(
        self, what: str, wait_s: float | None = None, display: ProgressDisplay | None = None
    ) -> None:
        self._what = what
        self._display = display if display is not None else _display()
        self._began = time.monotonic()
        self._next = self._began + (_WAIT_S if wait_s is None else wait_s)
        self._is_drawn = False

    @property
    def has_display(self) -> bool:
        """Whether there is something to draw on."""
        return self._display is not None

    def show(self, done: int, total: int, unit: str = "") -> None:
        """Draw how much is done, unless it was drawn just before."""
        now = time.monotonic()
        if self._display is not None and now >= self._next:
            self._display.draw(bar(self._what, done, total, now - self._began, unit))
            self._next, self._is_drawn = now + _EVERY_S, True

    def clear(self) -> None:
        """Take the bar away."""
        if self._display is not None and self._is_drawn:
            self._display.clear()
            self._is_drawn = False


def progress(
    parts: Sequence[Part], what: str, display: ProgressDisplay | None = None
) -> Iterator[Part]:
    """Iterate over parts of some work, with a progress bar if it takes long.

    Args:
        parts: the parts; each is finished when the next one is requested.
        what: the label of the bar.
        display: where to draw; None for the terminal or notebook, if there is one.
    """
    shown = ProgressBar(what, display=display)
    try:
        for done, part in enumerate(parts):
            shown.show(done, len(parts))
            yield part
    finally:
        shown.clear()


def bar(what: str, done: int, total: int, elapsed_s: float, unit: str = "") -> str:
    """Return a progress bar as a line of text: label, bar, count and remaining time.

    Without a unit, such as `%`, the count is of the total.

    >>> bar("reading", 1, 4, 2.0)
    'reading ███████▌                       1 of 4, about 6 s more'
    """
    eighths = done * _WIDTH * 8 // total
    full, rest = divmod(eighths, 8)
    drawn = "█" * full + (" ▏▎▍▌▋▊▉"[rest] if rest else "")
    left = "" if not done else f", about {elapsed_s / done * (total - done):.0f} s more"
    count = f"{done} {unit}" if unit else f"{done} of {total}"
    return f"{what} {drawn:<{_WIDTH}} {count}{left}"


def _display() -> ProgressDisplay | None:
    """The terminal or notebook of this process, if there is one."""
    is_off = os.environ.get("TQDM_DISABLE", "0") not in {"", "0"}
    if is_off or threading.current_thread() is not threading.main_thread():
        return None
    if in_notebook():
        return _Notebook()
    return _Terminal() if sys.stderr is not None and sys.stderr.isatty() else None


def in_notebook() -> bool:
    """Return whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython") if _DISPLAY in sys.modules else None
    return ipython is not None and type(ipython.get_ipython()).__name__ == _KERNEL
