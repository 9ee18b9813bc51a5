# ruff: noqa: PLC0414 - re-exported
"""The types in annotations of `Table.inspect`, each imported on first use; see `lazy_types`."""

from typing import TYPE_CHECKING, Any

from paimon_explore.table.operations.type_imports import imported_type

if TYPE_CHECKING:
    from paimon_explore.inspection.byte_inspector.byte_layout import ByteLayout as ByteLayout
    from paimon_explore.inspection.explain.commit_replay import Replay as Replay
    from paimon_explore.inspection.explain.file_explanation import (
        FileExplanation as FileExplanation,
    )
    from paimon_explore.inspection.history.schema_history import SchemaHistory as SchemaHistory
    from paimon_explore.inspection.history.timeline import Timeline as Timeline
    from paimon_explore.inspection.overview.overview_report import Overview as Overview
    from paimon_explore.inspection.partition_argument import Given as Given
    from paimon_explore.inspection.views.lsm_tree_view import LsmSection as LsmSection
    from paimon_explore.inspection.views.manifest_tree import Children as Children
    from paimon_explore.inspection.views.node_detail import Document as Document
    from paimon_explore.inspection.views.partition_heatmap import PartitionHeat as PartitionHeat


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a type of any kind
    """Import a type; PEP 562."""
    return imported_type(__name__, name)
