"""Owns the formalism of delivery and ordering guarantees of a channel, as a lattice."""

from __future__ import annotations

from liveobj.formalisms.properties import PropertyFormalism, PropertyTable

# Definitions follow Chockler, Keidar and Vitenberg's survey of group communication, which the
# thesis takes its words from. "reliable" is about receivers that stay in the group; "total order"
# alone does not say that a sender's messages keep their order, nor that they arrive.
_IMPLIED: dict[str, tuple[str, ...]] = {
    "best effort": (),
    "at most once": ("best effort",),
    "at least once": ("best effort",),
    "exactly once": ("at most once", "at least once"),
    "reliable": ("at least once",),
    "fifo": (),
    "causal": ("fifo",),
    "total order": (),
    "optimistic order": (),
    "all or none": ("best effort",),
    "same view": (),
    "virtually synchronous": ("same view", "all or none", "reliable", "at most once", "fifo"),
    "atomic": ("total order", "all or none", "reliable", "at most once"),
    "durable": (),
    "checkpointed": (),
    "newest only": ("best effort",),
}
_SYNONYMS = {
    "virtual synchrony": "virtually synchronous",
    "totally ordered": "total order",
    "ordered": "fifo",
    "fifo order": "fifo",
    "causal order": "causal",
    "all or nothing": "all or none",
    "unreliable": "best effort",
    "atomic broadcast": "atomic",
    "persistent": "durable",
}


class DeliveryFormalism(PropertyFormalism):
    """For example: "reliable, fifo" or "virtually synchronous, total order"."""

    id = "live-objects:delivery"
    title = "delivery and ordering"
    table = PropertyTable(_IMPLIED, _SYNONYMS)
