"""Merge of a branch of an append table into another one: adds the files that it lacks.

The two branches must have only added rows since their first snapshots, which are all still there;
otherwise it is not known which files both have had. The files are shared: nothing is copied. The
merge is one commit, and merging again adds nothing.

Spec: maintenance/manage-branches; spark procedures, merge_branch.
"""

import numpy as np

from paimon_explore.commit.committer import Committer
from paimon_explore.commit.overwrite import all_files
from paimon_explore.commit.planned_again import repeated
from paimon_explore.commit.squash import bucket_messages
from paimon_explore.data_types.formatter import type_text
from paimon_explore.errors import InvalidInputError, NotFoundError, UnsupportedFeatureError, choices
from paimon_explore.maintenance.post_commit import run_post_commit
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import CommitKind, Snapshot
from paimon_explore.metadata.table_paths import MAIN_BRANCH
from paimon_explore.store.table_store import TableStore
from paimon_explore.store.version_management import version_management

_ADDING = frozenset({CommitKind.APPEND, CommitKind.ANALYZE})


def merge_branch(store: TableStore, source: str, target: str = MAIN_BRANCH) -> Snapshot | None:
    """Add the files of a branch to another one.

    Args:
        store: the table.
        source: the branch whose files are added.
        target: the branch that gets them.

    Returns:
        The new snapshot of the target; None if it had all the files.

    Raises:
        NotFoundError: a branch does not exist.
        InvalidInputError: the branches are the same, have no snapshots, have other commits than
            appends, have lost snapshots, or have different schemas.
        UnsupportedFeatureError: the table has a primary key or data evolution, or its catalog
            decides about branches.
    """
    options = TableOptions(_side(store, target)[1].options)
    return repeated(options, lambda _: _merge_once(store, source, target))


def _merge_once(store: TableStore, source: str, target: str) -> Snapshot | None:
    if version_management(store.environment) is not None:
        raise UnsupportedFeatureError("merging a branch of a table in a REST catalog")
    if source == target:
        raise InvalidInputError(f"Branch {source!r} cannot be merged into itself.")
    sides = [_side(store, name) for name in (source, target)]
    for name, (branch, schema) in zip((source, target), sides, strict=True):
        _check_kind(schema)
        _check_history(branch, name)
    (branch, schema), (into, own) = sides
    if schema.fields != own.fields:
        raise InvalidInputError(
            f"Branch {source!r} cannot be merged into {target!r}: they have different columns.",
            hint=f"{source!r} has {_differing(schema, own)}, {target!r} has "
            f"{_differing(own, schema)}. Change the columns of one branch to those of the other.",
        )
    tracks = [TableOptions(one.options).value(opt.ROW_TRACKING_ENABLED) for one in (schema, own)]
    if tracks[0] != tracks[1]:
        raise InvalidInputError(
            f"Branches {source!r} and {target!r} differ in the option 'row-tracking.enabled'."
        )
    new = _new_files(branch, into, schema)
    if not len(new):
        return None
    _check_schemas(branch, into, new, (source, target))
    return _commit(into, own, new)


def _differing(schema: TableSchema, other: TableSchema) -> str:
    """Return the columns that another schema does not have in this form."""
    columns = [field for field in schema.fields if field not in other.fields]
    return choices(f"{field.name} {type_text(field.type)}" for field in columns)


def _side(store: TableStore, name: str) -> tuple[TableStore, TableSchema]:
    if name != MAIN_BRANCH and not store.branches.exists(name):
        hint = f"Branches: {choices([MAIN_BRANCH, *store.branches.names()])}."
        raise NotFoundError("branch", name, store.paths.root, hint=hint)
    branch = store.for_branch(name)
    schema = branch.schemas.latest()
    if schema is None:
        raise NotFoundError("schema of branch", name, store.paths.root)
    return branch, schema


def _check_kind(schema: TableSchema) -> None:
    if schema.primary_keys:
        raise UnsupportedFeatureError("merging a branch of a table with a primary key")
    if TableOptions(schema.options).value(opt.DATA_EVOLUTION_ENABLED):
        raise UnsupportedFeatureError("merging a branch of a table with data evolution")


def _check_history(branch: TableStore, name: str) -> None:
    """Check that a branch has all its snapshots, and that they only add rows."""
    history = branch.snapshots.history()
    if not history:
        raise InvalidInputError(f"Branch {name!r} has no snapshot to merge.")
    rule = (
        f"A merge requires all snapshots of {name!r} from 1 on, and each of them must only add "
        "rows. Append the rows of one branch to the other instead."
    )
    if history[0] != 1:
        raise InvalidInputError(
            f"The snapshots before {history[0]} of branch {name!r} are missing.", hint=rule
        )
    for number in history:
        kind = branch.snapshots.load(number).commit_kind
        if kind not in _ADDING:
            raise InvalidInputError(
                f"Snapshot {number} of branch {name!r} is of kind {kind.value}.", hint=rule
            )


def _new_files(branch: TableStore, into: TableStore, schema: TableSchema) -> ManifestEntries:
    """Return the live files of a branch that another one does not have."""
    found, known = (
        ManifestEntries.empty()
        if (latest := side.snapshots.latest()) is None
        else all_files(side, schema, latest)
        for side in (branch, into)
    )
    names = {row["file_name"] for row in known.rows()}
    return found.filter(np.array([row["file_name"] not in names for row in found.rows()], np.bool_))


def _check_schemas(
    branch: TableStore, into: TableStore, new: ManifestEntries, names: tuple[str, str]
) -> None:
    """Check that the schemas of the files are the same in both branches."""
    for schema_id in sorted({int(str(row["schema_id"])) for row in new.rows()}):
        is_known = schema_id in into.schemas.ids()
        if not is_known or into.schemas.load(schema_id) != branch.schemas.load(schema_id):
            problem = "defines otherwise" if is_known else "does not have"
            raise InvalidInputError(
                f"Branch {names[0]!r} cannot be merged into {names[1]!r}: its files have schema "
                f"{schema_id}, which {names[1]!r} {problem}.",
                hint="Read the rows of the branch and append them instead.",
            )


def _commit(into: TableStore, schema: TableSchema, new: ManifestEntries) -> Snapshot:
    """Add files in one commit; they belong to the other branch, so they are never deleted."""
    rows = [{**row, "first_row_id": None} for row in new.rows()]
    messages = bucket_messages({"new_files": rows})
    options = TableOptions(schema.options)
    made = Committer(into, schema, options=options).commit(messages, check_appends=True)
    run_post_commit(into, schema, options, made[-1])
    return made[-1]
