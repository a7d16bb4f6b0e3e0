"""Formulas of tables: read into a tree, evaluated without ever running code."""
