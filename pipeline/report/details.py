"""Objects, regions and nodes one by one: the part of a report for whoever looks for something."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.report.figures import Figures
from pipeline.report.parts import figure, table
from pipeline.report.svg import bar_plot
from pipeline.report.words import (
    bytes_text,
    group_text,
    moment_text,
    node_text,
    number_text,
    share_text,
    time_text,
)


def objects(figures: Figures) -> Iterator[str]:
    busiest = figures.groups or figures.objects
    if not busiest:
        return
    yield "<h2>Objects</h2>"
    bars = [(group_text(row["group"]), float(row["messages"])) for row in busiest[:10]]
    yield figure(bar_plot("Deliveries of the busiest objects", bars, value_text=number_text))
    if figures.groups:
        yield table(
            figures.groups,
            [
                ("object", "group", group_text),
                ("deliveries", "messages", number_text),
                ("bytes", "bytes", bytes_text),
                ("sent", "own_messages", number_text),
                ("members, most", "members_max", number_text),
                ("changes of members", "views", number_text),
                ("an hour", "views_per_hour", number_text),
            ],
        )
    if not figures.objects:
        return
    yield (
        "<p>How long messages were under way is known where sender and receiver have the same"
        " clock.</p>"
    )
    yield table(
        figures.objects,
        [
            ("object", "group", group_text),
            ("deliveries", "messages", number_text),
            ("bytes", "bytes", bytes_text),
            ("latency, median", "latency_ns_p50", time_text),
            ("95 %", "latency_ns_p95", time_text),
            ("99 %", "latency_ns_p99", time_text),
        ],
    )


def engines(figures: Figures) -> Iterator[str]:
    if figures.regions:
        yield "<h2>Regions with the slowest tokens</h2>"
        yield (
            "<p>Round-trips and acknowledgements: median, and what 95 % stay below; packets"
            " pending: at most. Bytes, losses and repairs are those of nodes whose largest region"
            " it was.</p>"
        )
        yield table(
            figures.regions,
            [
                ("region", "region", node_text),
                ("members", "members_max", number_text),
                ("token", "token_round_ns_p50", time_text),
                ("95 %", "token_round_ns_p95", time_text),
                ("ack", "acknowledgement_ns_p50", time_text),
                ("95 %", "acknowledgement_ns_p95", time_text),
                ("pending", "pending_max", number_text),
                ("bytes/s", "bytes_per_s", bytes_text),
                ("lost", "packets_lost", number_text),
                ("repairs", "repairs_sent", number_text),
            ],
        )
    if figures.nodes:
        yield "<h2>Nodes that lost most</h2>"
        yield table(
            figures.nodes[:10],
            [
                ("node", "node", node_text),
                ("lost", "loss", share_text),
                ("repairs sent", "repairs_sent", number_text),
                ("datagrams in", "datagrams_received", number_text),
                ("not wanted", "messages_not_joined", number_text),
                ("memory, most", "pool_bytes_max", bytes_text),
            ],
        )
    if figures.bursts:
        yield "<h2>Bursts of losses</h2>"
        yield table(
            figures.bursts[:10],
            [
                ("node", "node", node_text),
                ("from (UTC)", "start_ns", moment_text),
                ("seconds", "seconds", number_text),
                ("packets", "packets_lost", number_text),
                ("worst", "loss_max", share_text),
            ],
        )
