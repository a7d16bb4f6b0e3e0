"""The window program: the one place that wires engine, objects, widgets and event loop together."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from app.application import make_application
from app.background import Background
from app.command_line import PROGRAM, Options
from app.consent import ConsentAsker
from app.desk import Around, Desk
from app.driving import Driving
from app.engine_watcher import EngineWatcher
from app.errors import EXIT_BAD_INPUT, StartProblem
from app.event_loop import EventLoop
from app.interface_actions import InterfaceActions
from app.log import start_log
from app.network import OfficeNetwork, answer_connect
from app.network_profile import NetworkProfile
from app.network_report import NET_REQUEST, report
from app.paths import Paths
from app.picture_file import save_picture
from app.scope_actions import Meetings
from app.scope_care import answer_about_scope
from app.session import GOODBYE_S, Session
from app.settings import SettingsKeeper, load_settings
from app.single_instance import InstanceServer
from app.window import MainWindow
from liveobj.host import Host, Person
from transport.links import list_links
from transport.snapshots import Known
from transport.streams import LoopStreams
from widgets.kinds import KINDS
from widgets.language import tr
from widgets.roles import Mode
from widgets.theme import Theme

# Time for fonts, layout and what is on disk to be painted before a picture is taken.
_PICTURE_DELAY_MS = 500
# A network that has not answered by then is shown as it is.
_PICTURE_DELAYS_MAX = 10


def run(options: Options, paths: Paths) -> int:
    """Runs until the window is closed; raises StartProblem if the network refuses."""
    server = InstanceServer(paths.socket)
    if not server.claim():
        raise StartProblem(
            tr("The program is just starting in this profile: try again in a moment.")
        )
    start_log(paths.log)
    application = make_application()
    loop = EventLoop(application)
    try:
        # The engine refuses here, before any window is seen, if the network does.
        preferred = load_settings(paths.settings).interface
        wishes = options.network.preferring(preferred, list_links())
        network = OfficeNetwork(wishes, NetworkProfile.of(paths))
        try:
            program = _Program(options, paths, application, loop, network)
            program.begin(server)
            picture = _Picture(program.window, options.screenshot, application, network)
            # What was made so far stays; the collector need not look at it again and again.
            gc.freeze()
            loop.run_forever()
            server.close()
            program.end()
            return picture.exit_code
        finally:
            network.close()
    finally:
        loop.close()
        server.close()


class _Program:
    """One run of the program: wired when it is made, then begun and ended. Attributes: `window`."""

    def __init__(
        self,
        options: Options,
        paths: Paths,
        application: QApplication,
        loop: EventLoop,
        network: OfficeNetwork,
    ) -> None:
        self._options = options
        self._application = application
        self._loop = loop
        self._network = network
        self._settings = SettingsKeeper(paths.settings)
        self._streams = LoopStreams(loop, network.engine.info().address.text, os.urandom)
        self._background = Background()
        consent = ConsentAsker()
        self._session = self._make_session(paths, consent)
        self.window = consent.window = self._make_window()
        self._desk = self._make_desk(paths)
        self._driving = Driving(self._session, self.window) if options.driven else None

    # The wiring

    def _make_session(self, paths: Paths, consent: ConsentAsker) -> Session:
        """The person and their objects."""
        now, options = self._settings.now, self._options
        host = Host(
            self._network.engine,
            paths.objects,
            Person(options.name or now.name, options.colour or now.colour),
            self._loop,
            os.urandom,
            wall_time=time.time,
            identity=NetworkProfile.of(paths).identity(),
            ask_consent=consent.ask,
            streams=self._streams,
            watch_readable=EngineWatcher().watch_readable,
            in_background=self._background,
        )
        self._network.engine.on_new_identity = lambda: host.new_identity.notify(None)
        return Session(host, paths, KINDS)

    def _make_window(self) -> MainWindow:
        options = self._options
        theme = Theme(self._application, options.theme or Mode(self._settings.now.theme))
        window = MainWindow(theme, KINDS)
        if options.size is not None:
            window.resize(*options.size)
        return window

    def _make_desk(self, paths: Paths) -> Desk:
        """Everything that one can do in the window."""
        network = self._network
        meetings = Meetings(
            network.scope,
            lambda: network.engine.info().address.text,
            self._loop,
            lambda: network.care,
            lambda peer: network.connect([peer]),
            InterfaceActions(network, self._settings).show_on,
        )
        around = Around(
            paths,
            self._settings,
            network.words,
            meetings,
            self._application.quit,
            _local_time,
            network,
        )
        desk = Desk(self._session, self.window, around)
        network.on_words = self.window.show_network
        return desk

    def _answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """What later starts and scripts ask: whoever knows the request first answers it."""
        if request.get("do") == NET_REQUEST["do"]:
            return report(self._network.engine, self._known(), request)
        if request.get("do") == "connect":
            return answer_connect(self._network, request)
        about_scope = answer_about_scope(self._network.care, request)
        if about_scope is not None:
            return about_scope
        driven = None if self._driving is None else self._driving.answer(request)
        return self._desk.answer(request) if driven is None else driven

    def _known(self) -> Known:
        """What the program can add to what its engine says of the network."""
        people, titles = self._desk.known_on_network()
        care = self._network.care
        of_scope = care.titles if care is not None else {}
        return Known(people, {**of_scope, **titles}, self._network.found)

    # The run

    def begin(self, server: InstanceServer) -> None:
        """Everything lives, and is found."""
        options, now, desk = self._options, self._settings.now, self._desk
        server.listen(self._answer)
        self._network.start(
            lambda: self._session.person_name,
            log_events=now.event_log,
            log_activity=now.activity_log,
        )
        self._network.find_others(self._loop)
        self._listening = self._loop.create_task(self._streams.start())
        self._network.on_moved = self._on_moved
        desk.restoring.begin(restore=now.restore and not options.no_restore)
        files = [str(file.absolute()) for file in options.files]
        desk.answer({"do": "open", "files": files, "live": options.live})
        if not now.introduced and options.name is None:
            desk.choices.welcome()
        self.window.show()
        for name in (signal.SIGTERM, signal.SIGINT):
            self._loop.add_signal_handler(name, desk.quitting.quit_now)
        self._application.commitDataRequest.connect(lambda _manager: desk.quitting.unsaved())

    def _on_moved(self, address: str) -> None:
        """This PC has come to another network: its contents are asked for there."""
        self._listening.cancel()
        self._listening = self._loop.create_task(self._streams.move(address))

    def end(self) -> None:
        """The others are told, then nobody is told anything any more, objects are saved."""
        loop, desk = self._loop, self._desk
        self._network.on_words = None
        desk.close()
        self._session.say_goodbye()
        loop.run_until_complete(desk.scopes.finish())
        loop.run_until_complete(self._network.stop_finding())
        loop.run_until_complete(asyncio.sleep(GOODBYE_S))
        self._listening.cancel()
        loop.run_until_complete(self._streams.close())
        self._session.close_all()
        self._background.close()
        self.window.deleteLater()


class _Picture:
    """Takes the picture that was asked for on the command line, then ends the program."""

    def __init__(
        self,
        window: MainWindow,
        file: Path | None,
        application: QApplication,
        network: OfficeNetwork,
    ) -> None:
        self._window = window
        self._file = file
        self._application = application
        self._network = network
        self._delays = 0
        self.exit_code = 0
        if file is not None:
            QTimer.singleShot(_PICTURE_DELAY_MS, self._take)

    def _take(self) -> None:
        self._delays += 1
        if not self._network.settled and self._delays < _PICTURE_DELAYS_MAX:
            QTimer.singleShot(_PICTURE_DELAY_MS, self._take)
            return
        assert self._file is not None, "it was asked for"
        if not save_picture(self._window.picture(), self._file):
            sys.stderr.write(f"{PROGRAM}: {self._file} cannot be written: is it a .png?\n")
            self.exit_code = EXIT_BAD_INPUT
        self._application.quit()


def _local_time() -> datetime:
    return datetime.now().astimezone()
