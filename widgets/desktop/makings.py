"""New objects out of what is at hand: a copy of another one, a note of a text, an image of a
picture."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from liveobj.objects.image import PICTURE_BYTES_MAX, Image
from liveobj.objects.shared_document import TITLE_CHARACTERS_MAX
from liveobj.objects.text_note import TextNote
from liveobj.references import Reference
from liveobj.runtime import CannotDereference
from widgets.image.decoding import BadPicture, decode_picture
from widgets.language import tr
from widgets.object_view import Surroundings

TEXT_CHARACTERS_MAX = 1_000_000
PICTURE_ENDINGS = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg"})
_TITLE_CHARACTERS = 40


def copy_of(around: Surroundings, reference: Reference) -> Reference:
    """A new object that holds what another one holds here now, and goes its own way from then on.
    Raises a Problem if it cannot be made."""
    kind = around.kinds.of(reference)
    if kind is None:
        raise CannotDereference(tr("Only what can be shown here can be copied."))
    source = around.open(reference)
    try:
        content = source.shared.document.export_snapshot()
        title = tr("{title} (copy)", title=source.title[: TITLE_CHARACTERS_MAX - 20])
    finally:
        source.close()
    made = around.make(kind, title)
    copy = around.open(made)
    try:
        copy.shared.document.import_update(content)
        copy.shared.rename(title)
        copy.shared.flush()
    finally:
        copy.close()
    return made


def note_of(around: Surroundings, text: str) -> Reference:
    """A new note with a text in it, named after its first words. Raises a Problem."""
    words = " ".join(text.split())
    title = words[:_TITLE_CHARACTERS].rstrip() + ("…" if len(words) > _TITLE_CHARACTERS else "")
    made = around.make(around.kinds["note"], title)
    opening = around.open(made)
    try:
        note = opening.shared
        assert isinstance(note, TextNote), "it was made as a note"
        note.text.insert(0, text[:TEXT_CHARACTERS_MAX])
        note.flush()
    finally:
        opening.close()
    return made


@dataclass(frozen=True, slots=True)
class PictureSource:
    """A picture from elsewhere: a file, or bytes that came by themselves."""

    name: str
    file: Path | None = None
    data: bytes = b""

    def read(self) -> bytes:
        """The bytes, within bounds; raises BadPicture."""
        if self.file is None:
            return self.data
        try:
            if not self.file.is_file():
                raise BadPicture(tr("“{name}” is not a file.", name=self.name))
            with self.file.open("rb") as stream:
                data = stream.read(PICTURE_BYTES_MAX + 1)
        except OSError:
            raise BadPicture(tr("“{name}” cannot be read.", name=self.name)) from None
        if len(data) > PICTURE_BYTES_MAX:
            most = PICTURE_BYTES_MAX // 1024**2
            raise BadPicture(tr("A picture has at most {most} MB.", most=most))
        return data


def image_of(around: Surroundings, source: PictureSource) -> tuple[Reference, float]:
    """A new image that shows a picture, and how high that is for its width. Raises a Problem."""
    data = source.read()
    picture = decode_picture(data)
    made = around.make(around.kinds["image"], Path(source.name).stem or tr("Picture"))
    opening = around.open(made)
    try:
        image = opening.shared
        assert isinstance(image, Image), "it was made as an image"
        image.show(data, source.name)
        image.flush()
    finally:
        opening.close()
    return made, picture.height() / max(picture.width(), 1)
