"""The pages of the section Learn: the notebooks, with the outputs of this build."""

import re
from collections.abc import Mapping
from fnmatch import fnmatch
from typing import Any

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from generated.notebook_runs import NOTEBOOKS, PAGE, Runs, content, needs_spark
from generated.saved_pages import frame

_SECTION = "learn/"
_FRONT = re.compile(
    r"# (?P<title>.*?)\n\n\*\*Aim:\*\* (?P<aim>.*?) \*\*Time:\*\* (?P<time>\d+ minutes)", re.DOTALL
)
_LINK = re.compile(r"\]\((\d\d-[\w-]+)\.ipynb\)")
_SQL = re.compile(r"%%paimon_sql\b.*\n")
_COLOUR_CODE = re.compile(r"\x1b\[[0-9;]*m")
_FENCE = "~~~~~~~~~~"


class Learn:
    """Makes the pages of the section.

    The pages are read last, so that the notebooks run while the others are read.
    """

    def __init__(self) -> None:
        self._runs = Runs(())

    def cards(self) -> str:
        """Return the list of notebooks."""
        cards = []
        for name in NOTEBOOKS:
            found = _FRONT.match(content(name).cells[0].source)
            if found is None:
                raise LookupError(f"{NOTEBOOKS[name]} does not begin with its aim and its time.")
            needs = "PySpark" if needs_spark(name) else "Python only"
            cards.append(
                f":::{{container}} card\n**[{found['title']}]({name}.md)**\n\n{found['aim']}\n\n"
                f"{found['time']} · {needs}\n:::\n"
            )
        return f"::::{{container}} cards\n{''.join(cards)}::::\n"

    def page(self, name: str) -> str:
        """Return a notebook.

        Args:
            name: file name without its suffix.
        """
        executed = self._runs.executed(name)
        outputs = "outputs of this build" if executed else "not run for this page, so no outputs"
        facts = (
            f"[Notebook](../../../notebooks/{name}.ipynb) · `paimon-explore lab` opens it in "
            f"JupyterLab · {outputs}"
        )
        first, *cells = map(_cell, (executed or content(name)).cells)
        return "\n\n".join([first, facts, *cells])

    def start(self, app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
        """Execute the notebooks whose pages are read; for the event `env-before-read-docs`."""
        del env
        docnames.sort(key=lambda docname: docname.startswith(_SECTION))
        names = [docname.removeprefix(_SECTION) for docname in docnames]
        wanted = str(app.config.run_notebooks)
        self._runs = Runs(n for n in names if n in NOTEBOOKS and fnmatch(n, wanted))


LEARN = Learn()


def _cell(cell: Mapping[str, Any]) -> str:
    """A cell as Markdown."""
    source = str(cell["source"])
    if cell["cell_type"] != "code":
        return _LINK.sub(r"](\1.md)", source)
    outputs = [text for text in map(_output, cell["outputs"]) if text]
    shown = [f":::{{container}} output\n{text}:::" for text in outputs]
    return "\n\n".join([_fenced(source, "sql" if _SQL.match(source) else "python"), *shown])


def _output(output: Mapping[str, Any]) -> str:
    """An output as Markdown; "" if it shows nothing."""
    data = output.get("data", {"text/plain": output.get("text", "")})
    if PAGE in data:
        return _fenced(frame(data[PAGE], data["text/plain"], depth=1), "{raw} html")
    if "text/html" in data:
        return _fenced(data["text/html"], "{raw} html")
    text = _COLOUR_CODE.sub("", data.get("text/plain", ""))
    return _fenced(text, "text") if text.strip() else ""


def _fenced(text: str, language: str) -> str:
    return f"{_FENCE}{language}\n{text.rstrip()}\n{_FENCE}\n"


def setup(app: Sphinx) -> None:
    """Register the setting `run_notebooks`, and the execution."""
    app.add_config_value("run_notebooks", "*", "", str)
    app.connect("env-before-read-docs", LEARN.start)
