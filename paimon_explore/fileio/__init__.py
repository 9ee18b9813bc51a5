"""File systems and object stores with one `FileIO` interface: local, memory, S3, GCS, Azure, HDFS.

Independent of the Paimon format. `FileIO.create` is atomic, on which commits rely: a file appears
completely or not at all, and never replaces an existing file.
"""
