# ruff: noqa: PLC0414 - re-exported
"""The types in annotations of the public API, each imported on first use.

Annotations are text such as `"types.Health"`: nothing is imported to define a method, and
`typing.get_type_hints` still finds the class.
"""

from typing import TYPE_CHECKING, Any

from paimon_explore.table.operations.report_types import imported_type

if TYPE_CHECKING:
    from paimon_explore.encoding.variant.paths import VariantPath as VariantPath
    from paimon_explore.inspection.compare.table_comparison import (
        TableComparison as TableComparison,
    )
    from paimon_explore.inspection.explain.expiry_preview import ExpiryPreview as ExpiryPreview
    from paimon_explore.inspection.explain.key_history import KeyHistory as KeyHistory
    from paimon_explore.inspection.explain.scan_explanation import (
        ScanExplanation as ScanExplanation,
    )
    from paimon_explore.inspection.health.health_report import Health as Health
    from paimon_explore.inspection.history.first_change import FirstChange as FirstChange
    from paimon_explore.inspection.partition_argument import Given as Given
    from paimon_explore.inspection.profile.table_profile import Profile as Profile
    from paimon_explore.inspection.rendering.result import Renderer as Renderer
    from paimon_explore.inspection.rows.rows_view import RowsView as RowsView
    from paimon_explore.inspection.views.files_view import FilesView as FilesView
    from paimon_explore.inspection.views.partitions_view import PartitionsView as PartitionsView
    from paimon_explore.inspection.views.snapshot_diff_view import SnapshotDiff as SnapshotDiff
    from paimon_explore.maintenance.checks.findings import FsckReport as FsckReport
    from paimon_explore.maintenance.expiry.file_removal import Removal as Removal
    from paimon_explore.maintenance.expiry.orphan_files import OrphanReport as OrphanReport
    from paimon_explore.maintenance.expiry.snapshot_expiry import ExpiryReport as ExpiryReport
    from paimon_explore.maintenance.row_level.assignments import NewValue as NewValue
    from paimon_explore.maintenance.row_level.merge_join import On as On
    from paimon_explore.metadata.consumer import Consumer as Consumer
    from paimon_explore.metadata.schema.schema_change import SchemaChange as SchemaChange
    from paimon_explore.metadata.tag import Tag as Tag
    from paimon_explore.metastore.view_values import FunctionChange as FunctionChange
    from paimon_explore.metastore.view_values import FunctionInfo as FunctionInfo
    from paimon_explore.metastore.view_values import PartitionInfo as PartitionInfo
    from paimon_explore.metastore.view_values import ViewChange as ViewChange
    from paimon_explore.metastore.view_values import ViewInfo as ViewInfo
    from paimon_explore.scan.predicate.sql_parser import Where as Where
    from paimon_explore.scan.search_indexes import SearchQuery as SearchQuery
    from paimon_explore.table.engine_scans.scan_part import ScanPart as ScanPart
    from paimon_explore.table.file_tables.format_table import FormatTable as FormatTable
    from paimon_explore.table.incremental_range import Increment as Increment
    from paimon_explore.table.maintenance import Maintenance as Maintenance
    from paimon_explore.table.merge_builder import Merge as Merge
    from paimon_explore.table.operations.maintenance_arguments import Age as Age
    from paimon_explore.table.operations.maintenance_arguments import Duration as Duration
    from paimon_explore.table.previews.what_if import WhatIf as WhatIf
    from paimon_explore.table.references import ConsumerListing as ConsumerListing
    from paimon_explore.table.references import Listing as Listing
    from paimon_explore.table.row_changes import Change as Change
    from paimon_explore.table.row_reader import RowSource as RowSource
    from paimon_explore.table.sql_results.sql_result import Parameters as Parameters
    from paimon_explore.table.sql_results.sql_result import SqlResult as SqlResult
    from paimon_explore.table.streams.change_stream import ChangeStream as ChangeStream
    from paimon_explore.table.streams.stream_position import StreamPoint as StreamPoint
    from paimon_explore.table.table_inspection import TableInspection as TableInspection
    from paimon_explore.widgets.explorer import Explorer as Explorer
    from paimon_explore.widgets.warehouse import CatalogExplorer as CatalogExplorer
    from paimon_explore.write.input.table_batches import Rows as Rows


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a type of any kind
    """Import a type; PEP 562."""
    return imported_type(__name__, name)
