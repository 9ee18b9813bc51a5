"""Assignment of rows to buckets, and the writers of all buckets.

Dynamic and cross-partition buckets; `bucket_writers` limits memory and open files.
"""
