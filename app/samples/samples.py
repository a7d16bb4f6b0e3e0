"""The list of all samples, by the word of their kind; a new kind is one line here."""

from __future__ import annotations

from app.samples import chart, chat, desktop, document, files, folder, image, note, table
from app.samples.sample import Sample

SAMPLES: dict[str, Sample] = {
    "note": note.SAMPLE,
    "document": document.SAMPLE,
    "desktop": desktop.SAMPLE,
    "folder": folder.SAMPLE,
    "files": files.SAMPLE,
    "chat": chat.SAMPLE,
    "table": table.SAMPLE,
    "chart": chart.SAMPLE,
    "image": image.SAMPLE,
}
