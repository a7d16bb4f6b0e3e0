"""Draws the items of a desktop: frames with what is in them, cards from afar, rectangles from
farther still.

An item is drawn once into a picture of its own and copied from there as long as nothing about it
changes, so that panning costs the same whatever lies on the desktop.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QIcon, QPainter, QPixmap

from liveobj.objects.desktop_items import Form, Frame, Item
from widgets import fonts
from widgets.desktop.camera import Camera
from widgets.desktop.contents import Content, Contents
from widgets.desktop.frame_parts import STRIP, content_of
from widgets.desktop.ground import SHADOW_PX, Ground
from widgets.desktop.live_items import LiveItems
from widgets.icons import icon, picture
from widgets.language import tr
from widgets.roles import channels
from widgets.theme import Theme

# Narrower than this in the window, an item is a rectangle; narrower than that, a picture only.
FAR_PX = 40.0
CARD_PX = 110.0
# From here on there is room for a strip with a name in it, and for the object itself.
LIVE_ZOOM = 0.5
_CORNER = 12.0
# A picture whose size differs by less has the pixels of the screen.
_SAME = 0.004
_CACHE_BYTES_MAX = 96 * 1024 * 1024
# What is too large to be kept is drawn each time.
_KEPT_PIXELS_MAX = 3_000_000
# How long one frame may spend on reading references that have not been looked at before.
_READING_S = 0.004


class ItemPainter:
    """Paints items into a window. `start_frame` is called before the items of one frame; `later`
    is True afterwards if some were drawn as unknown because there was no time to read them."""

    def __init__(self, theme: Theme, contents: Contents, live: LiveItems) -> None:
        self._theme = theme
        self._contents = contents
        self._live = live
        self._ground = Ground(theme)
        self._kept: OrderedDict[tuple[object, ...], QPixmap] = OrderedDict()
        self._kept_bytes = 0
        self._versions: dict[str, int] = {}
        self._icons: dict[tuple[str, str], QIcon] = {}
        self._until_s = 0.0
        self._ratio = 1.0
        self.later = False

    def start_frame(self, ratio: float) -> None:
        """`ratio` is that of the screen."""
        self._ratio = ratio
        self._until_s = time.perf_counter() + _READING_S
        self.later = False

    def renew(self, identity: str) -> None:
        """An item looks different now."""
        self._versions[identity] = self._versions.get(identity, 0) + 1

    def forget(self, identity: str) -> None:
        self._versions.pop(identity, None)

    def forget_all(self) -> None:
        """The theme has changed."""
        self._kept.clear()
        self._kept_bytes = 0
        self._icons.clear()
        self._ground.forget()

    def paint_far(self, painter: QPainter, rectangles: Sequence[QRectF]) -> None:
        """Many at once, in the coordinates of the plane."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._mixed("muted", "surface", 0.32))
        painter.drawRects(list(rectangles))

    def paint(self, painter: QPainter, item: Item, frame: Frame, camera: Camera) -> None:
        """One item where its frame is in the window."""
        zoom, ratio = camera.zoom, self._ratio
        width = max(round(frame.width * zoom), 1)
        height = max(round(frame.height * zoom), 1)
        # On whole pixels of the screen, so that nothing is blurred.
        x = round((frame.x - camera.x) * zoom * ratio) / ratio
        y = round((frame.y - camera.y) * zoom * ratio) / ratio
        content = self._content(item)
        if width * height * ratio * ratio > _KEPT_PIXELS_MAX:
            painter.save()
            painter.translate(x, y)
            self._draw(painter, item, content, QSizeF(width, height), zoom)
            painter.restore()
            return
        card = self._card(item, content, width, height, zoom)
        painter.drawPixmap(QPointF(x - SHADOW_PX, y - SHADOW_PX), card)

    def _content(self, item: Item) -> Content | None:
        known = self._contents.known(item)
        if known is None and time.perf_counter() < self._until_s:
            known = self._contents.of(item)
        self.later |= known is None
        return known

    def _card(
        self, item: Item, content: Content | None, width: int, height: int, zoom: float
    ) -> QPixmap:
        key: tuple[object, ...]
        if width < CARD_PX:
            # All small ones of a kind look the same.
            name = None if content is None or content.kind is None else content.kind.picture
            key = (name, content is None, width, height, self._ratio)
        else:
            version = self._versions.get(item.identity, 0)
            shown = (item.title, item.form, content is not None, version)
            key = (item.identity, *shown, width, height, zoom, self._ratio)
        card = self._kept.get(key)
        if card is None:
            card = self._bake(item, content, QSize(width, height), zoom)
            self._keep(key, card)
        else:
            self._kept.move_to_end(key)
        return card

    def _bake(self, item: Item, content: Content | None, size: QSize, zoom: float) -> QPixmap:
        room = QSize(2 * SHADOW_PX, 2 * SHADOW_PX)
        card = QPixmap((size + room) * self._ratio)
        card.setDevicePixelRatio(self._ratio)
        card.fill(Qt.GlobalColor.transparent)
        painter = QPainter(card)
        painter.translate(SHADOW_PX, SHADOW_PX)
        self._draw(painter, item, content, QSizeF(size), zoom)
        painter.end()
        return card

    def _keep(self, key: tuple[object, ...], card: QPixmap) -> None:
        self._kept[key] = card
        self._kept_bytes += _bytes_of(card)
        while self._kept_bytes > _CACHE_BYTES_MAX:
            _, oldest = self._kept.popitem(last=False)
            self._kept_bytes -= _bytes_of(oldest)

    # One item, with its upper left corner at the origin

    def _draw(
        self, painter: QPainter, item: Item, content: Content | None, size: QSizeF, zoom: float
    ) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        whole = QRectF(QPointF(0, 0), size)
        corner = min(_CORNER * zoom, _CORNER * 1.5)
        self._ground.draw(painter, whole, corner, shadow=size.width() >= CARD_PX)
        if content is None:
            return
        if size.width() < CARD_PX:
            self._draw_picture(painter, content, whole)
        elif item.form is Form.LINK:
            self._draw_link(painter, item, content, whole, zoom)
        elif zoom < LIVE_ZOOM:
            self._draw_card(painter, item, content, whole)
        else:
            self._draw_frame(painter, item, content, whole, zoom)

    def _draw_picture(self, painter: QPainter, content: Content, room: QRectF) -> None:
        """The drawing of the kind, as large as there is room for, up to that of the toolbox."""
        side = min(room.width(), room.height()) * 0.62
        side = min(side, 64.0)
        if side < 6:
            return
        name = "object" if content.kind is None else content.kind.picture
        ratio = painter.device().devicePixelRatioF()
        drawing = picture(self._theme, name, QSize(round(side), round(side)), ratio)
        middle = room.center()
        painter.drawPixmap(QPointF(middle.x() - side / 2, middle.y() - side / 2), drawing)

    def _draw_card(self, painter: QPainter, item: Item, content: Content, whole: QRectF) -> None:
        """From afar: a picture, and the name in a size that can still be read."""
        foot = 26.0 if whole.height() >= 60 else 0.0
        room = whole.adjusted(1, 1, -1, -foot)
        shot = self._live.picture(item.identity)
        if shot is None or self._problem(item, content):
            self._draw_picture(painter, content, room)
        else:
            _draw_shot(painter, shot, room.adjusted(2, 6, -2, 0))
        if foot:
            words = QRectF(whole.left() + 8, whole.bottom() - foot, whole.width() - 16, foot - 4)
            self._draw_words(painter, self._live.name(item), words, fonts.Size.SMALL)

    def _draw_frame(
        self, painter: QPainter, item: Item, content: Content, whole: QRectF, zoom: float
    ) -> None:
        """The strip, and what is in the object."""
        strip = STRIP * zoom
        side = round(16 * zoom)
        problem = self._problem(item, content)
        name, role = ("triangle-alert", "warning") if problem else (_icon_name(content), "muted")
        painter.drawPixmap(
            QPointF(10 * zoom, (strip - side) / 2), self._icon_pixmap(painter, name, role, side)
        )
        words = QRectF(34 * zoom, 0, whole.width() - 70 * zoom, strip)
        size = max(round(fonts.Size.BASE * zoom), 8)
        self._draw_words(painter, self._live.name(item), words, size, left=True)
        dots = round(16 * zoom)
        painter.drawPixmap(
            QPointF(whole.width() - 24 * zoom, (strip - dots) / 2),
            self._icon_pixmap(painter, "ellipsis", "muted", dots),
        )
        painter.fillRect(QRectF(1, strip - 1, whole.width() - 2, 1), self._theme.colour("border"))
        inner = content_of(Frame(0, 0, item.frame.width, item.frame.height))
        room = QRectF(
            inner.x * zoom, strip, whole.width() - 2 * inner.x * zoom, whole.height() - strip
        ).adjusted(0, 0, 0, -8 * zoom)
        shot = self._live.picture(item.identity)
        if problem:
            self._draw_problem(painter, content, problem, room, zoom)
        elif shot is not None:
            _draw_shot(painter, shot, room)
        else:
            self._draw_picture(painter, content, room)

    def _draw_link(
        self, painter: QPainter, item: Item, content: Content, whole: QRectF, zoom: float
    ) -> None:
        """A card that leads to an object: its picture, its name, and what it is."""
        side = min(whole.height() - 12, 40 * max(zoom, 0.5))
        name = "object" if content.kind is None else content.kind.picture
        ratio = painter.device().devicePixelRatioF()
        drawing = picture(self._theme, name, QSize(round(side), round(side)), ratio)
        painter.drawPixmap(QPointF(8, (whole.height() - side) / 2), drawing)
        left = 14 + side
        size = max(round(fonts.Size.BASE * zoom), 8)
        half = whole.height() / 2
        room = QRectF(left, 0, whole.width() - left - 8, whole.height())
        what = tr("Link") if content.kind is None else tr("Link to a {kind}", kind=_word(content))
        upper = QRectF(room.left(), half - size * 1.6, room.width(), size * 1.6)
        lower = QRectF(room.left(), half, room.width(), size * 1.5)
        self._draw_words(painter, self._live.name(item), upper, size, left=True)
        self._draw_words(painter, what, lower, max(size - 1, 8), left=True, role="muted")

    def _draw_problem(
        self, painter: QPainter, content: Content, problem: str, room: QRectF, zoom: float
    ) -> None:
        """Why there is nothing to see."""
        upper = QRectF(room.left(), room.top(), room.width(), room.height() * 0.5)
        self._draw_picture(painter, content, upper)
        painter.setFont(fonts.font(max(round(fonts.Size.SMALL * zoom), 8)))
        painter.setPen(self._theme.colour("muted"))
        words = room.adjusted(12 * zoom, room.height() * 0.5, -12 * zoom, -4 * zoom)
        flags = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop
        painter.drawText(words, int(flags | Qt.TextFlag.TextWordWrap), problem)

    def _draw_words(
        self,
        painter: QPainter,
        text: str,
        room: QRectF,
        size: int,
        *,
        left: bool = False,
        role: str = "text",
    ) -> None:
        weight = fonts.Weight.MEDIUM if role == "text" else fonts.Weight.NORMAL
        font = fonts.font(size, weight)
        painter.setFont(font)
        painter.setPen(self._theme.colour(role))
        mode = Qt.TextElideMode.ElideRight
        words = QFontMetricsF(font).elidedText(text, mode, room.width())
        across = Qt.AlignmentFlag.AlignLeft if left else Qt.AlignmentFlag.AlignHCenter
        painter.drawText(room, int(across | Qt.AlignmentFlag.AlignVCenter), words)

    def _problem(self, item: Item, content: Content) -> str:
        return self._live.problem(item) or content.problem

    def _icon_pixmap(self, painter: QPainter, name: str, role: str, side: int) -> QPixmap:
        key = (name, role)
        if key not in self._icons:
            self._icons[key] = icon(self._theme, name, role)
        ratio = painter.device().devicePixelRatioF()
        return self._icons[key].pixmap(QSize(max(side, 1), max(side, 1)), ratio)

    def _mixed(self, role: str, ground: str, share: float) -> QColor:
        roles = self._theme.roles
        parts = zip(channels(getattr(roles, role)), channels(getattr(roles, ground)), strict=True)
        return QColor(*(round(a * share + b * (1 - share)) for a, b in parts))


def _draw_shot(painter: QPainter, shot: QPixmap, room: QRectF) -> None:
    """A picture of a view, as wide as the room, its upper part if it is too high."""
    ratio = shot.devicePixelRatio()
    width, height = shot.width() / ratio, shot.height() / ratio
    scale = room.width() / width
    device = painter.device().devicePixelRatioF()
    if abs(scale * device / ratio - 1.0) < _SAME:
        # As many pixels as on the screen: each of them on one, so that letters stay sharp.
        left, top = round(room.left() * device) / device, round(room.top() * device) / device
        high = min(shot.height(), round(room.height() * device))
        target = QRectF(left, top, shot.width() / device, high / device)
        painter.drawPixmap(target, shot, QRectF(0, 0, shot.width(), high))
        return
    shown = min(height, room.height() / scale)
    source = QRectF(0, 0, shot.width(), shown * ratio)
    painter.drawPixmap(QRectF(room.left(), room.top(), room.width(), shown * scale), shot, source)


def _bytes_of(card: QPixmap) -> int:
    return card.width() * card.height() * 4


def _icon_name(content: Content) -> str:
    return "box" if content.kind is None else content.kind.icon


def _word(content: Content) -> str:
    return "" if content.kind is None else content.kind.name_inside
