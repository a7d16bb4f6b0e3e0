"""Offline analysis of what engines have logged: a program of its own, on files."""
