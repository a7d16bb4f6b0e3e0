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

from PySide6.QtCore import QLocale, QTimer
from PySide6.QtWidgets import QApplication

from app.command_line import PROGRAM, Options
from app.consent import ConsentAsker
from app.desk import Around, Desk
from app.driving import Driving
from app.engine_watcher import EngineWatcher
from app.errors import EXIT_BAD_INPUT, StartProblem
from app.event_loop import EventLoop
from app.log import start_log
from app.network import OfficeNetwork
from app.network_profile import NetworkProfile
from app.network_report import NET_REQUEST, report
from app.paths import Paths
from app.scope_actions import Meetings
from app.scope_care import answer_about_scope
from app.session import GOODBYE_S, Session
from app.settings import SettingsKeeper
from app.single_instance import InstanceServer
from app.window import MainWindow
from liveobj.host import Host, Person
from transport.streams import LoopStreams
from widgets.kinds import KINDS
from widgets.language import language
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
        raise StartProblem("The program is just starting in this profile: try again in a moment.")
    start_log(paths.log)
    application = _make_application()
    loop = EventLoop(application)
    try:
        # The engine refuses here, before any window is seen, if the network does.
        network = OfficeNetwork(options.interface, options.port, NetworkProfile.of(paths))
        try:
            return _run_live(options, paths, application, loop, network, server)
        finally:
            network.close()
    finally:
        loop.close()
        server.close()


def _make_application() -> QApplication:
    application = QApplication([PROGRAM])
    application.setApplicationName(PROGRAM)
    application.setApplicationDisplayName("Live Objects")
    application.setDesktopFileName(PROGRAM)
    if not QLocale.system().name().startswith(language()):
        # Dates and numbers are written as in the language that was chosen.
        QLocale.setDefault(QLocale(language()))
    return application


def _run_live(
    options: Options,
    paths: Paths,
    application: QApplication,
    loop: EventLoop,
    network: OfficeNetwork,
    server: InstanceServer,
) -> int:
    # The person and their objects.
    settings = SettingsKeeper(paths.settings)
    now = settings.now
    person = Person(options.name or now.name, options.colour or now.colour)
    consent = ConsentAsker()
    streams = LoopStreams(loop, network.engine.info().address.text, os.urandom)
    session = Session(
        Host(
            network.engine,
            paths.objects,
            person,
            loop,
            os.urandom,
            wall_time=time.time,
            identity=NetworkProfile.of(paths).identity(),
            ask_consent=consent.ask,
            streams=streams,
            watch_readable=EngineWatcher().watch_readable,
        ),
        paths,
        KINDS,
    )

    # The window, and everything that one can do in it.
    theme = Theme(application, options.theme or Mode(now.theme))
    window = MainWindow(theme, KINDS)
    consent.window = window
    if options.size is not None:
        window.resize(*options.size)
    meetings = Meetings(
        network.scope, network.engine.info().address.text, loop, lambda: network.care
    )
    around = Around(
        paths, settings, network.words, meetings, application.quit, _local_time, network
    )
    desk = Desk(session, window, around)
    network.on_words = window.show_network

    # From now on later starts and scripts find this program.
    driving = Driving(session, window) if options.driven else None

    def answer(request: Mapping[str, Any]) -> dict[str, Any]:
        if request == NET_REQUEST:
            return report(network.engine)
        about_scope = answer_about_scope(network.care, request)
        if about_scope is not None:
            return about_scope
        driven = None if driving is None else driving.answer(request)
        return desk.answer(request) if driven is None else driven

    server.listen(answer)

    # Everything lives.
    network.start(
        lambda: session.person_name, log_events=now.event_log, log_activity=now.activity_log
    )
    network.find_others(loop)
    listening = loop.create_task(streams.start())
    desk.restoring.begin(restore=now.restore and not options.no_restore)
    desk.answer(
        {"do": "open", "files": [str(f.absolute()) for f in options.files], "live": options.live}
    )
    if not now.introduced and options.name is None:
        desk.choices.welcome()
    window.show()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, application.quit)
    pictures = _Picture(window, options.screenshot, application, network)
    # What was made so far stays; the collector need not look at it again and again.
    gc.freeze()
    loop.run_forever()

    # The end: the others are told, then nobody is told anything any more, objects are saved.
    server.close()
    network.on_words = None
    desk.close()
    session.say_goodbye()
    loop.run_until_complete(desk.scopes.finish())
    loop.run_until_complete(network.stop_finding())
    loop.run_until_complete(asyncio.sleep(GOODBYE_S))
    listening.cancel()
    loop.run_until_complete(streams.close())
    session.close_all()
    window.deleteLater()
    return pictures.exit_code


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
        if not self._window.picture().save(str(self._file)):
            sys.stderr.write(f"{PROGRAM}: {self._file} cannot be written: is it a .png?\n")
            self.exit_code = EXIT_BAD_INPUT
        self._application.quit()


def _local_time() -> datetime:
    return datetime.now().astimezone()
