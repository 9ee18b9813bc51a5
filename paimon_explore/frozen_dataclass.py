"""The decorator of values: what `dataclasses.dataclass` makes, at a tenth of its cost.

The standard decorator writes, compiles and runs the source of six methods for each class, which
takes 0.4 ms; a cold read passes more than a hundred classes. A class with slots gets here

- an `__init__` whose code was compiled once for all classes with as many fields and is given their
  names by `code.replace`; it fills slots through their descriptors, which is the quicker way too;
- comparison, hash, print and pickling as closures and as functions that all classes share;
- `__dataclass_fields__` and `__dataclass_params__` from the standard decorator itself, once asked
  for: `fields`, `replace`, `asdict` and dataclasses that inherit from ours find what they expect.

All other classes, and those with a field that `__init__` does not take, go to the standard
decorator. Type checkers see that one everywhere.
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, FrozenInstanceError
from operator import attrgetter
from reprlib import recursive_repr
from types import CodeType, FunctionType
from typing import TYPE_CHECKING

from paimon_explore.sanitize import masked_repr

__all__ = ["dataclass"]

_OWN = "__value_fields__"
"""Where a class that was made here keeps its fields and those of its bases, by name."""
_KNOWN = frozenset(("slots", "frozen", "kw_only", "eq", "repr"))


def _dataclass(cls: type | None = None, /, **settings: bool) -> object:
    if cls is None:
        return lambda cls: _decorated(cls, settings)
    return _decorated(cls, settings)


if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    dataclass = _dataclass


class _Field:
    __slots__ = ("annotation", "given", "keyword", "name")

    def __init__(self, name: str, annotation: object, given: object, *, keyword: bool) -> None:
        self.name = name
        self.annotation = annotation
        self.given = given
        """Right of the equals sign: a default, what `field()` returned, or `MISSING`."""
        self.keyword = keyword

    def default(self) -> object:
        """What `__init__` takes if nothing is passed: a value, `_MADE` or `MISSING`."""
        if not isinstance(self.given, dataclasses.Field):
            return self.given
        return self.given.default if self.factory() is MISSING else _MADE

    def factory(self) -> object:
        """What makes its default, if something does."""
        return getattr(self.given, "default_factory", MISSING)

    def standard(self) -> object:
        """What the standard decorator takes for the field."""
        if not isinstance(self.given, dataclasses.Field):
            return dataclasses.field(default=self.given, kw_only=self.keyword)
        self.given.kw_only = self.keyword
        return self.given


class _Made:
    def __repr__(self) -> str:
        return "<factory>"


_MADE = _Made()
"""The default in a signature that stands for: made anew for each instance."""


def _decorated(cls: type, settings: Mapping[str, bool]) -> type:
    if not (settings.get("slots") and settings.keys() <= _KNOWN and _is_plain(cls)):
        standard: type = dataclasses.dataclass(**settings)(cls)
        return standard
    fields = _fields(cls, keyword=settings.get("kw_only", False))
    made = _slotted(cls, fields, _members(list(fields.values()), settings))
    ordered = sorted(fields.values(), key=lambda field: field.keyword)
    init = _initializer(made, ordered, frozen=settings.get("frozen", False))
    type.__setattr__(made, "__init__", init)
    return made


def _is_plain(cls: type) -> bool:
    """Whether its dataclass bases were made here, and all of it is what this module can write."""
    for base in cls.__mro__[1:]:
        if "__dataclass_fields__" in base.__dict__ and _OWN not in base.__dict__:
            return False
    if "__init__" in cls.__dict__ or ("__eq__" in cls.__dict__ and cls.__hash__ is None):
        return False
    given = [cls.__dict__.get(name) for name in cls.__annotations__]
    return all(
        field.init and field.hash is None and field.kw_only is MISSING
        for field in given
        if isinstance(field, dataclasses.Field)
    )


def _fields(cls: type, *, keyword: bool) -> dict[str, _Field]:
    fields: dict[str, _Field] = {}
    for base in cls.__mro__[-1:0:-1]:
        fields.update(base.__dict__.get(_OWN, {}))
    for name, annotation in cls.__annotations__.items():
        given = cls.__dict__.get(name, MISSING)
        if type(given).__hash__ is None:
            raise ValueError(f"mutable default for field {name}: use default_factory")
        fields[name] = _Field(name, annotation, given, keyword=keyword)
    return fields


def _slotted(cls: type, fields: Mapping[str, _Field], members: Mapping[str, object]) -> type:
    """The class once more, with slots: they cannot be added to one that exists."""
    taken = {name for base in cls.__mro__[1:-1] for name in base.__dict__.get("__slots__", ())}
    dropped = {*fields, "__dict__", "__weakref__"}
    namespace = {name: value for name, value in cls.__dict__.items() if name not in dropped}
    namespace = {**members, **namespace}
    namespace["__slots__"] = tuple(name for name in fields if name not in taken)
    namespace[_OWN] = fields
    made: type = type(cls)(cls.__name__, cls.__bases__, namespace)
    made.__qualname__ = cls.__qualname__
    return made


def _members(fields: Sequence[_Field], settings: Mapping[str, bool]) -> dict[str, object]:
    """What a class gets that does not define it itself; apart from `__init__`."""
    members: dict[str, object] = {
        "__match_args__": tuple([field.name for field in fields if not field.keyword]),
        "__dataclass_fields__": _Standard("__dataclass_fields__", settings),
        "__dataclass_params__": _Standard("__dataclass_params__", settings),
        "__replace__": dataclasses.replace,
    }
    frozen = settings.get("frozen", False)
    if settings.get("repr", True):
        members["__repr__"] = _repr
    if settings.get("eq", True):
        compared = [field.name for field in fields if getattr(field.given, "compare", True)]
        members["__eq__"], hashed = _comparison(_values(compared))
        members["__hash__"] = hashed if frozen else None
    if frozen:
        members["__setattr__"] = _refuse_setting
        members["__delattr__"] = _refuse_deleting
        members["__getstate__"] = _get_state
        members["__setstate__"] = _set_state
    return members


class _Standard:
    """An attribute of the standard decorator's, put into the class once it is asked for."""

    __slots__ = ("name", "settings")

    def __init__(self, name: str, settings: Mapping[str, bool]) -> None:
        self.name = name
        self.settings = settings

    def __get__(self, instance: object, owner: type) -> object:
        cls = next(cls for cls in owner.__mro__ if _OWN in cls.__dict__)
        fields: dict[str, _Field] = cls.__dict__[_OWN]
        namespace: dict[str, object] = {
            "__annotations__": {name: field.annotation for name, field in fields.items()},
            "__module__": cls.__module__,
            **{name: field.standard() for name, field in fields.items()},
        }
        twin = type(cls.__name__, (), namespace)
        found = vars(dataclasses.dataclass(**self.settings)(twin))[self.name]
        type.__setattr__(cls, self.name, found)
        return found


def _values(names: Sequence[str]) -> Callable[[object], tuple[object, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple([getattr(self, name) for name in names])


def _comparison(
    values: Callable[[object], tuple[object, ...]],
) -> tuple[Callable[[object, object], object], Callable[[object], int]]:
    def equal(self: object, other: object) -> object:
        if type(other) is type(self):
            return values(self) == values(other)
        return NotImplemented

    return equal, lambda self: hash(values(self))


@recursive_repr()
def _repr(self: object) -> str:
    shown = [field.name for field in dataclasses.fields(self) if field.repr]  # type: ignore[arg-type] # it is one
    pairs = ", ".join([f"{name}={masked_repr(getattr(self, name))}" for name in shown])
    return f"{type(self).__qualname__}({pairs})"


def _refuse_setting(self: object, name: str, value: object) -> None:
    _check_free(self, name, "assign to")
    object.__setattr__(self, name, value)


def _refuse_deleting(self: object, name: str) -> None:
    _check_free(self, name, "delete")
    object.__delattr__(self, name)


def _check_free(self: object, name: str, act: str) -> None:
    """A frozen class refuses all names; a plain class below it may have further ones."""
    if _OWN in type(self).__dict__ or name in getattr(self, _OWN):
        raise FrozenInstanceError(f"cannot {act} field {name!r}")


def _get_state(self: object) -> list[object]:
    return [getattr(self, name) for name in getattr(self, _OWN)]


def _set_state(self: object, state: Iterable[object]) -> None:
    for name, value in zip(getattr(self, _OWN), state, strict=True):
        object.__setattr__(self, name, value)


def _initializer(cls: type, ordered: Sequence[_Field], *, frozen: bool) -> FunctionType:
    """`__init__` of a class with slots; its fields in the order of the signature."""
    names = tuple([field.name for field in ordered])
    made = [at for at, field in enumerate(ordered) if field.default() is _MADE]
    code = _code(len(names), tuple(made), frozen=frozen, checked=hasattr(cls, "__post_init__"))
    placed = [field for field in ordered if not field.keyword]
    at_place = {f"_{at}": name for at, name in enumerate(names)}
    code = code.replace(
        co_argcount=1 + len(placed),
        co_kwonlyargcount=len(names) - len(placed),
        co_varnames=("self", *names),
        co_names=tuple([at_place.get(name, name) for name in code.co_names]),
    )
    known: dict[str, object] = {"MADE": _MADE}
    for at, name in enumerate(names):
        known[f"put{at}"] = getattr(cls, name).__set__
    for at in made:
        known[f"make{at}"] = ordered[at].factory()
    init = FunctionType(code, known, "__init__", _defaults(cls, placed))
    init.__kwdefaults__ = {
        field.name: field.default()
        for field in ordered[len(placed) :]
        if field.default() is not MISSING
    }
    init.__annotations__ = {**{field.name: field.annotation for field in ordered}, "return": None}
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__module__ = cls.__module__
    return init


def _defaults(cls: type, placed: Sequence[_Field]) -> tuple[object, ...]:
    defaults = [field.default() for field in placed]
    first = next((at for at, value in enumerate(defaults) if value is not MISSING), len(defaults))
    if any(value is MISSING for value in defaults[first:]):
        raise TypeError(f"{cls.__name__} has a field without a default after one with a default")
    return tuple(defaults[first:])


_CODES: dict[object, CodeType] = {}


def _code(count: int, made: tuple[int, ...], *, frozen: bool, checked: bool) -> CodeType:
    """The body of `__init__` for fields `_0`, `_1` and so on, of which some are made anew."""
    shape = (count, made, frozen, checked)
    found = _CODES.get(shape)
    if found is None:
        lines = [f"def __init__(self{''.join([f', _{at}' for at in range(count)])}):", " pass"]
        for at in range(count):
            value = f"make{at}() if _{at} is MADE else _{at}" if at in made else f"_{at}"
            lines.append(f" put{at}(self, {value})" if frozen else f" self._{at} = {value}")
        if checked:
            lines.append(" self.__post_init__()")
        module = compile("\n".join(lines), "<values>", "exec")
        found = next(value for value in module.co_consts if isinstance(value, CodeType))
        _CODES[shape] = found
    return found
