"""The view of a folder."""
