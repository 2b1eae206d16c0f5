"""Boards: ranking records, and showing boards and records in the terminal, as data and as a static site.

`rank` and `list_changes` decide (pure); the rest renders. The database belongs to `store`.
"""
