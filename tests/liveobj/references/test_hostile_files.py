"""Files made by an enemy: each is refused in a sentence, quickly, in little memory, and nothing is
fetched or run."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from functools import partial

import pytest

from liveobj.references import ReferenceProblem, read_reference

ROOT = '<liveobject xmlns="urn:live-objects:reference" version="1">'
END = "</liveobject>"


def wrap(body: str) -> bytes:
    return f"{ROOT}{body}{END}".encode()


def dtd(body: str) -> bytes:
    return f"<!DOCTYPE liveobject [{body}]>{ROOT}&x;{END}".encode()


def doctype(words: str) -> bytes:
    return f"<!DOCTYPE {words}>{ROOT}{END}".encode()


def laughs(depth: int, width: int) -> str:
    entities = ['<!ENTITY a0 "ha">']
    entities += [f'<!ENTITY a{n} "{f"&a{n - 1};" * width}">' for n in range(1, depth)]
    return "".join([*entities, f'<!ENTITY x "&a{depth - 1};">'])


# Made when used, since some are large.
ATTACKS: dict[str, Callable[[], bytes]] = {
    "billion laughs": partial(dtd, laughs(10, 10)),
    "quadratic blow-up": partial(dtd, f'<!ENTITY x "{"a" * 50_000}">'),
    "recursive entity": partial(dtd, '<!ENTITY x "&y;"><!ENTITY y "&x;">'),
    "external entity, file": partial(dtd, '<!ENTITY x SYSTEM "file:///etc/passwd">'),
    "external entity, network": partial(dtd, '<!ENTITY x SYSTEM "http://example.com/x">'),
    "external entity, public": partial(dtd, '<!ENTITY x PUBLIC "-//x" "http://example.com/x">'),
    "parameter entity": partial(dtd, '<!ENTITY % x SYSTEM "http://example.com/x"> %x;'),
    "external subset": partial(doctype, 'a SYSTEM "http://example.com/a.dtd"'),
    "public subset": partial(doctype, 'a PUBLIC "-//x" "file:///dev/zero"'),
    "empty document type": partial(doctype, "liveobject"),
    "default attributes": partial(dtd, '<!ATTLIST primitive id CDATA "a:b">'),
    "notation": partial(dtd, '<!NOTATION n SYSTEM "run.exe">'),
    "unparsed entity": partial(dtd, '<!NOTATION n SYSTEM "x"><!ENTITY x SYSTEM "y" NDATA n>'),
    "undefined entity": lambda: wrap("<primitive id='&nobody;'/>"),
    "deep nesting": lambda: wrap("<composite>" * 40_000),
    "deep nesting, closed": lambda: wrap("<a>" * 5000 + "</a>" * 5000),
    "just too deep": lambda: wrap("<a>" * 64 + "</a>" * 64),
    "many siblings": lambda: wrap("<a/>" * 200_000),
    "just too many elements": lambda: wrap("<a/>" * 10_000),
    "many attributes": lambda: wrap(
        "<primitive " + " ".join(f"a{i}='1'" for i in range(80_000)) + "/>"
    ),
    "65 attributes": lambda: wrap("<a " + " ".join(f"a{i}='1'" for i in range(65)) + "/>"),
    "duplicate attributes": lambda: wrap("<primitive id='a:b' id='c:d'/>"),
    "huge attribute": lambda: wrap(f"<primitive id='{'a' * 900_000}'/>"),
    "huge attribute name": lambda: wrap(f"<primitive {'a' * 900_000}='1'/>"),
    "huge text": lambda: wrap("<a>" + "x" * 900_000 + "</a>"),
    "huge text in pieces": lambda: wrap("<a>" + "x&#65;" * 60_000 + "</a>"),
    "huge text around elements": lambda: wrap("<a>" + ("x" * 40_000 + "<b/>") * 2 + "</a>"),
    "huge section": lambda: wrap("<a><![CDATA[" + "x" * 900_000 + "]]></a>"),
    "huge element name": lambda: wrap(f"<{'a' * 900_000}/>"),
    "many namespaces": lambda: wrap(
        "<a " + " ".join(f"xmlns:n{i}='urn:{i}'" for i in range(20_000)) + ">"
    ),
    "huge file": lambda: wrap("<a/>" * 400_000),
    "one byte too many": lambda: b" " * (1024 * 1024 + 1),
    "huge comment in a huge file": lambda: wrap("<!--" + "x" * 2_000_000 + "-->"),
    "UTF-16": lambda: f'<?xml version="1.0" encoding="UTF-16"?>{ROOT}{END}'.encode("utf-16"),
    "UTF-7": lambda: b'<?xml version="1.0" encoding="UTF-7"?>' + wrap("<primitive id='a:b'/>"),
    "Latin-1": lambda: b'<?xml version="1.0" encoding="ISO-8859-1"?>' + wrap("\u00e9"),
    "unknown encoding": lambda: b'<?xml version="1.0" encoding="cp037"?>' + wrap("<a/>"),
    "lying byte order mark": lambda: b"\xfe\xff" + wrap("<primitive id='a:b'/>"),
    "null bytes": lambda: wrap("<primitive id='a\0b'/>"),
    "control characters": lambda: wrap("<primitive id='\x01'/>"),
    "forbidden references": lambda: wrap("<a>&#0;</a>"),
    "lone surrogate": lambda: wrap("<a>&#xD800;</a>"),
    "not closed": lambda: ROOT.encode() + b"<primitive id='a:b'>",
    "two roots": lambda: wrap("<primitive id='a:b'/>") * 2,
    "text after the end": lambda: wrap("<primitive id='a:b'/>") + b"more",
    "unbound prefix": lambda: wrap("<x:primitive id='a:b'/>"),
    "redefined xml prefix": lambda: wrap("<a xmlns:xml='urn:other'/>"),
    "a number without end": lambda: wrap(
        "<parameterized><template><primitive id='a:b'/></template><parameter name='n'><integer>"
        + "9" * 60_000
        + "</integer></parameter></parameterized>"
    ),
    "XInclude": lambda: wrap(
        "<xi:include xmlns:xi='http://www.w3.org/2001/XInclude' href='file:///etc/passwd'/>"
    ),
    "style sheet": lambda: (
        b"<?xml-stylesheet href='http://example.com/x.xsl'?>" + wrap("<script/>")
    ),
    "empty": lambda: b"",
    "white space": lambda: b" \n\t ",
    "JSON": lambda: b'{"liveobject": 1}',
    "program": lambda: b"MZ\x90\x00\x03" * 100,
}


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_refused_quickly_and_cheaply(name: str) -> None:
    data = ATTACKS[name]()
    elapsed = []
    for _ in range(3):  # the machine may be busy with something else
        start = time.process_time()
        with pytest.raises(ReferenceProblem) as caught:
            read_reference(data)
        elapsed.append(time.process_time() - start)
    assert str(caught.value).endswith(".")
    assert len(str(caught.value)) < 300
    assert min(elapsed) < 0.05, f"{name} took {min(elapsed) * 1000:.0f} ms"


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_costs_little_memory(name: str) -> None:
    data = ATTACKS[name]()
    tracemalloc.start()
    try:
        with pytest.raises(ReferenceProblem):
            read_reference(data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20 * 1024 * 1024


def test_there_are_enough_attacks() -> None:
    assert len(ATTACKS) >= 30


def test_what_is_just_small_enough_is_read() -> None:
    depth = 62
    body = (
        "<composite><component name='c'>" * (depth // 2)
        + "<primitive id='a:b'/>"
        + "</component></composite>" * (depth // 2)
    )
    read_reference(wrap(body))
    read_reference(wrap("<primitive id='a:b'>" + "<x:a xmlns:x='urn:x'/>" * 9000 + "</primitive>"))
