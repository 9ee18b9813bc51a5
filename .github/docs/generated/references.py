"""References of docstrings: names in backticks become links where the reference has an entry.

Docstrings put code in single backticks, as Markdown does. `Table.append`, `t.append` and `append()`
lead to the method; everything else is shown as code.
"""

import builtins
import re
from collections import defaultdict
from functools import lru_cache

from docutils import nodes
from docutils.nodes import Element, Node, system_message
from docutils.parsers.rst.states import Inliner
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

_PACKAGE = "paimon_explore."
_NAME = re.compile(r"[A-Za-z_][\w.]*(\(\))?")
_BUILTIN = frozenset(dir(builtins))
_IN_BACKTICKS = "name in backticks"
_VARIABLES = {"t": "Table", "table": "Table", "catalog": "Catalog", "tx": "Transaction"}
"""Names of variables in examples, and the class of their values."""


def _role(  # noqa: PLR0913, PLR0917 - the arguments of a role
    name: str,
    rawtext: str,
    text: str,
    lineno: int,
    inliner: Inliner,
    options: object = None,
    content: object = None,
) -> tuple[list[Node], list[system_message]]:
    """Interpret text in single backticks: a reference if it may be a name, and else code."""
    del name, lineno, options, content
    code = nodes.literal(rawtext, text, classes=["code"])
    if not _NAME.fullmatch(text):
        return [code], []
    target = text.removesuffix("()")
    of_class = inliner.document.settings.env.ref_context.get("py:class")
    reference = addnodes.pending_xref(
        rawtext, code, refdomain="", reftype=_IN_BACKTICKS, reftarget=target
    )
    reference["py:class"] = of_class
    return [reference], []


@lru_cache(maxsize=2)
def _index(names: tuple[str, ...]) -> dict[str, str]:
    """The entries by each of their endings that are unique, `Table.append` and `append`."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for name in names:
        parts = name.split(".")
        for start in range(len(parts)):
            found[".".join(parts[start:])].add(name)
    public = {ending: [n for n in names if n.count(".") <= 2] for ending, names in found.items()}
    chosen = {}
    for ending, candidates in found.items():
        best = list(candidates) if len(candidates) == 1 else public[ending]
        if len(best) == 1:
            chosen[ending] = best[0]
    return chosen


def _candidates(target: str, node: Element) -> list[str]:
    """The names that a reference may mean, the nearest first."""
    owner, _, rest = target.partition(".")
    found = [target.removeprefix("pe."), target]
    if owner in _VARIABLES and rest:
        found.insert(0, f"{_VARIABLES[owner]}.{rest}")
    of_class = node.get("py:class")
    if of_class:
        found.insert(0, f"{of_class.rpartition('.')[2]}.{target}")
    return found


def _resolve(
    app: Sphinx, env: BuildEnvironment, node: Element, contnode: Element
) -> Element | None:
    """Resolve a reference that Sphinx does not find; for the event `missing-reference`."""
    is_optional = node["reftype"] == _IN_BACKTICKS
    if node.get("refdomain") != "py" and not is_optional:
        return None
    target = str(node["reftarget"])
    objects = env.domains.python_domain.objects
    index = _index(tuple(sorted(objects)))
    for candidate in _candidates(target, node):
        name = index.get(candidate)
        if name and (not is_optional or _is_meant(candidate, name, node)):
            entry = objects[name]
            page = str(node.get("refdoc", ""))
            return make_refnode(
                app.builder, page, entry.docname, entry.node_id, contnode.deepcopy(), name
            )
    if is_optional or node["reftype"] == "class":  # a type of another package, or an internal one
        return contnode
    return None


def _is_meant(candidate: str, name: str, node: Element) -> bool:
    """Whether a name in backticks means an entry: not a plain word that a far class also has."""
    if "." in candidate or candidate[:1].isupper():
        return True
    return name.count(".") == 1 or name.rpartition(".")[0] == node.get("py:class")


class BuiltinTypes(SphinxPostTransform):
    """Types such as `bytes` are shown as text; Sphinx would link them to `Table.bytes`."""

    default_priority = 5
    """Before references are resolved, at 10."""

    def run(self, **kwargs: object) -> None:
        """Replace references to built-in types by their text."""
        del kwargs
        for node in list(self.document.findall(addnodes.pending_xref)):
            if node.get("refdomain") == "py" and node["reftarget"] in _BUILTIN:
                node.replace_self(node.children)


def setup(app: Sphinx) -> None:
    """Register the role of backticks, and the resolution of names."""
    app.add_role("name", _role)
    app.add_post_transform(BuiltinTypes)
    app.connect("missing-reference", _resolve)
