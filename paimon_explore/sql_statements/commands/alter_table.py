"""ALTER TABLE, with the clauses for tags, branches and partitions that Paimon adds.

Syntax:

    ALTER TABLE table ADD [COLUMN | COLUMNS] {column, ... | (column, ...)}
    ALTER TABLE table DROP [COLUMN | COLUMNS] [IF EXISTS] {name, ... | (name, ...)}
    ALTER TABLE table RENAME [COLUMN] name TO name
    ALTER TABLE table ALTER [COLUMN] name TYPE type
    ALTER TABLE table ALTER [COLUMN] name COMMENT 'text'
    ALTER TABLE table ALTER [COLUMN] name {FIRST | AFTER name}
    ALTER TABLE table ALTER [COLUMN] name {SET | DROP} NOT NULL
    ALTER TABLE table ALTER [COLUMN] name {SET DEFAULT constant | DROP DEFAULT}
    ALTER TABLE table {CHANGE [COLUMN] name | MODIFY} column
    ALTER TABLE table RENAME TO table
    ALTER TABLE table SET [TBLPROPERTIES] ('key' = 'value', ...)
    ALTER TABLE table {UNSET TBLPROPERTIES [IF EXISTS] | RESET} ('key', ...)
    ALTER TABLE table CREATE TAG [IF NOT EXISTS] name [AS OF VERSION id] [RETAIN time]
    ALTER TABLE table [CREATE OR] REPLACE TAG name [AS OF VERSION id] [RETAIN time]
    ALTER TABLE table RENAME TAG [IF EXISTS] name TO name
    ALTER TABLE table {DROP | DELETE} {TAG | BRANCH} [IF EXISTS] name       several: `name, name`
    ALTER TABLE table CREATE BRANCH [IF NOT EXISTS] name [{AS OF | FROM} TAG name]
    ALTER TABLE table RENAME BRANCH name TO name
    ALTER TABLE table ADD [IF NOT EXISTS] PARTITION (name = constant, ...) ...
    ALTER TABLE table DROP [IF EXISTS] PARTITION (name = constant, ...), ... [PURGE]
    COMMENT ON {TABLE table | {DATABASE | SCHEMA | NAMESPACE} database} IS {'text' | NULL}
    time = number {DAYS | HOURS | MINUTES | SECONDS}
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial

from paimon_explore.data_types.definitions import AtomicType, DataType, RowType, TypeRoot
from paimon_explore.errors import (
    AlreadyExistsError,
    InvalidInputError,
    NotFoundError,
    UnsupportedFeatureError,
    choices,
)
from paimon_explore.maintenance.row_level.assignments import path_of
from paimon_explore.metadata.options.table_options import METASTORE_PARTITIONED_TABLE
from paimon_explore.metadata.schema.schema_change import (
    AddColumn,
    ChangeColumnComment,
    ChangeDefault,
    ChangeNullability,
    ChangeType,
    ColumnPath,
    DropColumn,
    Move,
    MoveColumn,
    Position,
    RemoveOption,
    RenameColumn,
    SchemaChange,
    SetComment,
    SetOption,
)
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.sql_statements.clauses import (
    check_options,
    option_keys,
    options_of,
    partition_spec,
)
from paimon_explore.sql_statements.commands.ddl_statements import (
    is_database_of_engine,
    plain_default,
    written_column,
)
from paimon_explore.sql_statements.commands.show_statements import (
    partition_texts_of,
    partitions_of,
)
from paimon_explore.sql_statements.data_type_names import column_type
from paimon_explore.sql_statements.outcome import Answer, committed, done
from paimon_explore.sql_statements.table_resolution import Name, Warehouse
from paimon_explore.sql_statements.tokenizer import Reader
from paimon_explore.store.catalog_environment import PartitionEnvironment
from paimon_explore.table.latest_schema import latest_schema
from paimon_explore.table.table import Table
from paimon_explore.table.table_base import store_of

_UNKNOWN = AtomicType(root=TypeRoot.BOOLEAN)
"""In place of the type of a column that does not exist: it has no members."""
_UNITS = {"DAY": 86_400, "HOUR": 3_600, "MINUTE": 60, "SECOND": 1}


_Act = Callable[[], Answer]
"""What a statement does, after all of it has been read."""


class _Alter:
    """Runs one ALTER TABLE statement.

    Args:
        warehouse: resolves table names.
        reader: positioned after the table's name.
        name: the table.
    """

    def __init__(self, warehouse: Warehouse, reader: Reader, name: Name) -> None:
        self._warehouse = warehouse
        self._reader = reader
        self._name = name
        self._table: Table = warehouse.base(name)

    @property
    def _schema(self) -> TableSchema:
        return latest_schema(store_of(self._table))

    def run(self) -> Answer:
        known: Mapping[str, Callable[[], _Act]] = {
            "ADD": self._add,
            "RENAME": self._rename,
            "DROP": self._drop,
            "ALTER": self._column,
            "CHANGE": self._column,
            "MODIFY": self._new_column,
            "SET": self._set,
            "UNSET": self._unset,
            "RESET": partial(self._remove_options, ignore=True),
            "CREATE": self._create,
            "REPLACE": self._replace,
            "DELETE": self._delete,
        }
        word = self._reader.expect_one(*known, part="ALTER TABLE")
        act = known[word]()
        self._reader.end()
        return act()

    def _alter(self, *changes: SchemaChange) -> _Act:
        return _later(self._table.alter, *changes) if changes else done

    def _path(self, path: tuple[str, ...]) -> ColumnPath:
        """Return a column path in the spelling of the table; unknown parts as they are."""
        kind: DataType = self._schema.row_type
        found: list[str] = []
        for part in path:
            fields = (
                {field.name: field for field in kind.fields} if isinstance(kind, RowType) else {}
            )
            alike = [name for name in fields if name.lower() == part.lower()]
            found.append(alike[0] if part not in fields and len(alike) == 1 else part)
            kind = fields[found[-1]].type if found[-1] in fields else _UNKNOWN
        return tuple(found)

    def _sibling(self, path: ColumnPath, name: str) -> str:
        """Return the name of a column beside another one in the spelling of the table."""
        return self._path((*path[:-1], name))[-1]

    def _renamed(self, path: ColumnPath, name: str) -> RenameColumn:
        other = self._sibling(path, name)  # which exists, if it differs only in case
        return RenameColumn(column=path, name=name if other == path[-1] else other)

    def _move(self, path: ColumnPath, *, first: bool, after: str | None) -> Move | None:
        if first:
            return Move(position=Position.FIRST)
        if after is None:
            return None
        return Move(position=Position.AFTER, reference=self._sibling(path, after))

    def _add(self) -> _Act:
        if self._reader.comes("PARTITION") or self._reader.comes("IF", "NOT", "EXISTS"):
            return self._add_partitions()
        self._reader.takes_one("COLUMN", "COLUMNS")
        inner = Reader(self._reader.group("the columns")) if self._reader.comes("(") else None
        reader = inner or self._reader
        changes: list[SchemaChange] = []
        names: dict[ColumnPath, set[str]] = {}
        while True:
            one = written_column(reader, nested=True)
            path = self._path(one.path)
            move = self._move(path, first=one.first, after=one.after)
            if path[-1].lower() in names.setdefault(path[:-1], set()):
                raise InvalidInputError(
                    f"ADD COLUMN names {'.'.join(path)!r} twice.",
                    hint="Names of columns ignore case in SQL.",
                )
            names[path[:-1]].add(path[-1].lower())
            changes.append(AddColumn(column=path, type=one.type, comment=one.comment, move=move))
            if one.default is not None:
                changes.append(ChangeDefault(column=path, default_value=one.default))
            if not reader.takes(","):
                return self._alter(*changes)

    def _rename(self) -> _Act:
        reader = self._reader
        if reader.takes("TAG"):
            return self._rename_tag()
        if reader.takes("BRANCH"):
            old = reader.identifier("the branch")
            reader.expect("TO", part="RENAME BRANCH")
            new = reader.identifier("the branch")
            return _later(self._table.maintenance.rename_branch, old, new)
        if not reader.takes("TO"):
            reader.takes("COLUMN")
            path = self._path(reader.path("the column"))
            reader.expect("TO", part="RENAME COLUMN")
            return self._alter(self._renamed(path, reader.identifier("the column")))
        target = self._warehouse.new_name(self._name, reader.path("the new name"))
        rename = self._warehouse.warehouse().rename_table
        return _later(rename, self._table.name, target.table)

    def _drop(self) -> _Act:
        reader = self._reader
        if reader.comes("PARTITION") or reader.comes("IF", "EXISTS", "PARTITION"):
            return self._drop_partitions()
        if reader.here.word in {"TAG", "BRANCH"}:
            return self._delete()
        reader.takes_one("COLUMN", "COLUMNS")
        ignore = reader.takes("IF", "EXISTS")
        if reader.here.sign == "(":
            paths = reader.paths("the columns")
        else:
            paths = [reader.path("a column")]
            while reader.takes(","):
                paths.append(reader.path("a column"))
        known = {name.lower() for name in self._schema.row_type.names}
        kept = [path for path in paths if not ignore or path[0].lower() in known]
        return self._alter(*[DropColumn(column=self._path(path)) for path in kept])

    def _add_partitions(self) -> _Act:
        """Add partitions to a catalog that keeps them; elsewhere they exist if they have rows."""
        reader, table = self._reader, self._table
        ignores_known = reader.takes("IF", "NOT", "EXISTS")
        specs = []
        while reader.takes("PARTITION"):
            spec = partition_spec(self._warehouse, reader, self._schema)
            texts = partition_texts_of(table, spec)
            if set(spec) != set(self._schema.partition_keys):
                hint = f"Partition columns: {choices(self._schema.partition_keys)}."
                msg = "ADD PARTITION needs a value for each partition column."
                raise InvalidInputError(msg, hint=hint)
            if partitions_of(table, spec) and not ignores_known:
                text = "/".join(f"{key}={value}" for key, value in texts.items())
                raise AlreadyExistsError("partition", text, table.name)
            specs.append(texts)
        environment = store_of(table).environment
        is_kept = table.options.value(METASTORE_PARTITIONED_TABLE)
        if is_kept and isinstance(environment, PartitionEnvironment):
            return _later(environment.add_partitions, specs)
        return done

    def _drop_partitions(self) -> _Act:
        reader = self._reader
        ignores_missing = reader.takes("IF", "EXISTS")
        specs = []
        while reader.takes("PARTITION"):
            specs.append(partition_spec(self._warehouse, reader, self._schema))
            reader.takes(",")
        reader.takes("PURGE")
        known = [spec for spec in specs if partitions_of(self._table, spec)]
        for spec in specs:
            if spec not in known and not ignores_missing:
                text = "/".join(f"{key}={value}" for key, value in spec.items())
                hint = "DROP IF EXISTS PARTITION ignores it."
                raise NotFoundError("partition", text, self._table.name, hint=hint)
        drop = self._table.drop_partitions
        return lambda: committed(drop(*known) if known else None)

    def _column(self) -> _Act:
        reader = self._reader
        reader.takes("COLUMN")
        path = self._path(reader.path("the column"))
        part = f"ALTER COLUMN {'.'.join(path)}"
        if reader.here.word not in _COLUMN_WORDS:
            return self._new_column(path)
        word = reader.expect_one(*_COLUMN_WORDS, part=part)
        if word == "TYPE":
            kind = column_type(reader.until("COMMENT", "FIRST", "AFTER", angles=True), path[-1])
            return self._alter(ChangeType(column=path, type=kind, keep_nullability=True))
        if word == "COMMENT":
            comment = reader.text("the comment")
            return self._alter(ChangeColumnComment(column=path, comment=comment))
        if word in {"FIRST", "AFTER"}:
            after = reader.identifier("a column") if word == "AFTER" else None
            move = self._move(path[:1], first=word == "FIRST", after=after)
            return self._alter(*([] if move is None else [MoveColumn(column=path[0], move=move)]))
        return self._set_column(word, path, part)

    def _set_column(self, word: str, path: ColumnPath, part: str) -> _Act:
        reader = self._reader
        what = reader.expect_one("NOT", "DEFAULT", part=f"{part} {word}")
        if what == "NOT":
            reader.expect("NULL", part=part)
            return self._alter(ChangeNullability(column=path, nullable=word == "DROP"))
        kind = path_of(".".join(path), self._schema.row_type)[-1].type
        value = None if word == "DROP" else plain_default(reader.rest(), kind)
        return self._alter(ChangeDefault(column=path, default_value=value))

    def _new_column(self, path: ColumnPath | None = None) -> _Act:
        """Run `CHANGE COLUMN a b INT COMMENT '…' AFTER c` (Hive), or `MODIFY a INT` (Flink)."""
        one = written_column(self._reader)
        names = path is not None
        path = path or self._path(one.path)
        changes: list[SchemaChange] = [
            ChangeType(column=path, type=one.type, keep_nullability=names)
        ]
        if one.comment is not None:
            changes.append(ChangeColumnComment(column=path, comment=one.comment))
        move = self._move(path[:1], first=one.first, after=one.after)
        if move is not None:
            changes.append(MoveColumn(column=path[0], move=move))
        if names and one.path[0] != path[-1]:
            changes.append(self._renamed(path, one.path[0]))
        return self._alter(*changes)

    def _set(self) -> _Act:
        if not self._reader.comes("("):
            self._reader.expect("TBLPROPERTIES", part="ALTER TABLE … SET")
        options = options_of(self._reader, "TBLPROPERTIES")
        comment = options.pop("comment", None)
        check_options(list(options), "TBLPROPERTIES")
        changes: list[SchemaChange] = [SetOption(key=k, value=v) for k, v in options.items()]
        if comment is not None:
            changes.append(SetComment(comment=comment))
        return self._alter(*changes)

    def _unset(self) -> _Act:
        self._reader.expect("TBLPROPERTIES", part="ALTER TABLE … UNSET")
        return self._remove_options(ignore=self._reader.takes("IF", "EXISTS"))

    def _remove_options(self, *, ignore: bool) -> _Act:
        keys = option_keys(self._reader)
        known = {*self._schema.options, "comment"}
        for key in keys:
            if key not in known and not ignore:
                hint = f"Options of the table: {choices(sorted(self._schema.options))}."
                raise NotFoundError("option", key, self._table.name, hint=hint)
        changes: list[SchemaChange] = [
            RemoveOption(key=key) for key in keys if key in self._schema.options
        ]
        if "comment" in keys:
            changes.append(SetComment(comment=None))
        return self._alter(*changes)

    def _create(self) -> _Act:
        if self._reader.takes("OR", "REPLACE"):
            return self._replace(creates=True)
        if self._reader.takes("BRANCH"):
            return self._create_branch()
        self._reader.expect("TAG", part="ALTER TABLE … CREATE")
        ignore = self._reader.takes("IF", "NOT", "EXISTS")
        name = self._reader.identifier("the tag")
        snapshot, retained = self._tag_options()

        def create() -> None:
            try:
                self._table.create_tag(name, snapshot, retained=retained)
            except AlreadyExistsError:
                if not ignore:
                    raise

        return _later(create)

    def _replace(self, *, creates: bool = False) -> _Act:
        self._reader.expect("TAG", part="ALTER TABLE … REPLACE")
        name = self._reader.identifier("the tag")
        snapshot, retained = self._tag_options()
        if creates and name not in self._table.tags:
            return _later(self._table.create_tag, name, snapshot, retained=retained)
        return _later(self._table.maintenance.replace_tag, name, snapshot, retained=retained)

    def _tag_options(self) -> tuple[int | None, timedelta | None]:
        """Read the options of a tag: `AS OF VERSION 3 RETAIN 2 DAYS`."""
        reader = self._reader
        snapshot = None
        if reader.takes("AS", "OF", "VERSION"):
            snapshot = reader.integer("the snapshot")
        if not reader.takes("RETAIN"):
            return snapshot, None
        number = reader.integer("RETAIN")
        words = [unit + s for unit in _UNITS for s in ("", "S")]
        unit = reader.expect_one(*words, part="RETAIN").removesuffix("S")
        return snapshot, timedelta(seconds=number * _UNITS[unit])

    def _create_branch(self) -> _Act:
        reader = self._reader
        ignore = reader.takes("IF", "NOT", "EXISTS")
        name = reader.identifier("the branch")
        tag = None
        if reader.takes("AS", "OF", "TAG") or reader.takes("FROM", "TAG"):
            tag = reader.path("the tag")[-1]
        if ignore and name in self._table.branches:
            return done
        return _later(self._table.create_branch, name, tag)

    def _delete(self) -> _Act:
        reader = self._reader
        what = reader.expect_one("TAG", "BRANCH", part="ALTER TABLE … DELETE")
        ignore = reader.takes("IF", "EXISTS")
        given = reader.identifier(f"the {what.lower()}")
        there = self._table.tags if what == "TAG" else self._table.branches
        delete = self._table.delete_tag if what == "TAG" else self._table.delete_branch
        names = [given] if given in there else [part.strip() for part in given.split(",")]

        def delete_each() -> None:
            for name in names:
                if name in there or not ignore:
                    delete(name)

        return _later(delete_each)

    def _rename_tag(self) -> _Act:
        ignore = self._reader.takes("IF", "EXISTS")
        old = self._reader.identifier("the tag")
        self._reader.expect("TO", part="RENAME TAG")
        new = self._reader.identifier("the tag")
        if ignore and old not in self._table.tags:
            return done
        return _later(self._table.maintenance.rename_tag, old, new)


def _later(act: Callable[..., object], *args: object, **options: object) -> _Act:
    def run() -> Answer:
        act(*args, **options)
        return done()

    return run


_COLUMN_WORDS = ("TYPE", "COMMENT", "FIRST", "AFTER", "SET", "DROP")


def alter_table(warehouse: Warehouse, reader: Reader) -> Answer | None:
    """Run the rest of an ALTER TABLE; return None if the table belongs to Spark."""
    name = warehouse.find_or_refuse(reader.path("the table"))
    return None if name is None else _Alter(warehouse, reader, name).run()


def comment_on(warehouse: Warehouse, reader: Reader) -> Answer | None:
    """Run COMMENT ON; return None if the table or database belongs to the engine."""
    reader.expect("ON", part="COMMENT")
    kind = reader.expect_one(
        "TABLE", "COLUMN", "DATABASE", "SCHEMA", "NAMESPACE", part="COMMENT ON"
    )
    if kind == "COLUMN":
        raise UnsupportedFeatureError(
            "COMMENT ON COLUMN", hint="Use ALTER TABLE table ALTER COLUMN column COMMENT 'text'."
        )
    parts = reader.path(f"the {kind.lower()}")
    reader.expect("IS", part=f"COMMENT ON {kind}")
    comment = None if reader.takes("NULL") else reader.text("the comment")
    reader.end()
    if kind == "TABLE":
        name = warehouse.find(parts)
        if name is None:
            return None
        warehouse.base(name).alter(SetComment(comment=comment))
        return done()
    if is_database_of_engine(warehouse, parts):
        return None
    given = {} if comment is None else {"comment": comment}
    removed = "comment" if comment is None else ()
    database = warehouse.known_database(parts[-1])
    warehouse.warehouse().alter_database(database, given, remove=removed)
    return done()
