"""The picture of the architecture: which layers operations on a demo table go through."""

import re
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import CodeType, FrameType

import paimon_explore as pe
from generated.drawing import Drawing

_PACKAGE = Path(pe.__file__).parent
_ROW = re.compile(r"^\| (`\w+/`(?: · `\w+/`)*) \|", re.MULTILINE)
_LEFT, _WIDTH, _STEP = 116, 92, 24

_OPERATIONS: Mapping[str, Callable[[pe.Table], object]] = {
    "open": lambda t: pe.open_table(t.path).schema,
    "read": lambda t: t.scan(where="id > 3").to_arrow(),
    "upsert": lambda t: t.upsert(t.to_arrow().slice(0, 3)),
    "compact": lambda t: t.compact(),
    "explain": lambda t: t.explain("id > 3").state(),
    "SQL": lambda t: pe.sql("SELECT count(*) FROM t", t=t).to_arrow(),
}


def draw(architecture: str) -> str:
    """Return the picture.

    Args:
        architecture: the text of `ARCHITECTURE.md`, whose table has the layers in order.
    """
    layers = [name for row in _ROW.findall(architecture) for name in re.findall(r"\w+", row)]
    with tempfile.TemporaryDirectory(prefix="paimon-explore-docs-") as folder:
        customers = pe.demo(folder).table("demo.customers")
        for operation in _OPERATIONS.values():  # imports modules, which is no call of theirs
            operation(customers)
        counts = [_modules(operation, customers) for operation in _OPERATIONS.values()]
    shown = [layer for layer in layers if any(count[layer] for count in counts)]
    drawing = Drawing(width=_LEFT + _WIDTH * len(_OPERATIONS))
    for column, name in enumerate(_OPERATIONS):
        drawing.text(_LEFT + _WIDTH * column + 6, 14, name)
    for row, layer in enumerate(shown):
        drawing.text(6, 24 + _STEP * row + 14, f"{layer}/")
        _cells(drawing, 24 + _STEP * row, [count[layer] for count in counts])
    return drawing.svg(24 + _STEP * len(shown))


def _cells(drawing: Drawing, y: float, counts: Sequence[int]) -> None:
    for column, count in enumerate(counts):
        if count:
            x = _LEFT + _WIDTH * column
            drawing.box(x, y, _WIDTH - 4, str(count), tone="snapshot", centre=True)


def _modules(operation: Callable[[pe.Table], object], table: pe.Table) -> Counter[str]:
    """How many modules of each layer an operation calls."""
    called: set[CodeType] = set()

    def note(frame: FrameType, event: str, argument: object) -> None:
        del argument
        if event == "call":
            called.add(frame.f_code)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        operation(table)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    paths = {Path(code.co_filename) for code in called}
    inside = [path.relative_to(_PACKAGE) for path in paths if path.is_relative_to(_PACKAGE)]
    return Counter(path.parts[0] for path in inside)
