"""Two people at one table."""

from __future__ import annotations

import pytest

from tests.app.conftest import MakePlace
from tests.app.memory_network import MemoryHub
from tests.widgets.pair import Pair


@pytest.fixture
def pair(make_place: MakePlace, hub: MemoryHub) -> Pair:
    return Pair(make_place, hub, "table")
