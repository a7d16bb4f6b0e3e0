"""Sums that no log can make fail: Spark ends a whole job where a sum of whole numbers overflows."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

# Two sums can be added to each other without a further thought.
SUM_MAX = 1 << 61


def total(name: str) -> Column:
    """The sum of a column, exact up to 2^53, and never more than SUM_MAX. It has no name yet."""
    real = F.sum(F.col(name).cast("double"))
    return F.when(real > SUM_MAX, SUM_MAX).otherwise(real.cast("bigint"))
