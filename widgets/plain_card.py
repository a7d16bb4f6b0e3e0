"""An object that has no view of its own: what it is, its endpoints and how it is; while it is still
asked for, a skeleton."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from liveobj.runtime import ProxyState
from liveobj.showing import Showing
from widgets.card_page import CardPage
from widgets.icons import show_picture
from widgets.language import tr, tr_n
from widgets.look import SPACE_PX, label
from widgets.theme import Theme

_PICTURE = QSize(56, 56)
_BARS = (0.9, 0.7, 0.8, 0.45)


def state_words(state: ProxyState) -> str:
    """The state of an object for a person."""
    words = {
        ProxyState.CREATED: tr("starting"),
        ProxyState.CONNECTING: tr("being asked for"),
        ProxyState.RUNNING: tr("running"),
        ProxyState.ASLEEP: tr("asleep"),
        ProxyState.FAILED: tr("stopped"),
        ProxyState.DISPOSED: tr("closed"),
    }
    return words.get(state, state.name.lower())


class Skeleton(QWidget):
    """Bars where words will be."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(len(_BARS) * 7 * SPACE_PX)
        self.setAccessibleName(tr("Waiting for an answer"))

    # Qt

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.colour("hover"))
        for number, share in enumerate(_BARS):
            top = number * 7 * SPACE_PX
            painter.drawRoundedRect(0, top, round(self.width() * share), 4 * SPACE_PX, 4, 4)
        painter.end()


class PlainCard(CardPage):
    """Shows one `Showing`. `show_state` is called when its state may have changed."""

    def __init__(self, theme: Theme, showing: Showing, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._showing = showing
        drawing = QLabel()
        show_picture(drawing, theme, "object", _PICTURE)
        self._state = label("", "muted", wrap=True)
        self._skeleton = Skeleton(theme)
        self._endpoints = label("", "code", wrap=True)
        self._endpoints.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._endpoints.setAccessibleName(tr("Endpoints"))
        words = QVBoxLayout()
        words.setSpacing(SPACE_PX)
        words.addWidget(label(showing.title, "heading", wrap=True))
        words.addWidget(self._state)
        head = QHBoxLayout()
        head.setSpacing(4 * SPACE_PX)
        head.addWidget(drawing, 0, Qt.AlignmentFlag.AlignTop)
        head.addLayout(words, 1)
        column = self.column
        column.addLayout(head)
        column.addWidget(self._skeleton)
        column.addWidget(self._endpoints)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.show_state()

    def show_state(self) -> None:
        """Takes the newest state of the object."""
        showing = self._showing
        waiting = showing.state in (ProxyState.CREATED, ProxyState.CONNECTING)
        self._skeleton.setVisible(waiting)
        self._endpoints.setVisible(not waiting)
        self._state.setText(self._sentence())
        self._endpoints.setText("\n".join(self.lines()))
        self.setAccessibleName(f"{showing.title}. {self._state.text()}")

    def _sentence(self) -> str:
        showing = self._showing
        state = state_words(showing.state)
        if showing.problem:
            return tr("{state}: {why}", state=state.capitalize(), why=showing.problem)
        if showing.state is ProxyState.CONNECTING:
            return tr("It is being asked for. It appears here when somebody answers.")
        count = len(showing.type.endpoints)
        ends = tr_n("{count} endpoint", "{count} endpoints", count)
        return tr(
            "It works without a window: {state}, with {endpoints} for other objects to use.",
            state=state,
            endpoints=ends,
        )

    def lines(self) -> list[str]:
        """Every endpoint with what it receives and sends."""
        result: list[str] = []
        for name, endpoint in self._showing.type.endpoints.items():
            here = tr("connected") if self._showing.endpoint_connected(name) else tr("free")
            result.append(f"{name} ({here})")
            result += [f"    ← {event}{value}" for event, value in endpoint.incoming.items()]
            result += [f"    → {event}{value}" for event, value in endpoint.outgoing.items()]
        return result
