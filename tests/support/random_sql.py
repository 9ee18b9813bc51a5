"""Random SELECT statements, whose result must not depend on the engine.

A template has the types of its arguments in braces; an argument is a column, a constant or another
template. What the guide of SQL lists as different is not among the templates: the order of structs
and arrays with NULL in them, decimals that need more digits, and the like.
"""

import random
import re
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa

_COLUMNS = {
    "bool": ["b"],
    "tiny": ["ti"],
    "int": ["i", "id"],
    "long": ["l"],
    "float": ["f"],
    "double": ["d"],
    "decimal": ["m"],
    "text": ["s", "x", "g"],
    "bytes": ["bi"],
    "day": ["dt"],
    "time": ["n"],
    "instant": ["z"],
    "ints": ["ai"],
    "texts": ["ax"],
    "map": ["mp"],
}
_CONSTANTS = {
    "bool": ["true", "false"],
    "tiny": ["1Y", "-3Y"],
    "int": ["0", "1", "-1", "3", "100"],
    "long": ["1L", "-5L", "3000000000"],
    "float": ["0.1F", "CAST(1.5 AS FLOAT)"],
    "double": ["0.5D", "-1.5D", "1e10D"],
    "decimal": ["1.5", "-2.50"],
    "text": ["'a'", "''", "' x '", "'12'", "'é'", "'2024-02-29'"],
    "bytes": ["X'61'", "X'FF00'"],
    "day": ["DATE '2024-02-29'", "DATE '1969-12-31'"],
    "time": ["TIMESTAMP_NTZ '2024-02-29 10:11:12.123456'"],
    "instant": ["TIMESTAMP '1960-01-01 00:00:01.5'"],
    "ints": ["array(1, 2, NULL)"],
    "texts": ["array('a', 'b')"],
    "map": ["map('a', 1, 'b', NULL)"],
}
_GROUPS = {"whole": ["tiny", "int", "long"], "number": ["tiny", "int", "long", "double", "decimal"]}
_GROUPS |= {"moment": ["day", "time", "instant"], "array": ["ints", "texts"]}
_GROUPS["any"] = [*_GROUPS["number"], "bool", "text", "day", "time", "instant"]
_TEMPLATES = {
    "bool": """{number} = {number}; {number} < {number}; {text} <=> {text}; {moment} >= {moment};
        {bool} AND {bool}; {bool} OR {bool}; NOT {bool}; {any} IS NULL; {any} IS NOT NULL;
        {int} BETWEEN {int} AND {long}; {int} IN ({int}, {int}); {text} NOT IN ({text}, {text});
        {text} LIKE '%a%'; {text} RLIKE '[a-c]+'; {text} ILIKE 'A%'; contains({text}, {text});
        startswith({text}, {text}); array_contains({ints}, {int}); arrays_overlap({ints}, {ints});
        exists({ints}, v -> v > 1); forall({ints}, v -> v > 0); isnan({double}); {bool} IS TRUE""",
    "tiny": "{tiny} % {tiny}; pmod({tiny}, {tiny}); greatest({tiny}, {tiny})",
    "int": """{tiny} * 100; {tiny} + {int}; {int} % {int}; abs({int}); {int} & {int}; {int} << 2;
        shiftright({int}, {int}); shiftrightunsigned({int}, {tiny}); bit_count({long}); ~ {int};
        length({text}); length({bytes}); octet_length({text}); bit_length({bytes}); ascii({any});
        instr({text}, {text}); locate('a', {text}, {tiny}); levenshtein({text}, {text});
        size({array}); size({map}); year({moment}); month({moment}); quarter({moment});
        dayofweek({moment}); dayofyear({moment}); weekofyear({moment}); hour({moment});
        extract(DOW FROM {moment}); datediff({moment}, {moment}); get({ints}, {int});
        element_at({map}, 'a'); array_max({ints}); try_cast({text} AS INT);
        aggregate({ints}, 0, (a, v) -> a + coalesce(v, 1)); regexp_count({text}, 'a')""",
    "long": """{long} + {int}; {whole} div {whole}; shiftleft({long}, {int}); floor({double});
        ceil({double}); unix_timestamp({moment}); unix_millis({instant}); crc32({text});
        timestampdiff(MONTH, {moment}, {moment}); array_position({texts}, {text})""",
    "float": "{float} + {float}; {float} * {float}; - {float}; coalesce({float}, {float})",
    "double": """{number} * {double}; {float} * {int}; try_divide({float}, {int}); sqrt({double});
        exp({tiny}); ln({number}); log1p({double}); expm1({tiny}); cbrt({double});
        sin({double}); atan({double}); power({tiny}, 2); signum({int}); round({double}, 1);
        months_between({moment}, {moment}); coalesce({long}, {double})""",
    "decimal": "{decimal} + {tiny}; round({decimal}, 1); try_cast({text} AS DECIMAL(5, 2))",
    "text": """upper({text}); lower({text}); initcap({text}); trim({text}); ltrim({text});
        substring({text}, {tiny}); substring({text}, {tiny}, {tiny}); left({text}, {tiny});
        right({text}, {tiny}); lpad({text}, 5); rpad({text}, 6, 'xy'); repeat({text}, 2);
        reverse({text}); replace({text}, {text}, {text}); translate({text}, 'abc', 'xy');
        split_part({text}, ' ', 1); substring_index({text}, ' ', {tiny}); md5({text}); hex({whole});
        hex({text}); base64({bytes}); base64({text}); soundex({text}); format_number({number}, 2);
        {text} || {any}; concat({text}, {any}); concat_ws('-', {text}, {any});
        CAST({any} AS STRING); regexp_extract({text}, '[a-z]+', 0);
        regexp_replace({text}, '[a-c]', 'Z'); mask({text});
        array_join({texts}, ',', '-'); date_format({moment}, 'yyyy-MM-dd');
        to_json({texts}); typeof({any}); CAST({ints} AS STRING); CAST({map} AS STRING)""",
    "bytes": "unhex({text}); encode({text}, 'UTF-8'); substring({bytes}, {tiny})",
    "day": """date_add({moment}, {tiny}); {day} - 1; {day} + INTERVAL 1 MONTH;
        add_months({moment}, {tiny}); last_day({moment}); next_day({moment}, 'Mon');
        trunc({moment}, 'MM');
        to_date({moment}); try_cast({text} AS DATE)""",
    "time": "{time} + INTERVAL 90 MINUTES; {time} - INTERVAL 1 YEAR",
    "instant": """{instant} + INTERVAL 1 HOUR; date_trunc('MONTH', {moment});
        timestamp_millis({int});
        timestampadd(MONTH, {tiny}, {instant}); from_utc_timestamp({moment}, 'Asia/Tokyo')""",
    "ints": """array({int}, {tiny}); array_distinct({ints}); array_union({ints}, {ints});
        slice({ints}, 1, 2); array_except({ints}, {ints}); array_remove({ints}, {int});
        sort_array({ints}, false);
        transform({ints}, v -> v + 1); filter({ints}, (v, k) -> k > 0); map_values({map});
        reverse({ints}); concat({ints}, {ints}); array_append({ints}, {int})""",
    "texts": "split({text}, '[bc]'); transform({texts}, v -> upper(v)); map_keys({map})",
    "map": "map_concat({map}, map('z', {int})); map_filter({map}, (k, v) -> v > 1)",
}
_MAP = pa.map_(pa.string(), pa.int32())
_SAME = "CASE WHEN {bool} THEN {T} ELSE {T} END; nvl2({any}, {T}, {T}); coalesce({T}, {T})"
_KEYS = ("g", "b", "i % 2", "year(dt)", "length(s)", "x")
_AGGREGATES = """count(*); count({any}); count(DISTINCT {text}); sum({whole}); sum(DISTINCT {tiny});
    max({any}); min({any}); avg({whole}); count_if({bool}); bool_or({bool}); max_by({any}, id);
    stddev_pop({tiny}); bit_or({int}); sort_array(collect_list(i)); sort_array(collect_set(s));
    percentile({tiny}, 0.5); sum({int}) FILTER (WHERE {bool}); coalesce(sum({int}), 0) + 1"""
_WINDOWS = """sum({int}) OVER (PARTITION BY g ORDER BY id); lag({any}, 1) OVER (ORDER BY id);
    count({any}) OVER (PARTITION BY b ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING);
    max({any}) OVER (PARTITION BY g); last_value({any}) IGNORE NULLS OVER (ORDER BY id);
    percent_rank() OVER (ORDER BY {int}, id); sum(i) OVER (ORDER BY id RANGE 2 PRECEDING)"""


class RandomSql:
    """Makes statements on a table `t` with the columns of `rows`.

    Args:
        seed: of the random choices.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - no secret

    def statements(self, count: int) -> Iterator[str]:
        """Yield statements whose order of rows is known."""
        for _ in range(count):
            kind = self._random.choice(("columns", "columns", "groups", "windows", "where", "sets"))
            yield getattr(self, f"_{kind}")()

    def _columns(self) -> str:
        return f"SELECT id, {self._any(3)} AS v FROM t ORDER BY id"  # noqa: S608 - random

    def _where(self) -> str:
        return f"SELECT id FROM t WHERE {self._one('bool', 3)} ORDER BY id"  # noqa: S608 - random

    def _windows(self) -> str:
        return f"SELECT id, {self._filled(self._chosen(_WINDOWS), 1)} AS v FROM t ORDER BY id"  # noqa: S608 - random

    def _groups(self) -> str:
        keys = ", ".join(self._random.sample(_KEYS, 2))
        form = self._random.choice(("({})", "ROLLUP ({})", "CUBE ({})")).format(keys)
        values = ", ".join(self._filled(self._chosen(_AGGREGATES), 1) for _ in range(2))
        form = form.strip("()") if form.startswith("(") else form
        return f"SELECT {keys}, {values} FROM t GROUP BY {form} ORDER BY ALL"  # noqa: S608 - random

    def _sets(self) -> str:
        kind = self._random.choice(("int", "long", "text", "day", "bool"))
        operation = self._random.choice(("UNION", "UNION ALL", "INTERSECT", "EXCEPT"))
        sides = [f"SELECT {self._one(kind, 1)} AS v FROM t" for _ in range(2)]  # noqa: S608 - random
        return f"{f' {operation} '.join(sides)} ORDER BY v"

    def _any(self, depth: int) -> str:
        return self._one(self._random.choice(list(_TEMPLATES)), depth)

    def _one(self, kind: str, depth: int) -> str:
        kind = self._random.choice(_GROUPS.get(kind, [kind]))
        if depth == 0 or self._random.random() < 0.2:
            constants = _CONSTANTS[kind] if self._random.random() < 0.2 else _COLUMNS[kind]
            return self._random.choice(constants)
        templates = f"{_TEMPLATES[kind]}; {_SAME.replace('{T}', f'{{{kind}}}')}"
        return f"({self._filled(self._chosen(templates), depth - 1)})"

    def _chosen(self, templates: str) -> str:
        return self._random.choice(re.split(r";\s+", templates))

    def _filled(self, template: str, depth: int) -> str:
        return re.sub(r"\{(\w+)\}", lambda found: self._one(found[1], depth), template)


def rows() -> pa.Table:
    """Return the rows of the table `t`: usual values, empty ones and nulls."""
    one, two = datetime(2024, 1, 31, 10, 5, 30), datetime(1969, 12, 31, 23, 59, 59)  # noqa: DTZ001
    columns: dict[str, pa.Array[Any]] = {
        "id": pa.array([1, 2, 3, 4, 5], pa.int32()),
        "b": pa.array([True, False, None, True, None]),
        "ti": pa.array([1, -1, None, 7, 2], pa.int8()),
        "i": pa.array([100, 0, None, -7, 42], pa.int32()),
        "l": pa.array([1000, -5, None, 123456789, 9]),
        "f": pa.array([1.5, -0.5, None, 16777216, 0.1], pa.float32()),
        "d": pa.array([2.25, 0.1, None, float("nan"), -7.5]),
        "m": pa.array([Decimal("1.25"), Decimal("-2.50"), None, Decimal("99.99"), Decimal("0.00")]),
        "s": pa.array(["abc", "Hello World", None, "", "é😀x"]),
        "x": pa.array(["a", " pad ", None, "12", "b"]),
        "g": pa.array(["k1", "k1", None, "k2", "k2"]),
        "bi": pa.array([b"abc", b"", None, b"\x00\xff", b"9"]),
        "dt": pa.array([date(2024, 2, 29), date(1969, 12, 31), None, one.date(), date(1900, 3, 1)]),
        "n": pa.array([one, two, None, two, one], pa.timestamp("us")),
        "z": pa.array([one, two, None, two, one], pa.timestamp("us", "UTC")),
        "ai": pa.array([[1, 2, 3], [], None, [5, 5], [3, 1, 2]], pa.list_(pa.int32())),
        "ax": pa.array([["a", "b"], [], None, ["b", ""], ["C"]]),
        "mp": pa.array([[("a", 1), ("b", 2)], [], None, [("c", None)], [("a", 5)]], _MAP),
    }
    return pa.table(columns)
