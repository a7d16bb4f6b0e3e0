"""Grounds that are painted behind the text of one view, each by somebody who knows nothing of the
others: selections of other people, places that were found, places with comments."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QTextEdit


class TextLayers:
    """The layers of one view, by name; the one that was first shown lies lowest."""

    def __init__(self, view: QTextEdit) -> None:
        self._view = view
        self._layers: dict[str, list[QTextEdit.ExtraSelection]] = {}

    def show(self, name: str, grounds: Sequence[QTextEdit.ExtraSelection]) -> None:
        """Takes what a layer shows from now on."""
        if grounds or self._layers.get(name):
            self._layers[name] = list(grounds)
            every = [ground for layer in self._layers.values() for ground in layer]
            self._view.setExtraSelections(every)
