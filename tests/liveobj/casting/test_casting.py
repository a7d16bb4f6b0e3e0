"""Casting extensions: offered where two ends do not fit, inserted only when asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from liveobj.casting import EXTENSIONS, connect_converting
from liveobj.casting.extensions import Extension
from liveobj.declare import (
    Declarations,
    Dual,
    endpoint_type,
    incoming,
    live_object,
    outgoing,
    reflect_endpoint,
)
from liveobj.declare.objects import DECLARATIONS
from liveobj.objects.channel_extensions import (
    LatestEndpoint,
    PatientChannelEndpoint,
    PrivateChannelEndpoint,
    encrypting,
)
from liveobj.objects.standard_types import ChannelEndpoint
from liveobj.references import Composite, Connection, Port, Primitive
from liveobj.references.checking import check
from liveobj.runtime import CannotConnect, ProxyState, Runtime
from tests.liveobj.support import Clock, LocalNetwork, make_host

HERE = Declarations()


@live_object("test:loop", into=HERE)
class Loop:
    """A channel to oneself, which shows what passes."""

    channel: ChannelEndpoint[bytes]

    def __init__(self) -> None:
        self._seen: list[bytes] = []

    @property
    def seen(self) -> list[bytes]:
        return self._seen

    def on_channel_send(self, message: bytes) -> None:
        self._seen.append(message)
        self.channel.receive(1, message)


@live_object("test:writer", into=HERE)
class Writer:
    """Wants a private channel."""

    channel: Dual[PrivateChannelEndpoint]

    def __init__(self) -> None:
        self._got: list[bytes] = []

    @property
    def got(self) -> list[bytes]:
        return self._got

    def on_channel_connected(self) -> None:
        self.channel.send(b"my secret")

    def on_channel_receive(self, sender: int, message: bytes) -> None:
        self._got.append(message)


for standard in DECLARATIONS:
    HERE.add(standard)

PLAIN = reflect_endpoint(ChannelEndpoint[bytes]).type
CONNECTION = Connection(Port("writer", "channel"), Port("loop", "channel"))
COMPOSITE = Composite(
    {"writer": Primitive("test:writer"), "loop": Primitive("test:loop")}, (CONNECTION,)
)


def dual_type(cls: Any) -> Any:
    return reflect_endpoint(Dual[cls]).type


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    return Runtime(make_host(LocalNetwork(), 1, tmp_path, Clock()), HERE)


def offered(first: Any, second: Any) -> list[str]:
    return [offer.extension.id for offer in EXTENSIONS.offers(first, second, HERE)]


def test_an_extension_is_offered_where_it_helps() -> None:
    assert offered(dual_type(PrivateChannelEndpoint), PLAIN) == ["live-objects:encrypting-channel"]
    assert offered(PLAIN, dual_type(PrivateChannelEndpoint)) == ["live-objects:encrypting-channel"]
    assert offered(dual_type(LatestEndpoint), PLAIN) == ["live-objects:latest"]
    assert "live-objects:buffer" in offered(dual_type(PatientChannelEndpoint), PLAIN)


def test_nothing_is_offered_where_nothing_is_needed_or_helps() -> None:
    assert offered(dual_type(ChannelEndpoint[bytes]), PLAIN) == []
    assert offered(PLAIN, PLAIN) == []


def test_an_extension_is_registered_once() -> None:
    with pytest.raises(ValueError, match="already"):
        EXTENSIONS.register(Extension("live-objects:buffer", "near", "far", ""))


def test_encryption_is_put_into_a_connection_when_asked(runtime: Runtime) -> None:
    """Example (d) of the thesis: the whole distributed object is wrapped."""
    assert check(COMPOSITE, HERE).problems
    types = [check(COMPOSITE.components[n], HERE).type for n in ("loop", "writer")]
    assert types[0] is not None
    assert types[1] is not None
    (offer,) = EXTENSIONS.offers(types[0].endpoints["channel"], types[1].endpoints["channel"], HERE)
    better = offer.insert(COMPOSITE, CONNECTION, lambda: encrypting(b"k" * 32))
    assert check(better, HERE).problems == []
    composite: Any = runtime.dereference(better)
    runtime.run_pending()
    assert composite.state is ProxyState.RUNNING
    (sent,) = composite.proxy.part("loop").instance.seen
    assert b"secret" not in sent
    assert composite.proxy.part("writer").instance.got == [b"my secret"]
    wrapper = composite.proxy.part("encrypting-channel")
    composite.proxy.part("loop").instance.channel.receive(2, b"rubbish")
    runtime.run_pending()
    assert wrapper.instance.refused == 1
    composite.close()


def test_two_extensions_of_one_kind_have_two_names() -> None:
    (offer,) = EXTENSIONS.offers(PLAIN, dual_type(PrivateChannelEndpoint), HERE)
    once = offer.insert(COMPOSITE, CONNECTION)
    twice = offer.insert(once, Connection(Port("a", "x"), Port("b", "y")))
    assert {"encrypting-channel", "encrypting-channel 2"} <= twice.components.keys()


def test_an_encrypting_channel_without_its_key_says_so(runtime: Runtime) -> None:
    proxy = runtime.dereference(Primitive("live-objects:encrypting-channel"))
    assert proxy.proxy.problem == "The key for encrypting is missing; ask for the file again."
    runtime.close()


class Listener:
    def __init__(self) -> None:
        self.got: list[Any] = []

    def receive(self, sender: int, message: bytes) -> None:
        self.got.append(message)

    def latest(self, message: bytes | None) -> None:
        self.got.append(message)


def test_a_buffer_keeps_messages_while_the_channel_is_away(runtime: Runtime) -> None:
    buffer = runtime.dereference(Primitive("live-objects:buffer"))
    loop = runtime.dereference(Primitive("test:loop"))
    mine = runtime.new_endpoint(Dual[PatientChannelEndpoint], Listener())
    runtime.connect(mine.external, buffer.endpoint("near"))
    mine.send("send", {"message": b"1"})
    mine.send("send", {"message": b"2"})
    runtime.run_pending()
    connection = runtime.connect(buffer.endpoint("far"), loop.endpoint("channel"))
    mine.send("send", {"message": b"3"})
    runtime.run_pending()
    assert loop.instance.seen == [b"1", b"2", b"3"]
    connection.dispose()
    mine.send("send", {"message": b"4"})
    runtime.run_pending()
    runtime.connect(buffer.endpoint("far"), loop.endpoint("channel"))
    runtime.run_pending()
    assert loop.instance.seen[-1] == b"4"
    runtime.close()


def test_push_becomes_pull(runtime: Runtime) -> None:
    latest = runtime.dereference(Primitive("live-objects:latest"))
    loop = runtime.dereference(Primitive("test:loop"))
    runtime.connect(latest.endpoint("far"), loop.endpoint("channel"))
    listener = Listener()
    mine = runtime.new_endpoint(Dual[LatestEndpoint], listener)
    runtime.connect(mine.external, latest.endpoint("near"))
    mine.send("ask", {})
    runtime.run_pending()
    loop.instance.channel.receive(1, b"old")
    loop.instance.channel.receive(1, b"new")
    runtime.run_pending()
    mine.send("ask", {})
    runtime.run_pending()
    assert listener.got == [None, b"new"]
    runtime.close()


# Values


@endpoint_type("test:meter")
class Meter:
    @outgoing
    def reading(self, value: float, unit: str) -> None: ...

    @incoming
    def reset(self, to: int) -> None: ...


@endpoint_type("test:display")
class Display:
    @incoming
    def reading(self, value: str) -> None: ...

    @outgoing
    def reset(self, to: float) -> None: ...


class Screen:
    def __init__(self) -> None:
        self.shown: list[str] = []

    def reading(self, value: str) -> None:
        self.shown.append(value)


class Device:
    def __init__(self) -> None:
        self.resets: list[int] = []

    def reset(self, to: int) -> None:
        self.resets.append(to)


def test_values_are_converted_when_asked(runtime: Runtime) -> None:
    screen, device = Screen(), Device()
    meter = runtime.new_endpoint(Meter, device)
    display = runtime.new_endpoint(Display, screen)
    with pytest.raises(CannotConnect, match="in 'value', number is not a text"):
        runtime.connect(meter.external, display.external)
    connection = connect_converting(meter.external, display.external)
    meter.send("reading", {"value": 1.5, "unit": "m"})
    display.send("reset", {"to": 2.6})
    runtime.run_pending()
    assert screen.shown == ["1.5"]
    assert device.resets == [3]
    connection.dispose()
    assert not display.connected
    runtime.close()


def test_what_cannot_be_converted_is_told(runtime: Runtime) -> None:
    meter = runtime.new_endpoint(Meter, Device())
    latest = runtime.new_endpoint(Dual[LatestEndpoint], Listener())
    with pytest.raises(CannotConnect, match="No conversion is known"):
        connect_converting(meter.external, latest.external)
    runtime.close()
