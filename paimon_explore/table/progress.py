"""A bar for work that takes longer than half a second, in terminals and notebooks.

Nothing is shown where nobody looks: in scripts whose errors go to a file, on Spark's workers, in
other threads than the main one. An interrupt (Ctrl+C, the notebook's stop button) takes the bar
away; what the work had open is closed and what it had written is removed by those who did so.
"""

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


class Screen(Protocol):
    """Where a bar is drawn."""

    def draw(self, line: str) -> None:
        """Show a line in place of the one before."""

    def clear(self) -> None:
        """Take the line away."""


class _Terminal:
    """A line that is written over again and again."""

    def draw(self, line: str) -> None:
        sys.stderr.write(f"\r{line}\x1b[K")
        sys.stderr.flush()

    def clear(self) -> None:
        self.draw("")


class _Notebook:
    """An output of the running cell that is renewed in place."""

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
    """An output that was shown."""

    def update(self, shown: object, *, raw: bool) -> None:
        """Show something else in its place."""


def progress(parts: Sequence[Part], what: str, screen: Screen | None = None) -> Iterator[Part]:
    """The parts of some work, one by one, with a bar once it takes long.

    Args:
        parts: what is to be done; each is done when the next one is asked for.
        what: the work, in a word or two.
        screen: where to draw; None for the terminal or notebook that looks, if any does.
    """
    total = len(parts)
    shown = screen if screen is not None else _screen()
    if shown is None or total == 0:
        yield from parts
        return
    began = drawn = time.monotonic()
    is_drawn = False
    try:
        for done, part in enumerate(parts):
            now = time.monotonic()
            if now - began >= _WAIT_S and (not is_drawn or now - drawn >= _EVERY_S):
                shown.draw(bar(what, done, total, now - began))
                drawn, is_drawn = now, True
            yield part
    finally:
        if is_drawn:
            shown.clear()


def bar(what: str, done: int, total: int, elapsed_s: float) -> str:
    """One line: the work, a bar, how far it is, and how long it may take.

    >>> bar("reading", 1, 4, 2.0)
    'reading ███████▌                       1 of 4, about 6 s more'
    """
    eighths = done * _WIDTH * 8 // total
    full, rest = divmod(eighths, 8)
    drawn = "█" * full + (" ▏▎▍▌▋▊▉"[rest] if rest else "")
    left = "" if not done else f", about {elapsed_s / done * (total - done):.0f} s more"
    return f"{what} {drawn:<{_WIDTH}} {done} of {total}{left}"


def _screen() -> Screen | None:
    """Where somebody looks, if anybody does."""
    if threading.current_thread() is not threading.main_thread():
        return None
    ipython = sys.modules.get("IPython") if _DISPLAY in sys.modules else None
    if ipython is not None and type(ipython.get_ipython()).__name__ == _KERNEL:
        return _Notebook()
    return _Terminal() if sys.stderr is not None and sys.stderr.isatty() else None
