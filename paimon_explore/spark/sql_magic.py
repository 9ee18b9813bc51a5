"""The notebook magic `%%paimon_sql`, whose cells Spark runs unless they name another engine."""

from paimon_explore.sql_statements.sql_magic import SPARK, Shell, register_sql_magic


def load_ipython_extension(shell: Shell) -> None:
    """Register `%paimon_sql` and `%%paimon_sql`; IPython calls this for `%load_ext`."""
    register_sql_magic(shell, SPARK)
