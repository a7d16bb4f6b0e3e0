"""What the jobs advise applications to do, as one small file that each of them reads.

    {"form": 1, "together": {GROUP: [GROUP, …]}, "fold": [GROUP, …]}

`together`: with the object of the first group those are brought up to date, too, the surest first.
`fold`: objects with a long history that nobody adds to. Groups are hexadecimal; no person and no
name is in it, and who does not have an object learns nothing but a number.
"""

from __future__ import annotations

import json
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from pipeline.files import replace_file

FORM = 1
# What is fetched is used later at least that often, and more often than by chance.
CONFIDENCE_MIN = 0.4
LIFT_MIN = 1.2
OTHERS_MAX = 5
GROUPS_MAX = 20_000
FOLD_MAX = 2000


def write_hints(together: DataFrame, compaction: DataFrame, path: Path) -> dict[str, int]:
    """Writes the file as a whole, and says how much is in it."""
    sure = (
        together.where((F.col("confidence") >= CONFIDENCE_MIN) & (F.col("lift") >= LIFT_MIN))
        .where(F.col("place") <= OTHERS_MAX)
        .groupBy("group")
        .agg(
            F.sum("together").alias("times"),
            F.sort_array(F.collect_list(F.struct("place", "other"))).alias("others"),
        )
        .orderBy(F.desc("times"), "group")
        .limit(GROUPS_MAX)
    )
    pairs = {row["group"]: [other["other"] for other in row["others"]] for row in sure.collect()}
    fold = [row["group"] for row in compaction.limit(FOLD_MAX).collect()]
    text = json.dumps({"form": FORM, "together": pairs, "fold": fold})
    replace_file(path, text.encode())
    return {"objects_with_others": len(pairs), "objects_to_fold": len(fold)}
