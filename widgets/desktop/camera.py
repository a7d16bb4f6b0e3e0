"""Where one looks: which part of the plane is in the window, and how large. Knows no widget."""

from __future__ import annotations

from dataclasses import dataclass

from liveobj.objects.desktop_items import COORDINATE_MAX, Frame

ZOOM_MIN = 0.02
ZOOM_MAX = 4.0


@dataclass(frozen=True, slots=True)
class Camera:
    """`x` and `y` are the place on the plane at the upper left corner of the window."""

    x: float = 0.0
    y: float = 0.0
    zoom: float = 1.0

    def to_window(self, x: float, y: float) -> tuple[float, float]:
        return (x - self.x) * self.zoom, (y - self.y) * self.zoom

    def to_plane(self, x: float, y: float) -> tuple[float, float]:
        return self.x + x / self.zoom, self.y + y / self.zoom

    def seen(self, width: float, height: float) -> Frame:
        """What a window of that size shows."""
        return Frame(self.x, self.y, width / self.zoom, height / self.zoom)

    def scrolled(self, dx: float, dy: float) -> Camera:
        """Moved by pixels of the window."""
        x, y = self.x + dx / self.zoom, self.y + dy / self.zoom
        return Camera(_kept(x), _kept(y), self.zoom)

    def zoomed(self, factor: float, x: float, y: float) -> Camera:
        """Nearer or farther; what is at `x`, `y` in the window stays there."""
        zoom = min(max(self.zoom * factor, ZOOM_MIN), ZOOM_MAX)
        plane_x, plane_y = self.to_plane(x, y)
        return Camera(_kept(plane_x - x / zoom), _kept(plane_y - y / zoom), zoom)

    def between(self, other: Camera, share: float) -> Camera:
        """On the way to another one; sizes change by ratios, so that the way looks even."""
        zoom = self.zoom * (other.zoom / self.zoom) ** share
        return Camera(
            self.x + (other.x - self.x) * share, self.y + (other.y - self.y) * share, zoom
        )


def fitting(
    frame: Frame, width: float, height: float, margin: float = 48.0, zoom_max: float = 1.0
) -> Camera:
    """The camera that shows all of a frame in the middle of a window of that size."""
    room_x, room_y = max(width - 2 * margin, 1.0), max(height - 2 * margin, 1.0)
    zoom = min(room_x / max(frame.width, 1.0), room_y / max(frame.height, 1.0), zoom_max)
    return centred(frame, width, height, max(zoom, ZOOM_MIN))


def centred(frame: Frame, width: float, height: float, zoom: float) -> Camera:
    """The camera that has the middle of a frame in the middle of the window."""
    middle_x, middle_y = frame.x + frame.width / 2, frame.y + frame.height / 2
    return Camera(
        _kept(middle_x - width / 2 / zoom), _kept(middle_y - height / 2 / zoom), min(zoom, ZOOM_MAX)
    )


def _kept(value: float) -> float:
    return min(max(value, -2 * COORDINATE_MAX), 2 * COORDINATE_MAX)
