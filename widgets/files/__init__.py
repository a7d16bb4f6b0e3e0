"""The view of shared files."""
