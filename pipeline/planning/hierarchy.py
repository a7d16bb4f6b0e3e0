"""The strict rule of thesis 4.1.2: groups into hierarchies in which any two nest or are apart.

Largest group first, each into the first hierarchy that stays perfect. It makes no unwanted traffic
and is brittle: a few absences break the nesting. It is here to say what of figures 4.5 and 4.6
comes out again, and for groups that do nest.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.planning.interest import Interest, as_numbers


def perfect_hierarchies(interest: Interest) -> list[list[int]]:
    """The hierarchies, each a list of groups, in the order in which they were opened.

    Sizes only fall, so a group fits exactly when all its members now have the same innermost
    group: one label for each node and hierarchy decides.
    """
    sizes = [members.bit_count() for members in interest.members]
    order = sorted(range(len(sizes)), key=lambda group: (-sizes[group], interest.groups[group]))
    hierarchies: list[list[int]] = []
    labels: list[NDArray[np.int32]] = []
    for group in order:
        numbers = as_numbers(interest.members[group], interest.node_count)
        if not len(numbers):
            continue
        place = _first_fit(labels, numbers)
        if place == len(labels):
            hierarchies.append([])
            labels.append(np.full(interest.node_count, -1, dtype=np.int32))
        hierarchies[place].append(group)
        labels[place][numbers] = group
    return hierarchies


def _first_fit(labels: list[NDArray[np.int32]], numbers: NDArray[np.int64]) -> int:
    first, last = numbers[0], numbers[-1]
    for place, label in enumerate(labels):
        # Two members tell most misfits apart.
        if label[first] == label[last] and (label[numbers] == label[first]).all():
            return place
    return len(labels)
