# ruff: noqa: PLC0414 - re-exported
"""The types in annotations of `Table.inspect` and its rows, each imported on first use.

See `lazy_types`.
"""

import ast
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paimon_explore.inspection.byte_inspector.byte_layout import ByteLayout as ByteLayout
    from paimon_explore.inspection.explain.commit_replay import Replay as Replay
    from paimon_explore.inspection.explain.file_explanation import (
        FileExplanation as FileExplanation,
    )
    from paimon_explore.inspection.history.timeline import Timeline as Timeline
    from paimon_explore.inspection.overview.overview_report import Overview as Overview
    from paimon_explore.inspection.partition_argument import Given as Given
    from paimon_explore.inspection.views.lsm_tree_view import LsmSection as LsmSection
    from paimon_explore.inspection.views.manifest_tree import Children as Children
    from paimon_explore.inspection.views.node_detail import Document as Document
    from paimon_explore.inspection.views.partition_heatmap import PartitionHeat as PartitionHeat
    from paimon_explore.inspection.views.schema_history import SchemaHistory as SchemaHistory
    from paimon_explore.scan.predicate.sql_parser import Where as Where


@cache
def _modules(importer: str) -> dict[str, str]:
    """Return the module of each name that a module imports as that name, from its source."""
    from pkgutil import get_data

    package, _, name = importer.rpartition(".")
    source = get_data(package, f"{name}.py") or b""
    statements = [one for one in ast.walk(ast.parse(source)) if isinstance(one, ast.ImportFrom)]
    return {
        alias.name: one.module or "" for one in statements for alias in one.names if alias.asname
    }


def imported_type(importer: str, name: str) -> Any:  # noqa: ANN401 - a type of any kind
    """Return a type that a module imports for type checkers, as `name as name`.

    Args:
        importer: the module.
        name: the type.

    Raises:
        AttributeError: the module does not import it.
    """
    if not name.startswith("_") and name in _modules(importer):  # imports ask for `__path__`
        return getattr(import_module(_modules(importer)[name]), name)
    raise AttributeError(f"module {importer!r} has no attribute {name!r}", name=name, obj=None)


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a type of any kind
    """Import a type; PEP 562."""
    return imported_type(__name__, name)
