"""A formatted text in plain Python: what the replicated one must be equal to, edit for edit."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from liveobj.richtext.model import HEADINGS, PLAIN, Block, Run, joined


@dataclass
class Line:
    characters: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    block: Block = PLAIN


class Oracle:
    """Paragraphs as lists of characters; positions count characters and line ends."""

    def __init__(self) -> None:
        self.paragraphs = [Line()]

    @property
    def length(self) -> int:
        return sum(len(line.characters) + 1 for line in self.paragraphs) - 1

    def find(self, position: int) -> tuple[int, int]:
        for number, line in enumerate(self.paragraphs):
            if position <= len(line.characters):
                return number, position
            position -= len(line.characters) + 1
        raise AssertionError("out of range")

    def insert(self, position: int, text: str, marks: dict[str, Any]) -> None:
        number, offset = self.find(position)
        line = self.paragraphs[number]
        for character in text:
            if character == "\n":
                rest = line.characters[offset:]
                del line.characters[offset:]
                line = Line(rest)
                number, offset = number + 1, 0
                self.paragraphs.insert(number, line)
            else:
                line.characters.insert(offset, (character, dict(marks)))
                offset += 1

    def delete(self, position: int, length: int) -> None:
        first, offset = self.find(position)
        last, until = self.find(position + length)
        one, two = self.paragraphs[first], self.paragraphs[last]
        rest = two.characters[until:]
        block = two.block if first != last and not offset and rest else one.block
        self.paragraphs[first : last + 1] = [Line(one.characters[:offset] + rest, block)]

    def mark(self, start: int, end: int, name: str, value: Any) -> None:
        at = 0
        for line in self.paragraphs:
            for character, marks in line.characters:
                if start <= at < end:
                    marks.pop(name, None)
                    if value is not None:
                        marks[name] = value
                    assert character
                at += 1
            at += 1

    def set_blocks(self, start: int, end: int, **changes: Any) -> None:
        first, last = self.find(start)[0], self.find(end)[0]
        for line in self.paragraphs[first : last + 1]:
            line.block = replace(line.block, **changes)

    def split(self, position: int) -> None:
        number, offset = self.find(position)
        line = self.paragraphs[number]
        before, after = line.characters[:offset], line.characters[offset:]
        one, two = line.block, replace(line.block, done=False)
        if line.block.style in HEADINGS:
            if before and not after:
                two = Block(align=line.block.align)
            elif after and not before:
                one = Block(align=line.block.align)
        self.paragraphs[number : number + 1] = [Line(before, one), Line(after, two)]

    def lines(self) -> list[tuple[Block, tuple[Run, ...]]]:
        return [
            (line.block, joined(Run(character, marks) for character, marks in line.characters))
            for line in self.paragraphs
        ]
