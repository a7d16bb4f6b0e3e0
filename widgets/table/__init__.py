"""The view of a table."""
