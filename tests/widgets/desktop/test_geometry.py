"""Cameras, the index, lining up and snapping: geometry without a window."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liveobj.objects.desktop_items import SIDE_MIN, Frame
from tests.widgets.desktop.items import link, thing
from widgets.desktop.arranging import (
    Axis,
    Edge,
    SnapLine,
    aligned,
    distributed,
    resized,
    snapped,
)
from widgets.desktop.camera import ZOOM_MAX, ZOOM_MIN, Camera, fitting
from widgets.desktop.frame_parts import Part, content_of, edges_at, part_at
from widgets.desktop.item_index import ItemIndex

place = st.floats(-50_000, 50_000)
side = st.floats(50, 3000)
frames = st.builds(Frame, place, place, side, side)


@given(place, place, st.floats(0.05, 4), st.floats(0.1, 10), st.floats(0, 900), st.floats(0, 700))
def test_zooming_keeps_what_is_under_the_pointer(
    x: float, y: float, zoom: float, factor: float, at_x: float, at_y: float
) -> None:
    camera = Camera(x, y, zoom)
    before = camera.to_plane(at_x, at_y)
    nearer = camera.zoomed(factor, at_x, at_y)
    assert nearer.to_plane(at_x, at_y) == pytest.approx(before, abs=1e-3)
    assert ZOOM_MIN <= nearer.zoom <= ZOOM_MAX


@given(frames)
def test_what_fits_is_in_the_window(frame: Frame) -> None:
    camera = fitting(frame, 900, 700)
    left, top = camera.to_window(frame.x, frame.y)
    right, bottom = camera.to_window(frame.right, frame.bottom)
    assert min(left, top) >= -1
    assert right <= 901
    assert bottom <= 701
    assert camera.zoom <= 1.0


def test_scrolling_is_in_pixels_and_flights_are_even() -> None:
    assert Camera(10, 10, 0.5).scrolled(5, -5) == Camera(20, 0, 0.5)
    assert Camera(0, 0, 1).between(Camera(10, 20, 4), 0.5) == Camera(5, 10, 2)


@given(st.dictionaries(st.integers(0, 40), frames, max_size=30), frames, st.data())
def test_the_index_finds_what_looking_at_all_finds(
    items: dict[int, Frame], wanted: Frame, data: st.DataObject
) -> None:
    index = ItemIndex()
    for number, frame in items.items():
        index.put(str(number), frame)
    for number in data.draw(st.sets(st.sampled_from(sorted(items)))) if items else ():
        if number % 2:
            items[number] = items[number].moved(700, -300)
            index.put(str(number), items[number])
        else:
            del items[number]
            index.remove(str(number))
    index.remove("gone")
    expected = {str(number) for number, frame in items.items() if frame.meets(wanted)}
    assert index.meeting(wanted) == expected
    assert len(index) == len(items)


def test_lining_up_moves_units_as_a_whole() -> None:
    units = [
        {"a": Frame(0, 0, 100, 50)},
        {"b": Frame(30, 100, 40, 50), "c": Frame(90, 120, 60, 50)},
    ]
    left = aligned(units, Edge.LEFT)
    assert (left["a"].x, left["b"].x, left["c"].x) == (0, 0, 60)
    right = aligned(units, Edge.RIGHT)
    assert (right["a"].right, right["c"].right) == (150, 150)
    centre = aligned(units, Edge.CENTRE)
    assert centre["a"].x + 50 == centre["b"].x + 60 == 75
    assert aligned(units, Edge.TOP)["c"].y == 20
    assert aligned(units, Edge.BOTTOM)["a"].bottom == 170
    assert aligned(units, Edge.MIDDLE)["a"].y + 25 == 85


def test_spreading_makes_equal_spaces_between_first_and_last() -> None:
    units = [
        {"a": Frame(0, 0, 10, 10)},
        {"c": Frame(100, 5, 20, 10)},
        {"b": Frame(15, 50, 30, 10)},
    ]
    spread = distributed(units, Axis.ACROSS)
    assert (spread["a"].x, spread["b"].x, spread["c"].x) == (0, 40, 100)
    assert spread["b"].x - spread["a"].right == spread["c"].x - spread["b"].right
    down = distributed(units, Axis.DOWN)
    assert down["c"].y - down["a"].bottom == down["b"].y - down["c"].bottom
    assert distributed(units[:2], Axis.ACROSS) == {}


def test_snapping_takes_the_nearest_edge_or_middle_within_reach() -> None:
    other = Frame(100, 0, 50, 50)
    snap = snapped(Frame(103, 200, 80, 80), [other], 6)
    assert (snap.dx, snap.dy) == (-3, 0)
    assert snap.lines == (SnapLine(True, 100, 0, 280),)
    assert snapped(Frame(110, 200, 300, 80), [other], 6).lines == ()
    middle = snapped(Frame(90, -20, 70, 92), [other], 6)
    assert (middle.dx, middle.dy) == (0, -1)
    assert len(middle.lines) == 2


@given(frames, place, place, st.sets(st.sampled_from([Edge.LEFT, Edge.TOP, Edge.BOTTOM])))
def test_a_frame_never_turns_inside_out(
    frame: Frame, dx: float, dy: float, edges: set[Edge]
) -> None:
    after = resized(frame, dx, dy, frozenset(edges))
    assert after.width >= SIDE_MIN - 1e-6
    assert after.height >= SIDE_MIN - 1e-6
    assert after.right == pytest.approx(frame.right)


def test_parts_of_a_frame() -> None:
    frame = Frame(100, 100, 300, 200)
    assert part_at(thing(), frame, 110, 110) is Part.ICON
    assert part_at(thing(), frame, 200, 110) is Part.STRIP
    assert part_at(thing(), frame, 390, 110) is Part.MENU
    assert part_at(thing(), frame, 200, 200) is Part.CONTENT
    assert part_at(link(), frame, 110, 110) is Part.ICON
    assert part_at(link(), frame, 250, 110) is Part.CONTENT
    assert content_of(frame).y == 132
    assert edges_at(frame, 100, 100, 1.0) == {Edge.LEFT, Edge.TOP}
    assert edges_at(frame, 398, 200, 1.0) == {Edge.RIGHT}
    assert edges_at(frame, 250, 299, 1.0) == {Edge.BOTTOM}
    assert edges_at(frame, 250, 200, 1.0) == frozenset()
    assert edges_at(frame, 94, 200, 0.5) == {Edge.LEFT}
