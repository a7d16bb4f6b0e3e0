"""The view of an image."""
