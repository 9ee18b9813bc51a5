"""Bytes in, bytes out: local disk, memory, object stores and HDFS behind one `FileIO` protocol.

Knows no Paimon term. May import `errors` only. Its one promise that everything rests on is
`FileIO.create`: a file appears wholly or not at all, and never replaces another.
"""
