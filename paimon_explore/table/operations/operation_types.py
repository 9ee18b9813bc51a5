# ruff: noqa: PLC0414 - re-exported
"""The types in annotations of the common operations, each imported on first use.

`lazy_types` has those of the other methods of tables.
"""

from typing import TYPE_CHECKING, Any

from paimon_explore.table.operations.type_imports import imported_type

if TYPE_CHECKING:
    from paimon_explore.maintenance.checks.findings import FsckReport as FsckReport
    from paimon_explore.maintenance.expiry.file_removal import Removal as Removal
    from paimon_explore.maintenance.expiry.orphan_files import OrphanReport as OrphanReport
    from paimon_explore.maintenance.expiry.snapshot_expiry import ExpiryReport as ExpiryReport
    from paimon_explore.metadata.schema.schema_change import SchemaChange as SchemaChange
    from paimon_explore.metadata.tag import Tag as Tag
    from paimon_explore.table.operations.maintenance_arguments import Age as Age


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a type of any kind
    """Import a type; PEP 562."""
    return imported_type(__name__, name)
