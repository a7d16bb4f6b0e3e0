"""What every test can use: Qt without a screen, a virtual screen, and Hypothesis's settings."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from installers import virtual_display as screen

# Before anything makes a QApplication: widgets are tested without a screen, and nothing flashes up
# on the desktop of whoever runs the tests. Programs started on `virtual_display` get
# their environment from `environment_on`.
os.environ["QT_QPA_PLATFORM"] = "offscreen"
# What the program says is compared in English, whoever runs the tests.
os.environ["LANGUAGE"] = "en"
# A shell that starts the tests in the background has them ignore Ctrl-C, and so would every program
# that they start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# `ci` is the same on every run, so that a failure is seen by everybody; `explore` is for looking
# further: HYPOTHESIS_PROFILE=explore make test.
settings.register_profile(
    "ci",
    derandomize=True,
    max_examples=100,
    # Machines are shared and slow at times; a time limit per example would fail at random.
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("explore", max_examples=5000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(scope="session", autouse=True)
def own_profile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The profile of whoever runs the tests stays as it is: commands without `--state-dir` find
    another one."""
    folder = tmp_path_factory.mktemp("profile")
    names = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
    with pytest.MonkeyPatch.context() as patch:
        for name in names:
            patch.setenv(name, str(folder / name.lower()))
        yield


@pytest.fixture(scope="session")
def virtual_display() -> Iterator[str]:
    """A screen with a window manager, for the whole run; gives the value for DISPLAY."""
    with screen.virtual_display() as display:
        yield display
