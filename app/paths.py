"""Where the program keeps its files: the XDG directories, or all of them below one given folder."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from app.errors import StartProblem
from app.profile_rights import make_private
from transport.whole_file import remove_leftovers
from widgets.language import tr

_NAME = "live-objects"
# The address of a Unix socket has room for some 108 bytes.
_SOCKET_PATH_BYTES_MAX = 100
# So many folders that others have made in the place of ours are passed over.
_TRIES = 16


@dataclass(frozen=True, slots=True)
class Paths:
    """Folders and files of one profile; a profile is one identity on one machine."""

    config: Path
    data: Path
    state: Path
    runtime: Path
    # What whoever installed the program gives to all its users; the first that has it counts.
    given: tuple[Path, ...] = ()

    @property
    def settings(self) -> Path:
        return self.config / "settings.json"

    @property
    def objects(self) -> Path:
        """One database for each object that was open here."""
        return self.data / "objects"

    @property
    def references(self) -> Path:
        """The profile's own copies of the references of all objects that were live here."""
        return self.data / "references"

    @property
    def recent(self) -> Path:
        return self.state / "recent.json"

    @property
    def pinned(self) -> Path:
        return self.config / "pinned.json"

    @property
    def open_now(self) -> Path:
        """What is open, for the next start."""
        return self.state / "open.json"

    @property
    def trust(self) -> Path:
        """Whose objects go live without being asked about."""
        return self.config / "trusted"

    @property
    def hints(self) -> Path:
        """What the pipeline advises: objects that go together, histories to fold."""
        return self.state / "hints.json"

    @property
    def search(self) -> Path:
        """The index over everything that was open here; it can be made again."""
        return self.state / "search.db"

    @property
    def log(self) -> Path:
        return self.state / "live-objects.log"

    @property
    def socket(self) -> Path:
        """Where the running program of this profile listens. Two profiles never share it."""
        profile = hashlib.blake2b(str(self.state).encode(), digest_size=8).hexdigest()
        return self.runtime / f"{profile}.socket"

    def make(self) -> None:
        """Creates what is missing, and makes what is there this user's alone; removes what a crash
        left half written."""
        folders = (
            self.config,
            self.data,
            self.state,
            self.runtime,
            self.objects,
            self.references,
        )
        for folder in folders:
            try:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                if not _is_mine(folder):
                    raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))
            except OSError as error:
                raise StartProblem(
                    tr(
                        "The folder {folder} cannot be used ({reason}): choose another one with"
                        " --state-dir.",
                        folder=folder,
                        reason=error.strerror,
                    )
                ) from None
            remove_leftovers(folder)
        make_private((self.config, self.data, self.state, self.runtime))
        for folder in (self.objects / "contents", self.objects / "registry"):
            remove_leftovers(folder)


def find_paths(environment: Mapping[str, str], state_dir: Path | None) -> Paths:
    """The folders that the environment asks for; with `state_dir`, everything below that."""
    folders = (environment.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(":")
    given = tuple(Path(folder) / _NAME for folder in folders if folder.startswith("/"))
    if state_dir is not None:
        root = state_dir.expanduser().absolute()
        return Paths(root, root, root, _short(root, root / "run"), given)
    home = Path(environment.get("HOME") or Path.home())

    def folder(variable: str, *default: str) -> Path:
        value = environment.get(variable, "")
        # The specification says that relative paths are to be ignored.
        base = Path(value) if value.startswith("/") else home.joinpath(*default)
        return base / _NAME

    state = folder("XDG_STATE_HOME", ".local", "state")
    runtime = environment.get("XDG_RUNTIME_DIR", "")
    return Paths(
        config=folder("XDG_CONFIG_HOME", ".config"),
        data=folder("XDG_DATA_HOME", ".local", "share"),
        state=state,
        runtime=_short(state, Path(runtime) / _NAME if runtime.startswith("/") else state / "run"),
        given=given,
    )


def _short(key: Path, wanted: Path) -> Path:
    """The folder for the socket: the wanted one, or a short one when the address would not fit."""
    if len(str(wanted / f"{'0' * 16}.socket").encode()) <= _SOCKET_PATH_BYTES_MAX:
        return wanted
    profile = hashlib.blake2b(str(key).encode(), digest_size=8).hexdigest()
    base = Path(tempfile.gettempdir()) / f"{_NAME}-{profile}"
    folders = (base, *(base.with_name(f"{base.name}-{number}") for number in range(1, _TRIES)))
    return next(filter(_is_mine, folders), base)


def _is_mine(folder: Path) -> bool:
    """False for a folder in everybody's folder for temporary files that somebody else has made:
    they would answer in the name of the program."""
    if folder.parent != Path(tempfile.gettempdir()) or os.name != "posix":
        return True
    try:
        status = folder.lstat()
    except FileNotFoundError:
        return True
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
