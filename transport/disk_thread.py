"""Owns the one thread that waits for the disk where a window would feel the waiting: large files
take seconds to be synced."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache


@cache
def disk_thread() -> ThreadPoolExecutor:
    """Made when it is first needed. Work must touch nothing but files."""
    return ThreadPoolExecutor(1, thread_name_prefix="disk")
