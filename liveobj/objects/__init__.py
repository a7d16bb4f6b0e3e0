"""The standard objects, one file each."""
