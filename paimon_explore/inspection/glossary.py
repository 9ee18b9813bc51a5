"""The glossary: one sentence per term of Paimon that the explorer shows, used as tooltips.

`glossary.csv` has the terms, with other names separated by semicolons.

`.github/ARCHITECTURE.md` lists the same terms; a test compares them.

What helps to use the explorer: example inputs of its views, and the glossary for tooltips.
"""

import csv
import pkgutil
from collections.abc import Mapping
from contextlib import suppress

from paimon_explore.errors import PaimonError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.overview.example_inputs import example_inputs
from paimon_explore.inspection.views.inspector import Inspector


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A term with its explanation.

    Attributes:
        text: one sentence.
        names: other names of the term on the screen: headings, labels, abbreviations.
        notebook: the notebook that teaches it, as the name of its file without `.ipynb`; empty for
            none.
    """

    text: str
    names: tuple[str, ...] = ()
    notebook: str = ""

    @property
    def tooltip(self) -> str:
        """The explanation, and where to learn more."""
        return f"{self.text} (notebook {self.notebook})" if self.notebook else self.text


def _terms() -> dict[str, Term]:
    text = (pkgutil.get_data(__package__, "glossary.csv") or b"").decode()
    return {
        row["term"]: Term(
            text=row["text"],
            names=tuple(row["names"].split("; ")) if row["names"] else (),
            notebook=row["notebook"],
        )
        for row in csv.DictReader(text.splitlines())
    }


TERMS: Mapping[str, Term] = _terms()
"""Terms in the order in which they are learnt."""


def all_names() -> Mapping[str, Term]:
    """The terms by each of their names in lower case.

    >>> all_names()["base manifest list"] is TERMS["base list"]
    True
    """
    return {name.lower(): term for title, term in TERMS.items() for name in (title, *term.names)}


def explorer_hints(inspector: Inspector) -> dict[str, object]:
    """Example inputs by tab, and each term with its meaning and its other names, as JSON.

    Reads the files of the snapshot, so that the examples contain values of the table.

    Raises:
        NotFoundError: the snapshot does not exist.
    """
    if inspector.snapshot_id:
        with suppress(PaimonError):  # the list of files tells why; examples have typical values
            inspector.current_files()
    terms = [[name, term.tooltip, list(term.names)] for name, term in TERMS.items()]
    return {"examples": dict(example_inputs(inspector)), "terms": terms}
