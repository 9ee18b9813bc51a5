"""The REST catalog of Paimon: HTTP client, authentication, and the metastore on top of them.

Spec: concepts/rest, and Paimon's OpenAPI document of the REST catalog.
"""
