"""Which bucket a row is written to, and the open writers of all buckets.

Fixed, dynamic and cross-partition buckets; `bucket_writers` bounds memory and open files.
"""
