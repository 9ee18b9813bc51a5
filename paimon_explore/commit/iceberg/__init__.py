"""Iceberg metadata of a table, written after each snapshot, so that Iceberg readers find its files.

The metadata is then registered in the catalog of the table's store, if its options ask for it.

Spec: iceberg/append-table, iceberg/primary-key-table; the Iceberg table specification, versions 2
and 3. Seen with the official Java 2.0.0.
"""
