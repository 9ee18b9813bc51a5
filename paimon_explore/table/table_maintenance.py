"""The methods of a table that change its schema, tags and branches, or remove old files."""

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.table import lazy_types as types
from paimon_explore.table.operations.common_operations import CommonOperations
from paimon_explore.table.table_inspect import ExplorableTable


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MaintainableTable(CommonOperations, ExplorableTable):
    """A table with its schema changes, tags, branches and expiry; `maintenance` has the rest."""

    @property
    def maintenance(self) -> "types.Maintenance":
        """All schema changes, tags, branches, rollback, expiry and checks, also the rarer ones.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.trips").maintenance.rename_tag("before", "start").name
        'start'
        """
        from paimon_explore.table.maintenance import Maintenance

        return Maintenance(store=self.store, dynamic_options=self.dynamic_options)
