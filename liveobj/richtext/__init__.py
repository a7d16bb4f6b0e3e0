"""Formatted text: paragraphs, tables, images and objects as plain data, replicated and in files."""
