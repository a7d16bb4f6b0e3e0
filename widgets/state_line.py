"""The truth about the open object in words, at the foot of the window; a click tells more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFocusEvent, QIcon, QKeyEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QPushButton, QWidget

from liveobj.objects.shared_document import SharedState
from widgets.elided_label import ElidedLabel
from widgets.icons import icon
from widgets.language import tr
from widgets.look import SPACE_PX, float_above, kind, label
from widgets.people import ShownPerson
from widgets.state_words import NetworkWords, details, summary
from widgets.theme import Theme
from widgets.throttle import Alarm, QtAlarm

# "saved" is shown when nothing new was written for so long: the words do not flicker at each key.
SETTLE_S = 0.3
# What is on its way to the others for longer than this is said.
SENDING_S = 1.0


class StateDetails(QFrame):
    """The card that explains the state line, floating in the window; goes with a click elsewhere
    or Esc."""

    def __init__(
        self,
        theme: Theme,
        rows: Sequence[tuple[str, str]],
        people: Sequence[ShownPerson],
        window: QWidget,
    ) -> None:
        super().__init__(window)
        kind(self, "float")
        float_above(self, theme)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("; ".join(f"{heading}: {words}" for heading, words in rows))
        self.setFixedWidth(110 * SPACE_PX)
        grid = QGridLayout(self)
        margin = 5 * SPACE_PX
        grid.setContentsMargins(margin, margin, margin, margin)
        grid.setHorizontalSpacing(4 * SPACE_PX)
        grid.setVerticalSpacing(3 * SPACE_PX)
        grid.setColumnStretch(1, 1)
        if people:
            names = ", ".join(one.words for one in people)
            rows = [(tr("Here now"), names), *rows]
        for number, (heading, sentence) in enumerate(rows):
            grid.addWidget(label(heading, "strong"), number, 0, Qt.AlignmentFlag.AlignTop)
            words = label(sentence, "muted", wrap=True)
            grid.addWidget(words, number, 1, Qt.AlignmentFlag.AlignTop)

    # Qt

    def focusOutEvent(self, _event: QFocusEvent) -> None:
        self.close()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close()


class StateLine(QFrame):
    """Shows one object's state, or the network alone while none is open. That something is not
    saved is shown at once; that it is, a little later.

    Attributes: `text`, what the line says.
    """

    def __init__(
        self,
        theme: Theme,
        network: NetworkWords,
        parent: QWidget | None = None,
        settling: Alarm | None = None,
        sending: Alarm | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._network = network
        self._state: SharedState | None = None
        self._owner: object = None
        self._settling = _Delay(settling or QtAlarm(self), SETTLE_S, self._show)
        self._sending = _Delay(sending or QtAlarm(self), SENDING_S, self._show)
        self._people: tuple[ShownPerson, ...] = ()
        kind(self, "footer")
        self._button = QPushButton()
        kind(self._button, "state")
        self._button.setToolTip(tr("Show what this means"))
        self._button.clicked.connect(self.show_details)
        self._warns = False
        theme.changed.connect(self._show_sign)
        self._network_label = ElidedLabel(network.short, "small")
        self._network_label.explain(network.sentence)
        self._network_label.setAlignment(
            Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        )
        row = QHBoxLayout(self)
        row.setContentsMargins(2 * SPACE_PX, SPACE_PX, 4 * SPACE_PX, SPACE_PX)
        row.addWidget(self._button)
        row.addWidget(self._network_label, 1)
        self.show_state(None, ())

    @property
    def text(self) -> str:
        return self._button.text()

    @property
    def network_text(self) -> str:
        return self._network_label.text()

    def show_state(
        self, state: SharedState | None, people: Sequence[ShownPerson], owner: object = None
    ) -> None:
        """Shows the newest state of the object in front, which is that of `owner`."""
        same, before = owner is self._owner, self._state
        self._state, self._people, self._owner = state, tuple(people), owner
        saved = state is None or (state.saved and state.problem is None)
        was_saved = before is None or (before.saved and before.problem is None)
        if not same or not saved:
            self._settling.cancel()
        elif not was_saved:
            self._settling.start()
        unsent = state is not None and state.unsent > 0
        if not same or not unsent:
            self._sending.cancel()
        if unsent and not self._sending.over:
            self._sending.start()
        self._show()

    def _show(self) -> None:
        state = self._state
        if state is not None and self._settling.running:
            state = replace(state, saved=False)
        if state is not None and not self._sending.over:
            state = replace(state, unsent=0)
        text = "" if state is None else summary(state)
        if text != self._button.text():
            self._button.setText(text)
            self._button.setAccessibleName(tr("State: {words}", words=text))
        warns = state is not None and state.problem is not None
        if warns != self._warns:
            self._warns = warns
            kind(self._button, "state-warning" if warns else "state")
            self._show_sign()
        self._button.setVisible(state is not None)

    def _show_sign(self) -> None:
        sign = icon(self._theme, "triangle-alert", "raised") if self._warns else QIcon()
        self._button.setIcon(sign)

    def show_network(self, network: NetworkWords) -> None:
        """Takes what the program now knows about its network."""
        self._network = network
        self._network_label.setText(network.short)
        self._network_label.explain(network.sentence)

    def show_details(self) -> None:
        """Opens the card above the line."""
        if self._state is None:
            return
        rows = details(self._state, self._network)
        card = StateDetails(self._theme, rows, self._people, self.window())
        card.adjustSize()
        foot = self.mapTo(self.window(), QPoint(2 * SPACE_PX, -2 * SPACE_PX))
        card.move(foot.x(), foot.y() - card.height())
        card.show()
        card.raise_()
        card.setFocus()


class _Delay:
    """Time that passes once it was started, until it is cancelled. `running` until it is `over`."""

    def __init__(self, alarm: Alarm, delay_s: float, done: Callable[[], None]) -> None:
        self._alarm = alarm
        self._delay_s = delay_s
        self._done = done
        self.running = False
        self.over = False

    def start(self) -> None:
        """Nothing new while it runs."""
        if not self.running:
            self.running, self.over = True, False
            self._alarm.set(self._delay_s, self._ring)

    def cancel(self) -> None:
        if self.running:
            self._alarm.clear()
        self.running = self.over = False

    def _ring(self) -> None:
        self.running, self.over = False, True
        self._done()
