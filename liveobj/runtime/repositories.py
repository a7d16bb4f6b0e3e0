"""Owns what was learned from folders: references by name, and the folders that are still open."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from liveobj.references import External, Fingerprint, Reference, fingerprint
from liveobj.runtime.proxy import ProxyReference

if TYPE_CHECKING:
    from liveobj.runtime.runtime import Chain, Runtime

# A folder that was asked a moment ago is likely to be asked again: a desktop opens in one go.
OPEN_FOLDERS_MAX = 16
KNOWN_REFERENCES_MAX = 4096

_Key = tuple[Fingerprint, str]


class Repositories:
    """The cache of the folder protocol. What a folder said is believed until `forget`, since a
    reference that changed its meaning while it is in use would make two objects of one."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._known: OrderedDict[_Key, Reference] = OrderedDict()
        self._open: OrderedDict[Fingerprint, ProxyReference] = OrderedDict()

    @staticmethod
    def _key(reference: External) -> _Key:
        return fingerprint(reference.folder), reference.name

    def find(self, reference: External) -> Reference | None:
        return self._known.get(self._key(reference))

    def remember(self, reference: External, found: Reference) -> None:
        self._known[self._key(reference)] = found
        while len(self._known) > KNOWN_REFERENCES_MAX:
            self._known.popitem(last=False)

    def forget(self, reference: External) -> None:
        self._known.pop(self._key(reference), None)

    def forget_all(self) -> None:
        """What folders say may have changed: asks them anew from now on."""
        self._known.clear()

    def open_folder(self, folder: Reference, chain: Chain) -> ProxyReference:
        """A proxy of the folder: the one that is open, if it is well, else a new one. Since one
        endpoint has one connection, a folder in use is not lent a second time."""
        key = fingerprint(folder)
        known = self._open.get(key)
        if known is not None and known.state.alive and not known.endpoint("folder").connected:
            self._open.move_to_end(key)
            return known.again()
        if known is not None and not known.state.alive:
            del self._open[key]
            known.close()
        made = self._runtime.make(folder, chain.entered(key, "the folder"))
        if key not in self._open:
            self._open[key] = made.again()
        while len(self._open) > OPEN_FOLDERS_MAX:
            _, oldest = self._open.popitem(last=False)
            oldest.close()
        return made

    def close(self) -> None:
        while self._open:
            _, folder = self._open.popitem()
            folder.close()
