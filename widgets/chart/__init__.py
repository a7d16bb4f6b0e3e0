"""The view of a chart."""
