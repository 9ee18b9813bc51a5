"""Signatures of the API reference as they are written in the source.

Annotations that name a type of a package that is imported late are text such as `"types.Health"`,
and aliases such as `Where` stand for long unions; the source has the name that readers know.
"""

import ast
import copy
from functools import cache
from pathlib import Path
from types import FunctionType

from sphinx.application import Sphinx

_PREFIXES = ("types.", "data_frames.", "t.", "typing.")
"""Modules of annotations that mean nothing to a reader."""


class _Readable(ast.NodeTransformer):
    """Annotations given as text become expressions, without the prefixes of internal modules."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, str):
            return self.visit(ast.parse(node.value, mode="eval").body)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        text = ast.unparse(node)
        for prefix in _PREFIXES:
            if text.startswith(prefix):
                return ast.Name(id=text.removeprefix(prefix))
        return node


@cache
def _definitions(path: str) -> dict[int, ast.FunctionDef]:
    """The functions of a file by their first line, which is that of the first decorator."""
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    found = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return {min([node.lineno, *(d.lineno for d in node.decorator_list)]): node for node in found}


def source_signature(function: FunctionType, *, is_method: bool) -> tuple[str, str | None] | None:
    """Return the arguments and the result type of a function as its source states them.

    Args:
        function: the function.
        is_method: whether the first argument is left out.
    """
    definition = _definitions(function.__code__.co_filename).get(function.__code__.co_firstlineno)
    if definition is None:
        return None
    definition = copy.deepcopy(definition)
    arguments = definition.args
    for one in (
        *(*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs),
        *(one for one in (arguments.vararg, arguments.kwarg) if one),
    ):
        if one.annotation is not None:
            one.annotation = _Readable().visit(one.annotation)
    if is_method:
        (arguments.posonlyargs or arguments.args).pop(0)
    returned = definition.returns
    result = None if returned is None else ast.unparse(_Readable().visit(returned))
    return f"({ast.unparse(arguments)})", result


def _process(  # noqa: PLR0913, PLR0917 - the arguments of the event
    app: Sphinx,
    what: str,
    name: str,
    obj: object,
    options: object,
    signature: str | None,
    return_annotation: str | None,
) -> tuple[str, str | None] | None:
    """Give a signature; for the event `autodoc-process-signature`."""
    del app, name, options, return_annotation
    if what in {"class", "exception"}:
        return None if signature is None else ("", None)  # a method of another object creates it
    if isinstance(obj, FunctionType):
        return source_signature(obj, is_method=what == "method")
    return None


def _process_property(
    app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]
) -> None:
    """Keep napoleon from taking "Name: text" at the start of a property for a type.

    For the event `autodoc-process-docstring`.
    """
    del app, name, obj, options
    if what in {"property", "attribute"}:
        lines.insert(0, "")


def setup(app: Sphinx) -> None:
    """Connect to autodoc."""
    app.connect("autodoc-process-signature", _process)
    app.connect("autodoc-process-docstring", _process_property, priority=400)
