"""The truth about the open object in words, at the foot of the window; a click tells more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QPushButton, QWidget

from liveobj.objects.shared_document import SharedState
from widgets.elided_label import ElidedLabel
from widgets.language import tr, tr_n
from widgets.look import SPACE_PX, float_above, kind, label
from widgets.people import ShownPerson
from widgets.theme import Theme


@dataclass(frozen=True, slots=True)
class NetworkWords:
    """What the program knows about its network: a few words for the line, one sentence behind."""

    short: str
    sentence: str


def summary(state: SharedState) -> str:
    """The line itself: "saved here · 3 people have it · 0 unsent"."""
    parts = [
        _saved_words(state),
        _people_words(state.people),
        tr_n("{count} unsent", "{count} unsent", state.unsent),
    ]
    if state.catching_up:
        parts.insert(1, tr("catching up"))
    if not state.can_edit:
        parts.append(tr("you can read it"))
    return " · ".join(parts)


def _saved_words(state: SharedState) -> str:
    if state.problem is not None:
        return tr("not saved")
    return tr("saved here") if state.saved else tr("saving")


def _people_words(people: int) -> str:
    if people == 0:
        return tr("offline")
    return tr_n("only you have it", "{count} people have it", people)


def details(state: SharedState, network: NetworkWords) -> list[tuple[str, str]]:
    """Headings and sentences that explain the line."""
    if state.problem is not None:
        saved = state.problem
    elif state.saved:
        saved = tr("Everything in it is on this PC's disk.")
    else:
        saved = tr("The newest change is on its way to this PC's disk.")
    if state.people == 0:
        together = tr("This PC is not connected to others. What you write is merged when it is.")
    elif state.people == 1:
        together = tr("Nobody else has it open. Share it, and it fills with life.")
    else:
        together = tr("{count} people have it open, you included.", count=state.people)
    if state.catching_up:
        together += " " + tr("What was written before is still arriving.")
    if state.unsent == 0:
        unsent = tr("Nothing of yours waits to be sent.")
    else:
        unsent = tr_n(
            "{count} of your changes waits for the network. It is not lost.",
            "{count} of your changes wait for the network. They are not lost.",
            state.unsent,
        )
    rows = [(tr("Saved"), saved), (tr("Together"), together), (tr("Unsent"), unsent)]
    if not state.can_edit:
        rows.append(
            (tr("Rights"), tr("This reference lets you read. Ask its owner for one to edit."))
        )
    return [*rows, (tr("Network"), network.sentence)]


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
    """Shows one object's state, or the network alone while none is open.

    Attributes: `text`, what the line says.
    """

    def __init__(self, theme: Theme, network: NetworkWords, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._network = network
        self._state: SharedState | None = None
        self._people: tuple[ShownPerson, ...] = ()
        kind(self, "footer")
        self._button = QPushButton()
        kind(self._button, "state")
        self._button.setToolTip(tr("Show what this means"))
        self._button.clicked.connect(self.show_details)
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

    def show_state(self, state: SharedState | None, people: Sequence[ShownPerson]) -> None:
        """Takes the newest state of the object in front."""
        self._state = state
        self._people = tuple(people)
        text = "" if state is None else summary(state)
        if text != self._button.text():
            self._button.setText(text)
            self._button.setAccessibleName(tr("State: {words}", words=text))
        self._button.setVisible(state is not None)

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
