"""Ctrl+C in a test: one signal raises one KeyboardInterrupt in the main thread."""

import gc
import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def ctrl_c_raises() -> Iterator[None]:
    """Let SIGINT raise KeyboardInterrupt in the block.

    Shells let background jobs ignore the signal. The garbage collector is off: Python drops an
    exception that is raised within one of its callbacks, and Hypothesis has one.
    """
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
        signal.signal(signal.SIGINT, handler)
