"""Entries of the API reference, from docstrings.

A class is given by its full name, `paimon_explore.Table`; the members that one base class defines
follow as `Table:WritableTable`, so that a long class is spread over pages.
"""

import ast
import inspect
import re
import typing
from collections.abc import Iterator
from functools import cache, cached_property
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import FunctionType, ModuleType

import paimon_explore as pe

PACKAGE = "paimon_explore"
_PARTS = re.compile(
    r"paimon_explore\.(inspection\.(?!rendering|views\.inspector|table_view|explorer|rows|rendering)"
    r"|metadata\.options\.option_enums|scan\.plan$|scan\.splits\.data_split)"
)
"""Modules of classes that are attributes of results; others are internal."""
_API_COMMENT = re.compile(r"^<!-- generated: api (.*) -->$", re.MULTILINE)
_PAGES = Path(__file__).parents[1] / "reference" / "api"


def found(name: str) -> object:
    """Return the object with a full name; the module is its longest importable prefix."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            value: object = import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            value = getattr(value, part)
        return value
    raise LookupError(name)


def own_members(kind: type, base: type) -> list[str]:
    """The public names that a base of a class defines, and that the class does not override."""
    return [
        name
        for name in vars(base)
        if not name.startswith("_")
        and next(cls for cls in kind.__mro__ if name in vars(cls)) is base
    ]


def members(*entries: str) -> str:
    """Return directives for autodoc.

    Args:
        entries: full names of classes, functions and methods; `NAME:BASE` for the members of the
            class NAME that its base BASE defines, `NAME-` for a class without its members.
    """
    lines = [line for entry in entries for line in _directives(entry)]
    return "\n".join(["````{eval-rst}", *lines, "````"])


def _directives(entry: str) -> Iterator[str]:
    full, base = _full_name(entry), entry.partition(":")[2]
    value = found(full)
    if base:
        assert isinstance(value, type)
        cls = next(cls for cls in value.__mro__ if cls.__name__ == base)
        for member in own_members(value, cls):
            yield from _member(value, full, member)
    elif isinstance(value, type):
        yield from (f".. autoclass:: {full}", "")
        if not entry.endswith("-"):
            for member in _class_members(value):
                yield from _member(value, full, member)
    else:
        yield from (f".. autofunction:: {full}", "")


def _class_members(kind: type) -> list[str]:
    """The methods and properties of a class that have docstrings, its bases' first line last."""
    bases = [cls for cls in kind.__mro__ if cls.__module__.startswith(PACKAGE)]
    return [name for cls in bases for name in own_members(kind, cls)]


def _member(kind: type, full: str, name: str) -> Iterator[str]:
    value = inspect.getattr_static(kind, name)
    if isinstance(value, property | cached_property):
        yield from (f".. autoproperty:: {full}.{name}", "")
    elif isinstance(value, FunctionType | classmethod | staticmethod):
        yield from (f".. automethod:: {full}.{name}", "")


def result_parts() -> str:
    """Return entries of the classes that attributes of results and arguments of methods have."""
    seen: dict[type, None] = {}
    waiting = [value for name in _requested() if isinstance(value := found(name), type)]
    documented = set(waiting)
    while waiting:
        for part in _types_of(waiting.pop()):
            if part not in documented and part not in seen and _PARTS.match(part.__module__):
                seen[part] = None
                waiting.append(part)
    return members(*sorted(f"{part.__module__}.{part.__qualname__}" for part in seen))


def _requested() -> Iterator[str]:
    """The full names that the pages list."""
    for path in sorted(_PAGES.glob("*.md")):
        for line in _API_COMMENT.findall(path.read_text("utf-8")):
            yield from (_full_name(entry) for entry in line.split())


@cache
def _entries() -> frozenset[type]:
    return frozenset(kind for name in _requested() if isinstance(kind := found(name), type))


def has_entry(kind: type) -> bool:
    """Whether a page lists a class."""
    return kind in _entries()


def _full_name(entry: str) -> str:
    name = entry.partition(":")[0].rstrip("-")
    return name if name.startswith(PACKAGE) else f"{PACKAGE}.{name}"


def _types_of(kind: type) -> Iterator[type]:
    """The classes in annotations of a class's attributes and methods."""
    names = [name for name in dir(kind) if not name.startswith("_")]
    values = [inspect.getattr_static(kind, name) for name in names]
    getters = [one.fget if isinstance(one, property) else one for one in values]
    for one in (kind, *getters):
        if isinstance(one, type | FunctionType):
            for hint in _hints(one).values():
                yield from _classes(hint)


def _hints(thing: type | FunctionType) -> dict[str, object]:
    try:
        return typing.get_type_hints(thing)
    except (NameError, TypeError):  # a type that only the type checker imports
        return {}


def _classes(hint: object) -> Iterator[type]:
    if isinstance(hint, type) and not typing.get_args(hint):
        yield hint
    for part in typing.get_args(hint):
        yield from _classes(part)


def type_aliases(*names: str) -> str:
    """Return entries of type aliases, with the text below each in its module.

    Args:
        names: full names below the package.
    """
    lines = []
    for name in names:
        module_name, _, alias = name.rpartition(".")
        module = import_module(f"{PACKAGE}.{module_name}")
        definition, text = _alias(module, alias)
        lines += [f".. py:type:: {alias}", f"   :canonical: {definition}", "", f"   {text}", ""]
    return "\n".join(["````{eval-rst}", *lines, "````"])


def _alias(module: ModuleType, name: str) -> tuple[str, str]:
    """The definition and the docstring of an alias."""
    body = ast.parse(inspect.getsource(module)).body
    for statement, following in pairwise(body):
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        target = statement.target if isinstance(statement, ast.AnnAssign) else target
        if isinstance(target, ast.Name) and target.id == name:
            assert isinstance(statement, ast.Assign | ast.AnnAssign)
            assert statement.value is not None
            assert isinstance(following, ast.Expr)
            return ast.unparse(statement.value), str(ast.literal_eval(following.value))
    raise LookupError(name)


def public_names() -> list[str]:
    """The full names of the public API: the package, its namespaces, and their classes' members."""
    namespaces = (("", pe), (".inspect", pe.inspect), (".spark", pe.spark))
    return [f"{PACKAGE}{path}.{name}" for path, space in namespaces for name in space.__all__]
