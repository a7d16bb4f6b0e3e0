"""Owns what a doctor says: findings, which are data, and how they are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from transport.sentences import worded


class Verdict(StrEnum):
    GOOD = "good"
    ODD = "odd"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; `subject` names it to programs, `fix` is what to do, empty
    when nothing is wrong."""

    subject: str
    verdict: Verdict
    sentence: str
    fix: str = ""


def good(subject: str, sentence: str) -> Finding:
    return Finding(subject, Verdict.GOOD, sentence)


def odd(subject: str, sentence: str, fix: str) -> Finding:
    return Finding(subject, Verdict.ODD, sentence, fix)


def bad(subject: str, sentence: str, fix: str) -> Finding:
    return Finding(subject, Verdict.BAD, sentence, fix)


def _verdict_words() -> dict[Verdict, str]:
    """Worst first."""
    return {
        Verdict.BAD: worded("bad"),
        Verdict.ODD: worded("odd"),
        Verdict.GOOD: worded("good"),
    }


def _subject_words() -> dict[str, str]:
    """How people read them."""
    return {
        "firewall": worded("firewall"),
        "mdns": "mDNS",
        "multicast": worded("multicast"),
        "unicast": worded("unicast"),
        "vpn": "VPN",
        "clock": worded("clock"),
        "event log": worded("event log"),
        "identity": worded("identity"),
        "interface": worded("interface"),
        "isolation": worded("isolation"),
        "key": worded("key"),
        "membership": worded("membership"),
        "multicast from others": worded("multicast from others"),
        "path": worded("path"),
        "peer": worded("other computer"),
        "program": worded("program"),
        "route": worded("route"),
        "version": worded("version"),
        "wireless": worded("wireless"),
        "dropped_not_authentic": worded("foreign packets"),
        "udp_kernel_drops": worded("overload"),
        "udp_send_errors": worded("sending"),
        "messages_forged": worded("false seals"),
        "evicted": worded("put out"),
    }


def as_text(findings: Sequence[Finding]) -> str:
    """The findings for a terminal, the worst first."""
    verdicts, subjects = _verdict_words(), _subject_words()
    order = list(verdicts)
    width = max(len(word) for word in verdicts.values()) + 1
    lines = []
    for finding in sorted(findings, key=lambda finding: order.index(finding.verdict)):
        subject = subjects.get(finding.subject, finding.subject)
        lines.append(f"{verdicts[finding.verdict]:<{width}}{subject}: {finding.sentence}")
        if finding.fix:
            lines.append(" " * width + f"-> {finding.fix}")
    return "\n".join(lines or [worded("Nothing could be looked at on this system.")]) + "\n"


def as_json(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    return [asdict(finding) for finding in findings]
