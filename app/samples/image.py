"""An image: a drawing of a terrace on which two people mark things."""

from __future__ import annotations

import math

from app.samples.drawing import HEIGHT_PX, WIDTH_PX, terrace_png
from app.samples.sample import Sample, Shown
from liveobj.objects.image import Image, Mark
from widgets.object_view import ObjectView

TITLE = "The terrace"
_PEN = 0.006
# The table on the right, which the ring goes around.
_CENTRE, _RADII, _POINTS = (0.715, 0.735), (0.13, 0.14), 48


def fill(image: Image) -> None:
    """The drawing alone."""
    image.show(terrace_png(), f"{TITLE}.png")


def _image(view: ObjectView) -> Image:
    image = view.opening.shared
    assert isinstance(image, Image), "an image holds one"
    return image


def _begin(view: ObjectView) -> None:
    image = _image(view)
    fill(image)
    image.draw(Mark("pen", _ring(), image.presence.mine.colour, _PEN))


def _point(view: ObjectView) -> None:
    image = _image(view)
    arrow = ((0.44, 0.88), (0.575, 0.785))
    image.draw(Mark("arrow", arrow, image.presence.mine.colour, _PEN))


def _ring() -> tuple[tuple[float, float], ...]:
    """Once round and a little further, as a hand draws it."""
    turns = (2.15 * math.pi * number / _POINTS for number in range(_POINTS + 1))
    return tuple(
        (
            _CENTRE[0] + _RADII[0] * (1 + 0.02 * turn / math.pi) * math.cos(turn),
            _CENTRE[1] + _RADII[1] * (1 + 0.02 * turn / math.pi) * math.sin(turn),
        )
        for turn in turns
    )


def _is_whole(shown: Shown) -> bool:
    return (shown["marks"], shown["pixels"]) == ("2 marks", [WIDTH_PX, HEIGHT_PX])


SAMPLE = Sample(TITLE, (_begin, _point), _is_whole)
