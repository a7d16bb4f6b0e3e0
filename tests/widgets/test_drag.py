"""Objects on their way by drag and drop: three forms out, anything in."""

from __future__ import annotations

import random
import stat
from pathlib import Path

import pytest
from PySide6.QtCore import QByteArray, QMimeData, QUrl
from PySide6.QtWidgets import QApplication

from liveobj.objects.text_note import new_note
from liveobj.references import (
    Reference,
    read_reference,
    read_reference_file,
    write_reference_file,
)
from widgets import drag

pytestmark = pytest.mark.usefixtures("qapp")


def note(title: str = "Plan", seed: int = 1) -> Reference:
    return new_note(title, random.Random(seed).randbytes)


def text_mime(text: str) -> QMimeData:
    mime = QMimeData()
    mime.setText(text)
    return mime


def file_mime(*files: Path) -> QMimeData:
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(file)) for file in files])
    return mime


def test_an_object_goes_out_in_three_forms() -> None:
    reference = note()
    mime = drag.mime_of(reference, "Plan: B/2")
    assert mime.formats() == [drag.REFERENCE_MIME, "text/uri-list", "text/plain"]
    assert read_reference(bytes(mime.data(drag.REFERENCE_MIME).data())) == reference
    assert read_reference(mime.text().encode()) == reference
    (url,) = mime.urls()
    file = Path(url.toLocalFile())
    assert file.name == "Plan- B-2.liveobject"
    assert read_reference_file(file) == reference
    assert stat.S_IMODE(file.parent.parent.stat().st_mode) == 0o700


def test_the_file_is_written_only_when_somebody_asks_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written: list[Path] = []

    def write(_reference: object, file: Path) -> None:
        written.append(file)

    monkeypatch.setattr(drag, "write_reference_file", write)
    mime = drag.mime_of(note(), "Plan")
    assert drag.may_hold_references(mime)
    assert drag.references_in(mime) == [note()]
    assert written == []
    assert mime.urls()
    assert len(written) == 1


def test_when_the_disk_refuses_the_other_forms_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    def write(_reference: object, _file: Path) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(drag, "write_reference_file", write)
    mime = drag.mime_of(note(), "Plan")
    assert mime.urls() == []
    assert drag.references_in(mime) == [note()]


def test_several_objects_go_as_files() -> None:
    objects = [(note("A", 1), "Same"), (note("B", 2), "Same")]
    mime = drag.mime_of_all(objects)
    assert drag.references_in(mime) == [reference for reference, _ in objects]
    assert len({url.toString() for url in mime.urls()}) == 2


def test_files_text_and_our_own_form_are_read(tmp_path: Path) -> None:
    reference = note()
    file = tmp_path / "Plan.LiveObject"
    write_reference_file(reference, file)
    own = QMimeData()
    own.setData(drag.REFERENCE_MIME, drag.mime_of(reference, "x").data(drag.REFERENCE_MIME))
    for mime in (file_mime(file), text_mime(drag.mime_of(reference, "x").text()), own):
        assert drag.may_hold_references(mime)
        assert drag.references_in(mime) == [reference]


def test_the_clipboard_carries_objects(qapp: QApplication) -> None:
    qapp.clipboard().setMimeData(drag.mime_of(note(), "Plan"))
    assert drag.references_in(qapp.clipboard().mimeData()) == [note()]
    qapp.clipboard().clear()


@pytest.mark.parametrize(
    "text", ["", "hello", "<b>bold</b>", "\udcff", "liveobject", "<liveobject", "<" * 3_000_000]
)
def test_other_text_holds_nothing(text: str) -> None:
    assert drag.references_in(text_mime(text)) == []


def test_a_billion_laughs_and_other_hostile_forms_are_refused_with_a_sentence(
    tmp_path: Path,
) -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa">]><liveobject>&a;</liveobject>'
    own = QMimeData()
    own.setData(drag.REFERENCE_MIME, QByteArray(b"\xff" * 100))
    large = tmp_path / "large.liveobject"
    large.write_bytes(b"<liveobject>" * 200_000)
    folder = tmp_path / "folder.liveobject"
    folder.mkdir()
    gone = tmp_path / "gone.liveobject"
    for mime in (text_mime(bomb), own, file_mime(large), file_mime(folder), file_mime(gone)):
        dragged = drag.read_drag(mime)
        assert dragged.references == ()
        assert len(dragged.problems) == 1
        assert dragged.problems[0].endswith((".", ")"))


def test_a_bad_file_does_not_hide_the_good_one(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.liveobject", tmp_path / "bad.liveobject"
    write_reference_file(note(), good)
    bad.write_text("nothing")
    dragged = drag.read_drag(file_mime(bad, good, tmp_path / "letter.odt"))
    assert dragged.references == (note(),)
    assert len(dragged.problems) == 1


def test_files_of_other_pcs_are_not_fetched() -> None:
    mime = QMimeData()
    mime.setUrls([QUrl("https://example.com/x.liveobject")])
    assert drag.read_drag(mime) == drag.Dragged()


def test_no_more_files_than_one_would_ever_want(tmp_path: Path) -> None:
    files = [tmp_path / f"{n}.liveobject" for n in range(drag.FILES_MAX + 50)]
    assert len(drag.reference_files_in(file_mime(*files))) == drag.FILES_MAX


def test_a_tool_says_of_which_kind_it_is() -> None:
    assert drag.kind_in(drag.mime_of_kind("note")) == "note"
    assert drag.kind_in(text_mime("note")) is None
    strange = QMimeData()
    strange.setData(drag.KIND_MIME, QByteArray(b"\xff" * 1000))
    assert len(drag.kind_in(strange) or "") == 100
