"""The built-in formalisms: what they understand, what follows from what, and why not."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from itertools import product

import pytest

from liveobj.formalisms import FormalismRegistry, parse_constraint, parse_constraints
from liveobj.types import NotAConstraint, Structure

CHANNEL = Structure(incoming=frozenset({"send"}), outgoing=frozenset({"receive"}))

IMPLICATIONS = [
    ("delivery", "reliable, fifo", "fifo", True),
    ("delivery", "reliable, fifo", "total order", False),
    ("delivery", "virtually synchronous", "best effort", True),
    ("delivery", "Virtual Synchrony", "reliable, ordered, all-or-none", True),
    ("delivery", "virtually synchronous", "total order", False),
    ("delivery", "total order", "fifo", False),
    ("delivery", "causal", "fifo", True),
    ("delivery", "exactly once", "at most once, at least once", True),
    ("delivery", "atomic", "reliable", True),
    ("cardinality", "at most one publisher", "at most 3 publishers", True),
    ("cardinality", "at most 3 publishers", "at most one publisher", False),
    ("cardinality", "exactly 1 writer", "at most 1 writer, at least 1 writer", True),
    ("cardinality", "at least 1 writer, at most 1 instance of 'writer'", "exactly 1 writer", True),
    ("cardinality", "between 3 and 5 replicas", "at least two replicas", True),
    ("cardinality", "between 3 and 5 replicas", "at most 4 replicas", False),
    ("cardinality", "at most 1 writer", "at most 1 reader", False),
    ("cardinality", "at least 1 writer", "at least 0 readers", True),
    ("timing", "99% of receive within 50 ms of send", "95% of receive within 0.1 s of send", True),
    ("timing", "95% of receive within 50 ms of send", "99% of receive within 50 ms of send", False),
    ("timing", "99% of receive within 2 s of send", "99% of receive within 50 ms of send", False),
    ("timing", "99% of receive within 50 ms of send", "99% of receive within 50 ms", False),
    ("security", "signed", "authenticated", True),
    ("security", "authenticated", "signed", False),
    ("security", "confidential, writers editors", "writers members", True),
    ("security", "confidential, writers anyone", "writers members", False),
    ("security", "forward secret", "encrypted", True),
    ("order", "connect precedes send", "send never precedes connect", True),
    ("order", "send precedes receive", "connect precedes send", False),
    ("order", "send alternates with receive", "send precedes receive", True),
    ("order", "never send", "send at most once", True),
    ("order", "send at most once", "never send", False),
    ("order", "connect starts", "connect precedes send", True),
    ("order", "connect precedes send, send precedes receive", "connect precedes receive", True),
    ("order", "send is followed by receive", "never send", False),
    ("order", "never send", "send is followed by receive", True),
    ("order", "no send after disconnect", "no send after disconnect, true", True),
    ("order", "always (send implies next eventually receive)", "send is followed by receive", True),
    ("order", "event send never precedes event connect", "not send unless connect", True),
    ("order", "send until receive", "eventually receive", True),
    ("order", "send unless receive", "eventually receive", False),
    ("order", "send and receive", "never connect", True),  # two at once: impossible
]


@pytest.mark.parametrize(("formalism", "stronger", "weaker", "expected"), IMPLICATIONS)
def test_what_follows_from_what(formalism: str, stronger: str, weaker: str, expected: bool) -> None:
    first = parse_constraint(formalism, stronger, CHANNEL)
    second = parse_constraint(formalism, weaker, CHANNEL)
    assert first.implies(second) == expected
    if not expected:
        assert first.explain(second)


@pytest.mark.parametrize("formalism", ["delivery", "cardinality", "timing", "security", "order"])
def test_implication_is_reflexive_transitive_and_both_is_the_meet(formalism: str) -> None:
    texts = {t for f, a, b, _ in IMPLICATIONS if f == formalism for t in (a, b)}
    items = [parse_constraint(formalism, text, CHANNEL) for text in sorted(texts)]
    for item in items:
        assert item.implies(item)
    related = {
        (a, b) for a, b in product(range(len(items)), repeat=2) if items[a].implies(items[b])
    }
    for (a, b), (c, d) in product(related, repeat=2):
        if b == c:
            assert (a, d) in related
    language = items[0].formalism
    for a, b in product(items, repeat=2):
        meet = language.both(a.predicate, b.predicate)
        assert language.implies(meet, a.predicate)
        assert language.implies(meet, b.predicate)


@pytest.mark.parametrize(
    ("formalism", "text", "words"),
    [
        ("delivery", "quickly", "'quickly' is not a property of delivery and ordering"),
        ("delivery", "reliable,", "'' is not a property"),
        ("security", "writers everybody", "is not a kind of writer"),
        ("security", "nice", "'nice' is not a property of security"),
        ("cardinality", "many publishers", "does not say how many"),
        ("cardinality", "between 5 and 3 writers", "ends before it begins"),
        ("timing", "fast", "is not a bound in time"),
        ("timing", "99% of jump within 5 ms", "'jump', which is no event here"),
        ("timing", "0% of send within 5 ms", "is not a share"),
        ("timing", "101% of send within 5 ms", "is not a share"),
        ("order", "jump precedes send", "'jump' is not an event here"),
        ("order", "send (", "'(' was not expected"),
        ("order", "(send", "missing at the end"),
        ("order", "send + receive", "'+ receive' cannot be read"),
        ("order", "", "missing at the end"),
        ("order", "not " * 100 + "send", "nested too deeply"),
        ("order", "(" * 100 + "send" + ")" * 100, "nested too deeply"),
        ("nonsense", "x", "'nonsense' is not installed"),
    ],
)
def test_what_is_not_understood_is_said(formalism: str, text: str, words: str) -> None:
    with pytest.raises(NotAConstraint) as caught:
        parse_constraint(formalism, text, CHANNEL)
    assert words in str(caught.value)
    assert str(caught.value).endswith(".")


def test_an_author_writes_plain_words() -> None:
    found = parse_constraints(
        "reliable, fifo; at most one writer; confidential; connect precedes send; "
        "99% of receive within 50 ms of send",
        CHANNEL,
    )
    assert sorted(found) == [
        "live-objects:cardinality",
        "live-objects:delivery",
        "live-objects:order",
        "live-objects:security",
        "live-objects:timing",
    ]


def test_macros_are_short_for_more() -> None:
    state = parse_constraints("state channel")["live-objects:delivery"]
    assert state.implies(parse_constraints("reliable, fifo", CHANNEL)["live-objects:delivery"])
    assert parse_constraints("private; edited by its editors")["live-objects:security"].implies(
        parse_constraint("security", "confidential, signed, writers members")
    )


def test_two_clauses_in_one_formalism_are_joined() -> None:
    joined = parse_constraints("delivery: reliable; delivery: fifo")
    assert len(joined) == 1
    assert joined["live-objects:delivery"].implies(parse_constraint("delivery", "reliable, fifo"))


def test_words_that_nobody_understands() -> None:
    with pytest.raises(NotAConstraint, match="No formalism understands 'fluffy'"):
        parse_constraints("fluffy")


class Colour:
    """A formalism of somebody else's."""

    id = "example.com:colour"
    title = "colour"

    def parse(self, text: str, structure: Structure) -> str:
        if text not in ("red", "dark red"):
            raise NotAConstraint("No colour.")
        return text

    def implies(self, stronger: object, weaker: object) -> bool:
        return weaker in (stronger, "red")

    def explain(self, stronger: object, weaker: object) -> str:
        return "it is another colour"

    def both(self, first: object, second: object) -> str:
        return "dark red"


def test_others_come_by_entry_point_and_a_broken_one_is_left_out(
    caplog: pytest.LogCaptureFixture,
) -> None:
    registry = FormalismRegistry()
    group = "live_objects.formalisms"
    registry.read_installed(
        [
            EntryPoint("colour", f"{__name__}:Colour", group),
            EntryPoint("broken", "no_such_module:Thing", group),
        ]
    )
    dark = parse_constraint("example.com:colour", "dark red", registry=registry)
    assert dark.implies(parse_constraint("example.com:colour", "red", registry=registry))
    assert "'broken' cannot be loaded" in caplog.text
    with pytest.raises(ValueError, match="already"):
        registry.register(Colour())
