"""What helps to use the explorer: example inputs of its views, and the glossary for tooltips."""

from paimon_explore.inspection.glossary import TERMS
from paimon_explore.inspection.overview.example_inputs import example_inputs
from paimon_explore.inspection.views.inspector import Inspector


def explorer_hints(inspector: Inspector) -> dict[str, object]:
    """Example inputs by tab, and each term with its meaning and its other names, as JSON.

    Raises:
        NotFoundError: the snapshot does not exist.
    """
    terms = [[name, term.tooltip, list(term.names)] for name, term in TERMS.items()]
    return {"examples": dict(example_inputs(inspector)), "terms": terms}
