"""Health checks of a table: findings with figure, threshold and evidence.

`health_report` runs the rules of `health_rules`.
"""
