"""What helps to use the explorer: example inputs of its views, and the glossary for tooltips."""

from contextlib import suppress

from paimon_explore.errors import PaimonError
from paimon_explore.inspection.glossary import TERMS
from paimon_explore.inspection.overview.example_inputs import example_inputs
from paimon_explore.inspection.views.inspector import Inspector


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
