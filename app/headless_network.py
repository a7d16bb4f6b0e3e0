"""The network of a program without a window: its engine is joined to asyncio, announced, moved
after its computer, logged, and asked about by scripts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.collecting import Collecting
from app.line_server import LineServer
from app.network_profile import NetworkProfile
from app.network_report import report
from app.scope_care import ScopeCare, answer_about_scope
from transport.clone_watch import CloneWatch
from transport.engine import Engine
from transport.engine_logger import EngineLogger
from transport.finder import Finder
from transport.link_watch import LinkWatch
from transport.loop import AsyncioWatcher, EngineJoin
from transport.snapshots import Known
from widgets.language import tr


@dataclass(frozen=True, slots=True)
class HeadlessNetwork:
    """How it is wanted. `socket` is where scripts ask, None: nowhere; `my_name` is what others of a
    private network read, for whose key the program `cares` if it is the profile's own; `on_moved`
    is told with the address that the computer has in another network."""

    socket: Path | None
    my_name: Callable[[], str]
    cares: bool = True
    mdns: bool = True
    log_events: bool = True
    on_moved: Callable[[str], None] = lambda _: None

    @asynccontextmanager
    async def around(self, engine: Engine, profile: NetworkProfile) -> AsyncIterator[None]:
        """As long as it is used; the engine stays open at the end."""
        loop, watcher = asyncio.get_running_loop(), AsyncioWatcher()
        scope = engine.config.scope
        finder = Finder(engine, profile.book()) if self.mdns else None
        care = None
        if scope.private and self.cares:
            care = ScopeCare(engine, profile, watcher.call_at, self.my_name)

        def on_moved() -> None:
            for follower in (finder, care):
                if follower is not None:
                    follower.move()
            self.on_moved(engine.info().address.text)

        async with AsyncExitStack() as stack:
            if self.socket is not None:
                answer = _answerer(engine, finder, care)
                server = await LineServer.start(self.socket, answer)
                stack.push_async_callback(server.close)
            join = EngineJoin(engine, watcher)
            stack.callback(CloneWatch(engine, join, watcher).close)
            if self.log_events:
                collecting = Collecting(profile.events, watcher.call_at, time.monotonic)
                stack.callback(collecting.close)
                events = profile.open_log(scope, collecting.segment_closed)
                logger = EngineLogger(engine, events, watcher.call_at, time.monotonic)
                stack.callback(logger.close)
            if finder is not None:
                finder.start(loop)
                stack.push_async_callback(finder.close)
            if care is not None:
                care.start(loop, engine.config.known_peers, finder)
                stack.push_async_callback(care.close)
            stack.callback(LinkWatch(engine, watcher, time.monotonic, on_moved).close)
            yield


def _answerer(
    engine: Engine, finder: Finder | None, care: ScopeCare | None
) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    def answer(request: Mapping[str, Any]) -> dict[str, Any]:
        if request.get("do") == "net":
            announced = finder.found if finder is not None else ()
            titles = care.titles if care is not None else {}
            return report(engine, Known(titles=titles, announced=announced), request)
        about_scope = answer_about_scope(care, request)
        if about_scope is not None:
            return about_scope
        return {"error": tr("This program has no window: it does not know the request.")}

    return answer
