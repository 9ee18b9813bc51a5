"""The merge of records one by one, as plainly as it can be said: the model of the merge engines.

A record is (kind, sequence number, values by column); null is None.
"""

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from paimon_explore.merge.merge_spec import AggregateFunction, MergeSpec, SequenceGroup
from paimon_explore.metadata.options.option_enums import MergeEngine

Values = dict[str, object]


@dataclass(frozen=True)
class Record:
    """A record of one key."""

    kind: str
    number: int
    values: Values

    @property
    def is_retract(self) -> bool:
        """Whether it takes back a row."""
        return self.kind in ("-U", "-D")


class RefusedError(Exception):
    """The engine does not take such a record."""


def model_merge(records: Sequence[Record], spec: MergeSpec) -> Record | None:
    """The result of one key, retracts included; None for none at all."""
    ordered = sorted(records, key=functools.cmp_to_key(functools.partial(_compared, spec)))
    if len(ordered) == 1:
        return ordered[0]
    match spec.engine:
        case MergeEngine.DEDUPLICATE:
            kept = [one for one in ordered if not (spec.ignore_delete and one.is_retract)]
            return kept[-1] if kept else None
        case MergeEngine.FIRST_ROW:
            kept = [one for one in ordered if not (spec.ignore_delete and one.is_retract)]
            if any(one.is_retract for one in kept):
                raise RefusedError
            return kept[0] if kept else None
        case MergeEngine.AGGREGATION:
            return _aggregated(ordered, spec)
        case MergeEngine.PARTIAL_UPDATE:
            return _updated(ordered, spec)


def _compared(spec: MergeSpec, one: Record, two: Record) -> int:
    for name in spec.sequence_fields:
        left, right = one.values[name], two.values[name]
        if left == right:
            continue
        if left is None or right is None:
            return -1 if left is None else 1
        less = bool(left < right)  # type: ignore[operator]  # one type
        return -1 if less is not spec.sequence_descending else 1
    mine, other = (one.number, not one.is_retract), (two.number, not two.is_retract)
    return (mine > other) - (mine < other)


def _rank(values: Values, names: Iterable[str]) -> list[tuple[bool, object]]:
    return [(False, 0) if values[name] is None else (True, values[name]) for name in names]


# ---------------------------------------------------------------- functions


@dataclass
class Accumulator:
    """One column's function and value."""

    function: AggregateFunction
    value: object = None
    started: bool = False

    def add(self, record: object) -> None:
        """A newer record."""
        self.value = self._agg(self.value, record)

    def add_older(self, record: object) -> None:
        """A record that is older than what is there."""
        if self.function.name == "collect":
            self.value = self._agg(self.value, record)
        else:
            self.value = self._agg(record, self.value)

    def retract(self, record: object) -> None:
        """Take a record back."""
        if self.function.ignore_retract:
            return
        work = RETRACTS.get(self.function.name)
        if work is None:
            raise RefusedError
        self.value = work(self.value, record, self.function)

    def _agg(self, value: object, record: object) -> object:
        name = self.function.name
        if name in ("first_value", "first_non_null_value"):
            if not self.started and (record is not None or name == "first_value"):
                self.started = True
                return record
            return value
        return ADDS[name](value, record, self.function)


Work = Callable[..., object]


def _null_safe(work: Callable[..., object]) -> Work:
    def safe(value: object, record: object, _: AggregateFunction) -> object:
        if value is None or record is None:
            return record if value is None else value
        return work(value, record)

    return safe


def _listagg(value: str | None, record: str | None, function: AggregateFunction) -> str | None:
    if not (record or "").strip():
        return value
    if value is None or not value.strip():
        return record
    assert record is not None
    mark = function.list_agg_delimiter
    if not function.distinct:
        return value + mark + record
    for token in record.split(mark):
        if token.strip() and token not in value.split(mark):
            value += mark + token
    return value


def _collect(
    value: list[object] | None, record: list[object] | None, f: AggregateFunction
) -> object:
    if value is None and record is None:
        return None
    both = [*(value or []), *(record or [])]
    return list(dict.fromkeys(both)) if f.distinct else both


def _uncollect(value: list[object] | None, record: list[object] | None, _: object) -> object:
    if value is None or not record:
        return value
    gone, kept = list(record), []
    for element in value:
        if element in gone:
            gone.remove(element)
        else:
            kept.append(element)
    return kept


def _map(value: list[tuple[object, object]], record: list[tuple[object, object]]) -> object:
    return list({**dict(value), **dict(record)}.items())


def _unmap(value: list[tuple[object, object]] | None, record: object, _: object) -> object:
    if value is None or not isinstance(record, list) or not record:
        return value
    gone = dict(record)
    return [(key, item) for key, item in value if key not in gone]


def _nested(
    value: list[Values] | None, record: list[Values] | None, f: AggregateFunction
) -> object:
    if record is None:
        return value
    old, new = [one for one in value or [] if one], [one for one in record if one]
    if not f.nested_key:
        room = max(f.count_limit - len(old), 0)
        return value if value is not None and not room else old + new[:room]
    table: dict[tuple[object, ...], Values] = {}
    for limited, part in ((False, old), (True, new)):
        for one in part:
            key = tuple(one[name] for name in f.nested_key)
            known = table.get(key)
            if known is None:
                if not limited or len(table) < f.count_limit:
                    table[key] = one
            elif _rank(one, f.nested_sequence_field) >= _rank(known, f.nested_sequence_field):
                table[key] = one
    return list(table.values())


def _unnested(
    value: list[Values] | None, record: list[Values] | None, f: AggregateFunction
) -> object:
    if value is None or record is None:
        return value
    names = f.nested_key or ("i", "s", "n")
    gone = [[one[name] for name in names] for one in record if one]
    kept = [one for one in value if one and [one[name] for name in names] not in gone]
    if f.nested_key:
        kept = list({tuple(one[name] for name in names): one for one in kept}.values())
    return kept


def _filled(
    value: list[Values] | None, record: list[Values] | None, f: AggregateFunction
) -> object:
    if record is None:
        return value
    table: dict[tuple[object, ...], Values] = {}
    for one in [*(value or []), *record]:
        if one:
            key = tuple(one[name] for name in f.nested_key)
            known = table.setdefault(key, dict.fromkeys(one))
            known.update({name: item for name, item in one.items() if item is not None})
    return list(table.values())


def _negative_sum(value: object, record: object, _: object) -> object:
    if value is None or record is None:
        return -record if value is None and record is not None else value  # type: ignore[operator]  # a number
    return value - record  # type: ignore[operator]  # numbers


ADDS: Mapping[str, Work] = {
    "sum": _null_safe(lambda value, record: value + record),
    "max": _null_safe(max),
    "min": _null_safe(min),
    "bool_or": _null_safe(lambda value, record: value or record),
    "bool_and": _null_safe(lambda value, record: value and record),
    "product": _null_safe(lambda value, record: value * record),
    "last_value": lambda value, record, f: record,  # noqa: ARG005 # one signature for all
    "last_non_null_value": lambda value, record, f: value if record is None else record,  # noqa: ARG005 # dito
    "listagg": _listagg,
    "collect": _collect,
    "merge_map": _null_safe(_map),
    "nested_update": _nested,
    "nested_partial_update": _filled,
}
RETRACTS: Mapping[str, Work] = {
    "sum": _negative_sum,
    "last_value": lambda value, record, f: None,  # noqa: ARG005 # one signature for all
    "last_non_null_value": lambda value, record, f: value if record is None else None,  # noqa: ARG005 # dito
    "collect": _uncollect,
    "merge_map": _unmap,
    "nested_update": _unnested,
}


# ---------------------------------------------------------------- engines


def _aggregated(records: Sequence[Record], spec: MergeSpec) -> Record:
    columns = {name: Accumulator(function) for name, function in spec.functions.items()}
    removed = False
    for record in records:
        removed = spec.remove_on_delete and record.kind == "-D"
        for name, column in columns.items():
            if removed:
                column.value = record.values[name]
            elif record.is_retract:
                column.retract(record.values[name])
            else:
                column.add(record.values[name])
    last = records[-1]
    found = {
        name: columns[name].value if name in columns else last.values[name] for name in last.values
    }
    return Record("-D" if removed else "+I", last.number, found)


@dataclass
class _Row:
    """The row of a partial update so far."""

    spec: MergeSpec
    values: Values
    columns: dict[str, Accumulator]
    added: bool = False
    removed: bool = False
    number: int = 0
    touched: bool = field(default=False)

    def replace(self, record: Record) -> None:
        """The row becomes the record."""
        self.values = dict(record.values)
        for name, column in self.columns.items():
            column.value = record.values[name]

    def fill(self, record: Record) -> None:
        """Columns of no group: what is not null."""
        grouped = {
            name
            for group in self.spec.sequence_groups
            for name in (*group.ordering, *group.columns)
        }
        for name, value in record.values.items():
            if name not in grouped and value is not None:
                self.values[name] = value

    def follow(self, group: SequenceGroup, record: Record) -> bool:
        """Columns of a group. Whether the record removes the row."""
        if all(record.values[name] is None for name in group.ordering):
            return False
        newer = _rank(record.values, group.ordering) >= _rank(self.values, group.ordering)
        if newer and group.removes and record.kind == "-D":
            return True
        for name in group.columns:
            self._step(name, record, newer=newer)
        if newer:
            self.values.update({name: record.values[name] for name in group.ordering})
        return False

    def _step(self, name: str, record: Record, *, newer: bool) -> None:
        value, column = record.values[name], self.columns.get(name)
        if column is None:
            if newer:
                self.values[name] = None if record.is_retract else value
            return
        if record.is_retract:
            column.retract(value)
        elif newer:
            column.add(value)
        else:
            column.add_older(value)
        self.values[name] = column.value


def _updated(records: Sequence[Record], spec: MergeSpec) -> Record:
    grouped = {name for group in spec.sequence_groups for name in group.columns}
    columns = {name: Accumulator(f) for name, f in spec.functions.items() if name in grouped}
    row = _Row(spec, dict.fromkeys(records[0].values), columns)
    for record in records:
        row.removed = False
        if record.is_retract and not row.touched:
            row.replace(record)
        row.touched = True
        if record.is_retract and spec.ignore_delete:
            continue
        row.number = record.number
        _apply(row, record)
    kind = "-D" if row.removed or not row.added else "+I"
    return Record(kind, row.number, row.values)


def _apply(row: _Row, record: Record) -> None:
    spec = row.spec
    if not record.is_retract:
        row.added = True
        row.fill(record)
    elif not spec.sequence_groups:
        if not spec.remove_on_delete:
            raise RefusedError
        row.removed = record.kind == "-D"
    before = (dict(row.values), {name: column.value for name, column in row.columns.items()})
    for group in spec.sequence_groups:
        row.removed = row.removed or row.follow(group, record)
    if row.removed:
        del before
        row.replace(record)
