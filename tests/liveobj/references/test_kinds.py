"""Every kind of reference is written and read again, whole; order and spelling do not matter."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liveobj.references import (
    Composite,
    Connection,
    Parameterized,
    Primitive,
    Reference,
    ReferenceProblem,
    Secrets,
    Value,
    canonical_form,
    fingerprint,
    read_reference,
    write_reference,
)
from liveobj.references.errors import NotAReference, TooNew
from tests.liveobj.references.samples import ALL, COMPOSITE, NOTE, TEMPLATED
from tests.source_tree import ROOT

KINDS = pytest.mark.parametrize("reference", ALL.values(), ids=ALL.keys())


@KINDS
def test_a_reference_comes_back_as_it_was(reference: Reference) -> None:
    assert read_reference(write_reference(reference)) == reference


@KINDS
def test_writing_what_was_read_changes_no_byte(reference: Reference) -> None:
    text = write_reference(reference)
    assert write_reference(read_reference(text)) == text


@KINDS
def test_the_canonical_form_is_a_reference_to_the_same_object(reference: Reference) -> None:
    text = canonical_form(reference)
    again = read_reference(text.replace(b"<liveobject ", b'<liveobject version="1" ', 1))
    assert fingerprint(again) == fingerprint(reference)
    assert b"<secrets" not in text
    assert b"beside" not in text


def test_order_means_nothing_where_it_should_not() -> None:
    connection = COMPOSITE.connections[0]
    turned = replace(
        COMPOSITE,
        components=dict(reversed(COMPOSITE.components.items())),
        connections=(Connection(connection.second, connection.first),),
    )
    assert fingerprint(turned) == fingerprint(COMPOSITE)


def test_secrets_deep_inside_are_left_out_too() -> None:
    bare = replace(NOTE, secrets=Secrets())
    open_parts = replace(COMPOSITE, components={**COMPOSITE.components, "note": bare})
    assert fingerprint(open_parts) == fingerprint(COMPOSITE)
    assert fingerprint(replace(TEMPLATED, secrets=Secrets())) == fingerprint(TEMPLATED)


def test_what_is_not_known_is_part_of_who_an_object_is_unless_it_stands_beside() -> None:
    bare = replace(TEMPLATED, beside=(), beside_attributes=())
    assert fingerprint(bare) == fingerprint(TEMPLATED)
    assert fingerprint(replace(TEMPLATED, unknown=())) != fingerprint(TEMPLATED)
    assert fingerprint(replace(TEMPLATED, extra=())) != fingerprint(TEMPLATED)


values = st.one_of(
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30),
    st.integers(-(10**30), 10**30),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.binary(max_size=20),
)


@given(st.dictionaries(st.text("abcé .&<", min_size=1, max_size=8), values, max_size=4))
def test_any_arguments_survive(arguments: dict[str, str | int | float | bool | bytes]) -> None:
    reference = Parameterized(
        Primitive("example.com:x"), {name: Value(data) for name, data in arguments.items()}
    )
    again = read_reference(write_reference(reference))
    assert again == reference
    assert isinstance(again, Parameterized)
    for name, argument in again.arguments.items():
        assert isinstance(argument, Value)
        assert type(argument.data) is type(arguments[name])


ROOT_TAG = '<liveobject xmlns="urn:live-objects:reference" version="1">'


def wrap(body: str) -> bytes:
    return f"{ROOT_TAG}\n{body}\n</liveobject>".encode()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("", "line 1: A live object holds one reference; here are 0."),
        ("<primitive id='a:b'/><primitive id='a:b'/>", "here are 2"),
        ("<gadget/>", "line 2: 'gadget' is not a kind of reference; those are composite"),
        ("<composite>words</composite>", "line 2: There is text inside 'composite'."),
        (
            "<composite><component name='a' at='3'><primitive id='a:b'/></component></composite>",
            "The attribute 'at' of 'component' is not known here.",
        ),
        (
            "<primitive id='a:b'><secrets><token/></secrets></primitive>",
            "'token' among the secrets is not known here.",
        ),
        ("<primitive/>", "line 2: The attribute 'id' of 'primitive' is missing."),
        ("<primitive id='NO'/>", "line 2: 'NO' is no identifier"),
        ("<parameterized/>", "must have one 'template'; here are 0"),
        ("<parameterized><template/></parameterized>", "'template' must hold exactly one part"),
        (
            (
                "<parameterized><template><primitive id='a:b'/></template>\n"
                "<parameter name='x'><text>1</text></parameter>\n"
                "<parameter name='x'><text>2</text></parameter></parameterized>"
            ),
            "line 4: The parameter 'x' is given twice.",
        ),
        (
            (
                "<parameterized><template><primitive id='a:b'/></template>"
                "<parameter name='x'><integer>1.5</integer></parameter></parameterized>"
            ),
            "'1.5' is not a value of kind 'integer'",
        ),
        (
            (
                "<parameterized><template><primitive id='a:b'/></template>"
                "<parameter name='x'><number>nan</number></parameter></parameterized>"
            ),
            "'nan' is not a value of kind 'number'",
        ),
        (
            (
                "<parameterized><template><primitive id='a:b'/></template>"
                "<parameter name='x'><boolean>yes</boolean></parameter></parameterized>"
            ),
            "'yes' is not a value of kind 'boolean'",
        ),
        (
            (
                "<parameterized><template><primitive id='a:b'/></template>"
                "<parameter name='x'><bytes>xyz</bytes></parameter></parameterized>"
            ),
            "'xyz' is not a value of kind 'bytes'",
        ),
        (
            (
                "<parameterized><template><primitive id='a:b'/></template>"
                "<parameter name='x'><text>a<b/></text></parameter></parameterized>"
            ),
            "holds text only",
        ),
        (
            "<external name='x'><from><primitive id='a:b'/></from></external>",
            "does not say of which type it is",
        ),
        (
            "<external name='x'><as><type kind='q'/></as></external>",
            "must have one 'from'; here are 0",
        ),
        (
            (
                "<composite><component name='a'><primitive id='a:b'/></component>"
                "<component name='a'><primitive id='a:b'/></component></composite>"
            ),
            "The component 'a' is there twice.",
        ),
        ("<composite><connection/></composite>", "A connection has two ends, not 0."),
        ("<composite><connection><x/></connection></composite>", "where 'endpoint' should"),
        (
            (
                "<composite><export name='e'><endpoint name='e' of='a'/></export>"
                "<export name='e'><endpoint name='e' of='b'/></export></composite>"
            ),
            "'e' is exported twice.",
        ),
        ("<primitive id='a:b'><as/></primitive>", "'as' must hold exactly one part"),
        ("<primitive id='a:b'><as><q/></as></primitive>", "'q' is not a type"),
        (
            (
                "<primitive id='a:b'><as><type><endpoint name='e'><in name='i'>"
                "<value-type kind='fluff'/></in></endpoint></type></as></primitive>"
            ),
            "'fluff' is no kind of value",
        ),
        (
            (
                "<primitive id='a:b'><as><type><endpoint name='e'>"
                "<provides formalism='live-objects:delivery'>fluffy</provides></endpoint>"
                "</type></as></primitive>"
            ),
            "'fluffy' is not a property of delivery",
        ),
        (
            (
                "<primitive id='a:b'><as><type><endpoint name='e'/><endpoint name='e'/></type></as>"
                "</primitive>"
            ),
            "The endpoint 'e' is there twice.",
        ),
        (
            "<primitive id='a:b'><secrets><key name='k'>zz</key></secrets></primitive>",
            "The key 'k' is not hexadecimal.",
        ),
        (
            "<primitive id='a:b'><secrets><key name='k'/><key name='k'/></secrets></primitive>",
            "The key 'k' is given twice.",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_line(body: str, words: str) -> None:
    with pytest.raises(NotAReference) as caught:
        read_reference(wrap(body))
    assert words in str(caught.value)
    assert caught.value.line >= 1


@pytest.mark.parametrize(
    ("root", "words"),
    [
        ("<html/>", "not a live object"),
        ("<liveobject version='1'/>", "not a live object"),
        ("<liveobject xmlns='urn:live-objects:reference'/>", "'version' is missing"),
        ("<liveobject xmlns='urn:live-objects:reference' version='x'/>", "'x' is not a number"),
    ],
)
def test_other_xml_is_told_apart(root: str, words: str) -> None:
    with pytest.raises(NotAReference, match=words):
        read_reference(root.encode())


def test_a_file_of_a_newer_form_says_so() -> None:
    newer = write_reference(NOTE).replace(b'version="1"', b'version="2"', 1)
    newer = newer.replace(b'<?xml version="2"', b'<?xml version="1"')
    with pytest.raises(TooNew, match="Please update"):
        read_reference(newer.replace(b'reference" version="1"', b'reference" version="2"'))


@given(st.binary(max_size=300))
def test_any_bytes_are_refused_politely(data: bytes) -> None:
    with pytest.raises(ReferenceProblem):
        read_reference(data)


@given(st.integers(0, 5000), st.binary(min_size=1, max_size=3), st.sampled_from(sorted(ALL)))
def test_a_damaged_file_is_refused_politely_or_still_a_reference(
    place: int, noise: bytes, name: str
) -> None:
    text = write_reference(ALL[name])
    place %= len(text)
    damaged = text[:place] + noise + text[place + len(noise) :]
    try:
        reference = read_reference(damaged)
    except ReferenceProblem:
        return
    assert read_reference(write_reference(reference)) == reference


def test_the_schema_knows_the_elements_that_are_written() -> None:
    schema = ElementTree.parse(ROOT / "assets" / "schema" / "liveobject-1.xsd")
    declared = {e.get("name") for e in schema.iter("{http://www.w3.org/2001/XMLSchema}element")}
    for reference in ALL.values():
        for element in ElementTree.fromstring(write_reference(reference)).iter():
            namespace, _, name = element.tag.rpartition("}")
            if namespace == "{urn:live-objects:reference":
                assert name in declared


def test_a_composite_without_anything_is_possible() -> None:
    assert read_reference(wrap("<composite/>")) == Composite({})
