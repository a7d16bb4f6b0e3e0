"""Logs of offices that do not exist, of any size, from a seed."""
