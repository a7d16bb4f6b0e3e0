"""Every standard object is registered once, and completely: its view, sample, drawing and icon.

Each problem is a sentence that names the file and what to do.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import assets
from app.samples.samples import module_of, sample_of
from liveobj.declare import Declarations, live_object
from liveobj.objects.catalogue import (
    BY_TEMPLATE,
    DECLARED,
    MAKERS,
    STANDARD,
    StandardObject,
)
from liveobj.objects.document_object import DocumentProxy
from liveobj.references import Parameterized, Primitive
from tests.source_tree import ROOT, files
from widgets.kinds import KINDS
from widgets.object_kind import ObjectKind
from widgets.object_view import ObjectView

CATALOGUE, LIST = "liveobj/objects/catalogue.py", "widgets/kinds.py"

# In people's files and scripts: what was published once keeps its word and its id.
PERMANENT = {
    "note": "live-objects:text-note",
    "desktop": "live-objects:desktop",
    "document": "live-objects:rich-document",
    "files": "live-objects:files",
    "folder": "live-objects:shared-folder",
    "chart": "live-objects:chart",
    "chat": "live-objects:chat",
    "image": "live-objects:image",
    "table": "live-objects:table",
    "map": "live-objects:map",
    "counter": "live-objects:counter",
    "log": "live-objects:log",
    "channel": "live-objects:fifo-channel",
    "membership": "live-objects:group-membership",
    "leader": "live-objects:leader",
    "coordinates": "live-objects:coordinates",
    "ordered-channel": "live-objects:ordered-channel",
    "checkpointed-channel": "live-objects:checkpointed-channel",
    "lock": "live-objects:lock",
    "sensor": "live-objects:sensor-feed",
}


@dataclass(frozen=True)
class Source:
    """A checkout, or a part of one, as the checks read it."""

    root: Path

    def modules(self, folder: str) -> Iterator[tuple[str, str, ast.Module]]:
        """Path, module name and syntax of each file below a folder."""
        for path in files(".py", under=self.root / folder):
            shown = path.relative_to(self.root).as_posix()
            name = shown.removesuffix(".py").replace("/", ".")
            yield shown, name, ast.parse(path.read_text(encoding="utf-8"))


def declares_object(tree: ast.Module) -> bool:
    return any(
        isinstance(decorator, ast.Call)
        and isinstance(decorator.func, ast.Name)
        and decorator.func.id == "live_object"
        for node in tree.body
        if isinstance(node, ast.ClassDef)
        for decorator in node.decorator_list
    )


def assigns(tree: ast.Module, name: str) -> bool:
    return any(
        isinstance(target, ast.Name) and target.id == name
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
    )


def unlisted_objects(source: Source, declared: Collection[str]) -> list[str]:
    return [
        f"{shown} declares a live object, but no line of {CATALOGUE} names it."
        for shown, name, tree in source.modules("liveobj/objects")
        if declares_object(tree) and name not in declared
    ]


def unlisted_views(source: Source, kinds: Iterable[ObjectKind]) -> list[str]:
    listed = {getattr(kind.view, "__module__", "") for kind in kinds}
    return [
        f"{shown} has a KIND that {LIST} does not list, so nobody can open it."
        for shown, name, tree in source.modules("widgets")
        if assigns(tree, "KIND") and name not in listed
    ]


def samples_of_nothing(source: Source, kinds: Iterable[ObjectKind]) -> list[str]:
    wanted = {module_of(kind.word) for kind in kinds}
    return [
        f"{shown} is the sample of no kind: its name is that of a kind's word."
        for shown, name, tree in source.modules("app/samples")
        if assigns(tree, "SAMPLE") and name not in wanted
    ]


def incomplete_kinds(kinds: Iterable[ObjectKind]) -> list[str]:
    """What a kind needs besides its view and is not there."""
    found: list[str] = []
    for kind in kinds:
        try:
            sample_of(kind.word)
        except LookupError as problem:
            found.append(str(problem.args[0]))
        drawing, icon = assets.picture_file(kind.picture), assets.icon_file(kind.icon)
        if not drawing.is_file():
            found.append(f"'{kind.word}' has no drawing: assets/objects/{drawing.name}.")
        if not icon.is_file():
            found.append(f"'{kind.word}' has no icon: assets/icons/{icon.name}.")
    return found


def clashes(objects: Iterable[StandardObject]) -> list[str]:
    """Lines of the catalogue of which one would hide the other."""
    words: dict[str, str] = {}
    ids: dict[str, str] = {}
    found: list[str] = []
    for one in objects:
        name = one.cls.__name__
        for what, key, seen in (("word", one.word, words), ("id", one.template_id, ids)):
            if key in seen:
                found.append(f"{seen[key]} and {name} have the same {what} '{key}' in {CATALOGUE}.")
            seen.setdefault(key, name)
    return found


def test_everything_is_registered_completely() -> None:
    source = Source(ROOT)
    assert (
        unlisted_objects(source, DECLARED)
        + unlisted_views(source, KINDS)
        + samples_of_nothing(source, KINDS)
        + incomplete_kinds(KINDS)
        + clashes(STANDARD)
        == []
    )


def test_words_and_ids_that_stand_in_files_have_stayed() -> None:
    assert {one.word: one.template_id for one in STANDARD}.items() >= PERMANENT.items()


@pytest.mark.parametrize("word", MAKERS)
def test_what_is_made_by_a_word_has_the_template_of_its_class(word: str) -> None:
    made = MAKERS[word]("Tea", random.Random(1).randbytes)
    (one,) = [each for each in STANDARD if each.word == word]
    assert isinstance(made, Parameterized)
    assert made.template == Primitive(one.template_id)


def test_every_kind_has_the_word_and_the_maker_of_its_object() -> None:
    by_template = {one.template_id: one for one in STANDARD}
    for kind in KINDS:
        assert kind.word == by_template[kind.template_id].word
        assert kind.make == MAKERS[kind.word]
        assert KINDS[kind.word] is kind


# Each omission is named


def write(root: Path, name: str, text: str) -> Source:
    path = root / name
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    return Source(root)


def test_an_object_that_is_not_in_the_catalogue_is_named(tmp_path: Path) -> None:
    source = write(tmp_path, "liveobj/objects/pot.py", '@live_object("a:b")\nclass Pot: ...\n')
    (sentence,) = unlisted_objects(source, DECLARED)
    assert sentence.startswith("liveobj/objects/pot.py declares a live object")
    assert not unlisted_objects(source, {"liveobj.objects.pot"})


def test_a_view_that_is_not_in_the_list_is_named(tmp_path: Path) -> None:
    source = write(tmp_path, "widgets/pot/pot_view.py", "KIND = ObjectKind()\n")
    (sentence,) = unlisted_views(source, KINDS)
    assert sentence.startswith("widgets/pot/pot_view.py has a KIND that widgets/kinds.py does not")


def test_a_sample_without_a_kind_is_named(tmp_path: Path) -> None:
    source = write(tmp_path, "app/samples/pot.py", "SAMPLE = Sample()\n")
    (sentence,) = samples_of_nothing(source, KINDS)
    assert sentence.startswith("app/samples/pot.py is the sample of no kind")


@live_object("live-objects:test-pot", title="Pot", into=Declarations())
class Pot(DocumentProxy):
    """Only for the next tests."""


def test_a_kind_without_sample_drawing_and_icon_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    pot = StandardObject("pot", Pot)
    monkeypatch.setitem(BY_TEMPLATE, pot.template_id, pot)
    kind = ObjectKind(pot.template_id, "Pot", "For tea", "no-such-icon", ObjectView)
    assert incomplete_kinds([kind]) == [
        "The kind 'pot' has no sample: write SAMPLE = Sample(…) in app/samples/pot.py.",
        "'pot' has no drawing: assets/objects/pot.svg.",
        "'pot' has no icon: assets/icons/no-such-icon.svg.",
    ]


def test_a_view_of_an_object_that_is_not_in_the_catalogue_is_refused() -> None:
    with pytest.raises(LookupError, match=r"'Pot' shows live-objects:test-pot, which is not in"):
        ObjectKind("live-objects:test-pot", "Pot", "For tea", "box", ObjectView)


def test_two_lines_with_one_word_or_one_id_are_named() -> None:
    note = STANDARD[0]
    assert clashes([note, StandardObject("note", Pot), StandardObject("pot", note.cls)]) == [
        f"TextNoteObject and Pot have the same word 'note' in {CATALOGUE}.",
        f"TextNoteObject and TextNoteObject have the same id '{note.template_id}' in {CATALOGUE}.",
    ]
