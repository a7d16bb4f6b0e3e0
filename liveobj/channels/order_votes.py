"""Owns the counting of votes in an ordered channel: majorities, what they have agreed to, and the
numbers of ballots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_PROPOSER_BITS = 39


def agreed_end(electorate: Sequence[int], acks: Mapping[int, int], nothing: int) -> int:
    """How far a majority of the electorate has acknowledged; `nothing` stands for no answer."""
    answers = {identity: acks.get(identity, nothing) for identity in electorate}
    for end in sorted(set(answers.values()), reverse=True):
        if has_majority(electorate, [i for i, answer in answers.items() if answer >= end]):
            return end
    return nothing


def next_ballot(highest: int, proposer: int) -> int:
    """A number above `highest` that nobody else proposes: two sides of a divided network count
    alike, so the proposer's identity is in it (as much of it as fits; identities are random)."""
    return ((highest >> _PROPOSER_BITS) + 1 << _PROPOSER_BITS) | (
        proposer & ((1 << _PROPOSER_BITS) - 1)
    )


def has_majority(electorate: Sequence[int], present: Sequence[int]) -> bool:
    """More than half of those who were there; of exactly half, the one with the most senior."""
    there = sum(1 for identity in electorate if identity in present)
    if 2 * there == len(electorate):
        return bool(electorate) and electorate[0] in present
    return 2 * there > len(electorate)
