"""Owns walking over large XML safely: bounded, no document types, no entities, nothing fetched.

Small files become trees elsewhere (`liveobj.references.xml_tree`); a long document is walked over
as it streams by, and never is in memory twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NoReturn
from xml.parsers.expat import XML_PARAM_ENTITY_PARSING_NEVER, ExpatError, ParserCreate

from liveobj.richtext.errors import FileProblem
from transport.sentences import worded

DEPTH_MAX = 200
ELEMENTS_MAX = 5_000_000
_PIECE_BYTES = 256 * 1024

Attributes = dict[str, str]


class XmlWalk:
    """Base of readers. A subclass gets names as `prefix:name`, where `prefixes` says which prefix
    stands for which namespace, whatever the file calls it; others have no prefix."""

    prefixes: Mapping[str, str] = MappingProxyType({})

    def start(self, name: str, attributes: Attributes) -> None:
        """An element begins."""

    def end(self, name: str) -> None:
        """An element ends."""

    def words(self, text: str) -> None:
        """Text between tags; it may come in pieces."""

    def walk(self, data: bytes) -> None:
        """Raises FileProblem for what is not XML, or too much of it."""
        parser = ParserCreate(namespace_separator=" ")
        parser.SetParamEntityParsing(XML_PARAM_ENTITY_PARSING_NEVER)
        parser.buffer_text = True
        depth = elements = 0

        def begin(tag: str, attributes: Attributes) -> None:
            nonlocal depth, elements
            depth += 1
            elements += 1
            if depth > DEPTH_MAX or elements > ELEMENTS_MAX:
                raise FileProblem(
                    worded("There are too many elements in it, or they are too deep.")
                )
            values = {self._name(key): value for key, value in attributes.items()}
            self.start(self._name(tag), values)

        def finish(tag: str) -> None:
            nonlocal depth
            depth -= 1
            self.end(self._name(tag))

        def refuse(*_arguments: object) -> NoReturn:
            raise FileProblem(
                worded("It declares entities or a document type, which is not allowed.")
            )

        parser.StartElementHandler = begin
        parser.EndElementHandler = finish
        parser.CharacterDataHandler = self.words
        parser.StartDoctypeDeclHandler = refuse
        parser.EntityDeclHandler = refuse
        parser.ExternalEntityRefHandler = refuse
        try:
            for at in range(0, len(data), _PIECE_BYTES):
                parser.Parse(data[at : at + _PIECE_BYTES], False)
            parser.Parse(b"", True)
        except ExpatError:
            raise FileProblem(worded("It is damaged: its XML cannot be read.")) from None

    def _name(self, name: str) -> str:
        namespace, _, local = name.rpartition(" ")
        prefix = self.prefixes.get(namespace)
        return f"{prefix}:{local}" if prefix else local
