"""`live-objects scope`: private networks: make one, invite to it, join it, leave it."""

from __future__ import annotations

import argparse
import io
import os
import sys
from pathlib import Path
from typing import Any

import segno

from app.commands import scope_pairing
from app.commands.arguments import add_state_dir
from app.errors import StartProblem
from app.instance_client import ask
from app.invitation_files import INVITATION, read_invitation_file
from app.network_profile import NetworkProfile
from app.network_report import sockets
from app.paths import find_paths
from transport.errors import TransportError
from transport.scopes import Scope, scope_label
from widgets.language import tr


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_state_dir(parser, tr("the profile that joins or is shown"))
    parser.set_defaults(do=_show_current)
    actions = parser.add_subparsers(metavar="ACTION")
    make = actions.add_parser("make", help=tr("make a new private scope"))
    make.add_argument("name", metavar="NAME", help=tr("what its members will see"))
    make.add_argument("--file", metavar="FILE", type=Path, help=tr("write the invitation there"))
    make.add_argument(
        "--qr", action="store_true", help=tr("draw the invitation as a QR code as well")
    )
    make.set_defaults(do=_make)
    show = actions.add_parser("show", help=tr("show the scope of this profile, or an invitation's"))
    show.add_argument("invitation", metavar="INVITATION", nargs="?", help=tr("a file or the text"))
    show.add_argument("--invitation", dest="tell", action="store_true", help=tr("with its secret"))
    show.add_argument("--qr", action="store_true", help=tr("draw its invitation as a QR code"))
    show.set_defaults(do=_show)
    join = actions.add_parser("join", help=tr("join the scope of an invitation"))
    join.add_argument(
        "invitation",
        metavar="INVITATION",
        help=tr("a file, a picture of its QR code, or the text"),
    )
    join.set_defaults(do=_join)
    leave = actions.add_parser("leave", help=tr("go back to Nearby, where everybody is"))
    leave.set_defaults(do=_leave)
    members = actions.add_parser("members", help=tr("who is in the private scope of this profile"))
    members.set_defaults(do=_members)
    renew = actions.add_parser("renew", help=tr("give the members of the scope a new key"))
    renew.add_argument(
        "--without",
        metavar="FINGERPRINT",
        action="append",
        default=[],
        help=tr("leave somebody out, as members shows them"),
    )
    renew.set_defaults(do=_renew)
    invite = actions.add_parser("invite", help=tr("let somebody in who sees the same code as you"))
    invite.set_defaults(do=_invite)
    request = actions.add_parser("request", help=tr("ask somebody who invites to be let in"))
    request.set_defaults(do=_request)
    scope_pairing.add_arguments(invite, request)
    for action in (make, show, join, leave, members, renew, invite, request):
        # Before or after the action, as one likes.
        action.add_argument(
            "--state-dir", metavar="DIR", type=Path, default=argparse.SUPPRESS, help=tr("as above")
        )


def run(arguments: argparse.Namespace) -> int:
    profile = NetworkProfile.of(find_paths(os.environ, arguments.state_dir))
    try:
        sys.stdout.write(arguments.do(arguments, profile))
    except TransportError as problem:
        raise StartProblem(str(problem)) from None
    return 0


def _make(arguments: argparse.Namespace, _profile: NetworkProfile) -> str:
    scope = Scope.new_private(arguments.name, os.urandom)
    if arguments.file is None:
        text = scope.invitation() + "\n"
    else:
        scope.write(arguments.file)
        text = f"{arguments.file}\n"
    return text + (qr_text(scope) if arguments.qr else "")


def _show_current(_arguments: argparse.Namespace, profile: NetworkProfile) -> str:
    return _described(profile.scope())


def _show(arguments: argparse.Namespace, profile: NetworkProfile) -> str:
    given = arguments.invitation
    scope = profile.scope() if given is None else read_invitation(given)
    text = _described(scope)
    if arguments.tell:
        heading = tr("invitation")
        text += f"  {heading:<12}{scope.invitation()}\n"
    return text + (qr_text(scope) if arguments.qr else "")


def _join(arguments: argparse.Namespace, profile: NetworkProfile) -> str:
    scope = read_invitation(arguments.invitation)
    profile.join(scope)
    return _joined(scope)


def _joined(scope: Scope) -> str:
    words = tr("This profile is in the scope {scope} now.", scope=scope.name)
    more = tr("A program that runs stays where it is until its next start.")
    return f"{words} {more}\n"


def _invite(arguments: argparse.Namespace, profile: NetworkProfile) -> str:
    return scope_pairing.invite(arguments, profile)


def _request(arguments: argparse.Namespace, profile: NetworkProfile) -> str:
    scope = scope_pairing.request(arguments)
    profile.join(scope)
    return _joined(scope)


def _members(arguments: argparse.Namespace, profile: NetworkProfile) -> str:
    return _listed(_asked(arguments, profile, {"do": "scope-members"}))


def _renew(arguments: argparse.Namespace, profile: NetworkProfile) -> str:
    request = {"do": "scope-renew", "without": arguments.without}
    answer = _asked(arguments, profile, request)
    words = tr(
        "{scope} has a new key. Members who run have it in some seconds, those who are away when"
        " they come back:",
        scope=answer.get("renewed"),
    )
    return f"{words}\n{_listed(answer)}"


def _asked(
    arguments: argparse.Namespace, profile: NetworkProfile, request: dict[str, Any]
) -> dict[str, Any]:
    """What the program that runs in this profile answers."""
    scope = profile.scope()
    if not scope.private:
        raise StartProblem(tr("This profile is in {scope}, where everybody is.", scope=scope.name))
    paths = find_paths(os.environ, arguments.state_dir)
    for place in sockets(paths):
        answer = ask(place, request)
        if answer is not None:
            if "error" in answer:
                raise StartProblem(str(answer["error"]))
            return answer
    raise StartProblem(
        tr("No program runs in this profile: start it, or live-objects gms, and ask again.")
    )


def _listed(answer: dict[str, Any]) -> str:
    members = answer.get("members", [])
    return "".join(f"  {one['fingerprint']}  {one['name']}\n" for one in members)


def _leave(_arguments: argparse.Namespace, profile: NetworkProfile) -> str:
    profile.leave()
    return _joined(profile.scope())


def read_invitation(given: str) -> Scope:
    """The scope that a text or a file invites to; `-` reads the text from the input, where others
    on this computer do not see it in the list of processes."""
    if given == "-":
        return Scope.from_invitation(sys.stdin.read(4096))
    if given.lstrip().startswith(INVITATION):
        return Scope.from_invitation(given)
    return read_invitation_file(Path(given))


def _described(scope: Scope) -> str:
    kind = tr("private: only those who were invited") if scope.private else tr("open to everybody")
    rows = ((tr("kind"), kind), (tr("label"), scope_label(scope)))
    return f"{scope.name}\n" + "".join(f"  {name:<12}{words}\n" for name, words in rows)


def qr_text(scope: Scope) -> str:
    """The invitation as a QR code, of half-block characters."""
    picture = io.StringIO()
    segno.make(scope.invitation(), micro=False, error="m").terminal(picture, compact=True)
    return picture.getvalue()
