"""Declaration of Thrift structs as dataclasses, in the form that the package `thrift` encodes.

A struct annotates its fields by `wire(id, type)`; the decorator `struct` derives `thrift_spec`, the
table that the encoder and decoder of `thrift` read.
"""

import dataclasses
from typing import Generic, TypeVar, dataclass_transform, get_type_hints

from thrift.protocol.TBase import TBase, TExceptionBase
from thrift.Thrift import TType

from paimon_explore.frozen_dataclass import dataclass

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
V = TypeVar("V")
S = TypeVar("S", bound="Struct | ThriftError")
_Class = TypeVar("_Class", bound="type[Struct]")


@dataclass(frozen=True, slots=True)
class WireType(Generic[T_co]):
    """A Thrift type: its code, its Python type, and the parameters of texts, lists and structs."""

    code: int
    python: type[T_co]
    parameters: object = None


VOID = WireType(TType.VOID, type(None))
BOOL = WireType(TType.BOOL, bool)
BYTE = WireType(TType.BYTE, int)
I16 = WireType(TType.I16, int)
I32 = WireType(TType.I32, int)
I64 = WireType(TType.I64, int)
STRING = WireType(TType.STRING, str, "UTF8")
BINARY = WireType(TType.STRING, bytes, "BINARY")


def list_of(element: WireType[T]) -> WireType[list[T]]:
    """Return the type of lists of such elements."""
    return WireType(TType.LIST, list, (element.code, element.parameters, False))


def map_of(key: WireType[T], value: WireType[V]) -> WireType[dict[T, V]]:
    """Return the type of maps."""
    parameters = (key.code, key.parameters, value.code, value.parameters, False)
    return WireType(TType.MAP, dict, parameters)


STRINGS = list_of(STRING)
STRING_MAP = map_of(STRING, STRING)


def struct_of(cls: type[S]) -> WireType[S]:
    """Return the type of values of a declared struct."""
    return WireType(TType.STRUCT, cls, [cls, cls.thrift_spec])


class Struct(TBase):  # type: ignore[misc]  # thrift ships no types
    """Base class of declared structs."""

    thrift_spec: tuple[object, ...] = ()


class Message(Struct):
    """The arguments or the result of a method; absent values are None."""

    def __init__(self, spec: tuple[object, ...]) -> None:
        self.thrift_spec = spec
        for field in spec:
            if isinstance(field, tuple):
                setattr(self, str(field[2]), None)


class ThriftError(TExceptionBase):  # type: ignore[misc]  # thrift ships no types
    """Base class of the exceptions that a metastore declares; all have one message."""

    message: str | None

    thrift_spec: tuple[object, ...] = (None, (1, TType.STRING, "message", "UTF8", None))

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        """The message of the server."""
        return self.message or ""


@dataclass(frozen=True, slots=True)
class Wire:
    """The id and type of a field."""

    number: int
    wire_type: WireType[object]


def wire(number: int, wire_type: WireType[object]) -> Wire:
    """Return the annotation of a field with its id and type."""
    return Wire(number, wire_type)


@dataclass_transform(kw_only_default=True)
def struct(cls: _Class) -> _Class:
    """Make a class whose fields are annotated by `wire` a Thrift struct."""
    fields: dict[int, tuple[object, ...]] = {}
    for name, annotation in get_type_hints(cls, include_extras=True).items():
        for given in getattr(annotation, "__metadata__", ()):
            kind = given.wire_type
            fields[given.number] = (given.number, kind.code, name, kind.parameters, None)
    cls.thrift_spec = spec_of(fields)
    dataclasses.dataclass(kw_only=True)(cls)  # changes the class itself
    return cls


def spec_of(fields: dict[int, tuple[object, ...]]) -> tuple[object, ...]:
    """Return the table of fields by id, as `thrift` expects it: None where an id is not used."""
    return tuple(fields.get(number) for number in range(max(fields, default=-1) + 1))
