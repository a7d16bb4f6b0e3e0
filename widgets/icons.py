"""Icons and drawings in the colours of the theme, drawn sharp at the size that the screen needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import lru_cache

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QAbstractButton, QLabel, QToolButton, QWidget

import assets
from widgets.roles import Roles
from widgets.theme import Theme

# Lucide draws with a stroke of 2 on a grid of 24; ours is 1.75 at 20 pixels.
_STROKE = 2.1

# What buttons show at 1x, 2x and 3x: every size is drawn, none is scaled.
_ICON_SIZES_PX = (16, 20, 32, 40, 48, 60)
_PICTURE_SIZES_PX = (20, 40, 80, 120)
_DRAWN_MAX = 500


@lru_cache(maxsize=256)
def _renderer(svg: str) -> QSvgRenderer:
    renderer = QSvgRenderer(QByteArray(svg.encode()))
    renderer.setAspectRatioMode(Qt.AspectRatioMode.KeepAspectRatio)
    return renderer


@lru_cache(maxsize=128)
def _icon_source(name: str) -> str:
    source = assets.icon_file(name).read_text(encoding="utf-8")
    return source.replace('stroke-width="2"', f'stroke-width="{_STROKE}"')


@lru_cache(maxsize=32)
def _picture_source(name: str) -> str:
    return assets.picture_file(name).read_text(encoding="utf-8")


def icon_svg(name: str, colour: str) -> str:
    """The icon's SVG text with its one colour filled in."""
    return _icon_source(name).replace("currentColor", colour)


def picture_svg(name: str, roles: Roles) -> str:
    """The drawing's SVG text with the names of roles replaced by their colours."""
    source = _picture_source(name)
    for role, colour in asdict(roles).items():
        source = source.replace(f'"{role}"', f'"{colour}"')
    return source


def icon(theme: Theme, name: str, role: str = "text") -> QIcon:
    """A line icon in the colour that the role has now; `show_icon` keeps it right."""
    return _drawn(theme, icon_svg(name, getattr(theme.roles, role)), _ICON_SIZES_PX)


def picture_icon(theme: Theme, name: str) -> QIcon:
    """A drawing as an icon, for buttons of the toolbox."""
    return _drawn(theme, picture_svg(name, theme.roles), _PICTURE_SIZES_PX)


def show_icon(button: QAbstractButton, theme: Theme, name: str, role: str = "text") -> None:
    """Gives a button a line icon that follows the theme."""
    _keep(button, theme, lambda: button.setIcon(icon(theme, name, role)))


def icon_button(
    theme: Theme, name: str, title: str, run: Callable[[], object], role: str = "text"
) -> QToolButton:
    """A button that is an icon; its title is its hint, and what is read to who cannot see it."""
    button = QToolButton()
    show_icon(button, theme, name, role)
    button.setToolTip(title)
    button.setAccessibleName(title)
    button.clicked.connect(run)
    return button


def show_picture_icon(button: QAbstractButton, theme: Theme, name: str) -> None:
    """Gives a button a drawing that follows the theme."""
    _keep(button, theme, lambda: button.setIcon(picture_icon(theme, name)))


def show_picture(label: QLabel, theme: Theme, name: str, size: QSize) -> None:
    """Gives a label a drawing that follows the theme."""

    def refresh() -> None:
        label.setPixmap(picture(theme, name, size, label.devicePixelRatioF()))

    _keep(label, theme, refresh)


def _keep(widget: QWidget, theme: Theme, refresh: Callable[[], None]) -> None:
    refresh()
    theme.changed.connect(refresh)
    widget.destroyed.connect(lambda: theme.changed.disconnect(refresh))


def _drawn(theme: Theme, svg: str, sizes_px: Sequence[int]) -> QIcon:
    """Each icon is drawn once for a theme: rows and tabs ask for the same few again and again."""
    found = theme.drawn.get(svg)
    if found is None:
        if len(theme.drawn) >= _DRAWN_MAX:
            theme.drawn.clear()
        found = theme.drawn[svg] = _pixmaps(svg, sizes_px)
    return found


def _pixmaps(svg: str, sizes_px: Sequence[int]) -> QIcon:
    result = QIcon()
    for size_px in sizes_px:
        pixmap = QPixmap(size_px, size_px)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        _renderer(svg).render(painter, QRectF(0, 0, size_px, size_px))
        painter.end()
        result.addPixmap(pixmap)
    return result


def picture(theme: Theme, name: str, size: QSize, ratio: float) -> QPixmap:
    """A drawing of that size in device-independent pixels, sharp at the screen's pixel ratio."""
    pixmap = QPixmap(size * ratio)
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    target = QRectF(0, 0, size.width(), size.height())
    _renderer(picture_svg(name, theme.roles)).render(painter, target)
    painter.end()
    return pixmap


def application_icon() -> QIcon:
    """The icon of the program."""
    return QIcon(str(assets.icon_file("application")))
