"""The view of a rich document and its parts."""
