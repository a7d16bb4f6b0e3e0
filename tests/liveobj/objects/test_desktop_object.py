"""The desktop as a live object: it is a folder of what lies on it, and takes what others place."""

from __future__ import annotations

import random
from pathlib import Path

from liveobj.declare import Dual
from liveobj.objects.desktop import new_desktop
from liveobj.objects.desktop_items import Frame
from liveobj.objects.desktop_object import DesktopEndpoint
from liveobj.objects.standard_types import FolderEndpoint
from liveobj.objects.text_note import new_note
from tests.liveobj.objects.replicas import Replicas

NOTE = new_note("Plan", random.Random(6).randbytes)


def test_what_one_places_the_other_can_ask_for_by_name(tmp_path: Path) -> None:
    reference = new_desktop("Team", random.Random(1).randbytes)
    office = Replicas(tmp_path, reference, 2)
    desks = office.users("desktop", Dual[DesktopEndpoint])
    folder = office.user(1, "folder", Dual[FolderEndpoint])
    plane = office.proxies[0].instance.plane
    plane.place(b"not a reference", Frame(0, 0, 100, 100))
    desks[0].send("place", reference=NOTE, x=1.0, y=2.0, width=300.0, height=200.0)
    office.until(lambda: desks[1].last("names").get("names") == ["Plan"])
    folder.send("get", name="Plan")
    office.until(lambda: folder.last("item").get("reference") == NOTE)
    folder.send("get", name="Other")
    office.until(lambda: folder.last("missing") == {"name": "Other"})
    assert len(plane.items) == 2
    office.close()
