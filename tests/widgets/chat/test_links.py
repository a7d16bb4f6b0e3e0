"""What can be clicked in a text of somebody else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QUrl

from widgets.chat.links import can_be_opened, find_links


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see https://example.org/a?b=c#d.", ["https://example.org/a?b=c#d"]),
        ("(https://example.org/wiki/A_(b))", ["https://example.org/wiki/A_(b)"]),
        ("HTTP://EXAMPLE.ORG, then", ["HTTP://EXAMPLE.ORG"]),
        (
            "ada@example.org and mailto:jun@example.org!",
            ["ada@example.org", "mailto:jun@example.org"],
        ),
        ("javascript:alert(1) file:///etc/passwd ftp://x.y", []),
        ("http:// https:/// mailto:", []),
        ("see https://" + "a" * 3000, []),
        ("😀 https://example.org", ["https://example.org"]),
    ],
)
def test_addresses_of_web_and_mail_are_found(text: str, found: list[str]) -> None:
    assert [text[link.start : link.end] for link in find_links(text)] == found


@given(st.text(alphabet="htps:/.@()[] ax\u202e😀\n", max_size=60))
def test_every_link_is_a_part_of_the_text_that_may_be_opened(text: str) -> None:
    end = 0
    for link in find_links(text):
        assert end <= link.start < link.end <= len(text)
        end = link.end
        assert can_be_opened(QUrl(link.url))
