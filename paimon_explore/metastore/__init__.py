"""Metastores: where the databases and tables of a catalog are recorded.

`metastore` defines the protocol, `filesystem_metastore` and the subpackages implement it,
`open_metastore` selects one by the options of a catalog (`catalog_options`).
"""
