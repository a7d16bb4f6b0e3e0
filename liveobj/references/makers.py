"""Owns who stands for a reference: the identity of a person and their signature, beside it.

The signature is over the fingerprint of the object, so it holds for the can-edit and the can-view
form alike, and moves to no other object. It stands beside the reference and is no part of who the
object is: whoever takes it away makes an object of an unknown author out of it, and nobody can put
another's in its place.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from liveobj.references.identity import fingerprint
from liveobj.references.model import AnyReference, Reference
from liveobj.references.xml_tree import Element
from transport import identities
from transport.identities import PUBLIC_BYTES, SIGNATURE_BYTES, Identity

NAMESPACE = "urn:live-objects:maker"
MAKER_NAME_CHARACTERS_MAX = 80
_NAME = "maker"
_PURPOSE = "maker 1"


@dataclass(frozen=True, slots=True)
class Maker:
    """Whoever holds the key has signed this object, and calls themselves `name`."""

    public: bytes
    name: str

    @property
    def fingerprint(self) -> str:
        return identities.fingerprint(self.public)


def signed_by(reference: AnyReference, identity: Identity | None, name: str) -> AnyReference:
    """The reference with a signature of that identity in the place of any other; without an
    identity it stays as it is."""
    if identity is None:
        return reference
    name = _readable(name)
    signature = identity.sign(_PURPOSE, _statement(reference, name))
    attributes = (
        ("key", identity.public.hex()),
        ("name", name),
        ("signature", signature.hex()),
    )
    others = unsigned(reference).beside
    return replace(reference, beside=(*others, Element(_NAME, NAMESPACE, attributes)))


def unsigned(reference: AnyReference) -> AnyReference:
    """The same object, with nobody standing for it: shorter."""
    others = tuple(element for element in reference.beside if not _is_signature(element))
    return replace(reference, beside=others)


def maker_of(reference: Reference) -> Maker | None:
    """Who has signed this very object; None where nobody has, or the signature is not good."""
    signatures = [element for element in reference.beside if _is_signature(element)]
    if len(signatures) != 1:
        return None
    element = signatures[0]
    name = element.attribute("name") or ""
    public = _bytes(element.attribute("key"), PUBLIC_BYTES)
    signature = _bytes(element.attribute("signature"), SIGNATURE_BYTES)
    if public is None or signature is None or name != _readable(name):
        return None
    if not identities.verify(public, _PURPOSE, _statement(reference, name), signature):
        return None
    return Maker(public, name)


def is_forged(reference: Reference) -> bool:
    """Whether somebody is named who has not signed this object."""
    named = any(_is_signature(element) for element in reference.beside)
    return named and maker_of(reference) is None


def _is_signature(element: Element) -> bool:
    return element.name == _NAME and element.namespace == NAMESPACE


def _statement(reference: Reference, name: str) -> bytes:
    return fingerprint(reference).digest + name.encode()


def _readable(name: str) -> str:
    """One line of letters that can be shown: nothing in a name may look like something else."""
    shown = "".join(sign if sign.isprintable() else " " for sign in name)
    return " ".join(shown.split())[:MAKER_NAME_CHARACTERS_MAX].strip()


def _bytes(text: str | None, count: int) -> bytes | None:
    try:
        data = bytes.fromhex(text or "")
    except ValueError:
        return None
    return data if len(data) == count else None
