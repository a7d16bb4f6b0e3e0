"""Private scopes travel as one line of text; identities sign, and both are kept in private
files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transport.errors import BadArgument, SystemRefused, TransportError
from transport.identities import Identity, fingerprint, verify
from transport.key_text import read_key, write_key
from transport.scopes import NEARBY, Scope
from transport.secrets_file import TEXT_BYTES_MAX, read_small, write_private

NAMES = st.text(min_size=1, max_size=64).filter(str.isprintable)


@given(NAMES, st.binary(min_size=32, max_size=32))
def test_invitation_leads_to_the_scope(name: str, key: bytes) -> None:
    scope = Scope.from_key(name, key)
    assert Scope.from_invitation(scope.invitation()) == scope
    assert scope.invitation().isascii()


@given(st.text())
def test_no_text_makes_the_reader_fail_otherwise(text: str) -> None:
    for candidate in (text, "live-objects-scope:1:" + text):
        with pytest.raises(BadArgument):
            Scope.from_invitation(candidate)


@given(st.data())
def test_one_wrong_letter_is_noticed(data: st.DataObject) -> None:
    text = Scope.from_key("Office", bytes(range(32))).invitation()
    start = text.rindex(":") + 1
    at = data.draw(st.sampled_from([i for i in range(start, len(text)) if text[i] != "-"]))
    # The last letter carries spare bits, which mean nothing.
    letters = [letter for letter in "abcdefghijklmnopqrstuvwxyz234567" if letter != text[at]]
    wrong = text[:at] + data.draw(st.sampled_from(letters)) + text[at + 1 :]
    try:
        read = Scope.from_invitation(wrong)
    except BadArgument:
        return
    assert at == len(text) - 1
    assert read.key == bytes(range(32))


def test_key_of_another_name_is_refused() -> None:
    text = Scope.from_key("Office", bytes(32)).invitation()
    with pytest.raises(BadArgument):
        Scope.from_invitation(text.replace("Office", "0ffice"))


def test_way_of_writing_a_key_does_not_matter() -> None:
    text = write_key(b"k" * 32, "test")
    for variant in (text.upper(), text.replace("-", ""), text.replace("-", " \n"), f"  {text} "):
        assert read_key(variant, "test", 32) == b"k" * 32
    with pytest.raises(BadArgument):
        read_key(text, "another purpose", 32)
    with pytest.raises(BadArgument):
        read_key(text, "test", 16)


def test_new_scope_is_private_and_nearby_is_not() -> None:
    assert Scope.new_private("Office", os.urandom).private
    assert not NEARBY.private


def test_scope_file_is_private_and_read_back(tmp_path: Path) -> None:
    scope = Scope.new_private("Büro & Werkstatt", os.urandom)
    file = tmp_path / "office.scope"
    scope.write(file)
    assert Scope.read(file) == scope
    assert file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["office.scope"]


def test_file_is_not_overwritten_unless_told_to(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    write_private(file, "one")
    with pytest.raises(SystemRefused, match="exists already"):
        write_private(file, "two")
    assert read_small(file) == "one"
    write_private(file, "two", replace=True)
    assert read_small(file, private=True) == "two"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("content", [b"\xff\xfe", b"x" * (TEXT_BYTES_MAX + 1)])
def test_file_that_is_no_key_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "wrong"
    file.write_bytes(content)
    with pytest.raises(SystemRefused):
        Scope.read(file)


def test_missing_file_and_folder_are_one_sentence(tmp_path: Path) -> None:
    for path in (tmp_path / "missing", tmp_path):
        with pytest.raises(SystemRefused) as caught:
            Scope.read(path)
        assert str(caught.value).endswith(".")
    with pytest.raises(SystemRefused):
        NEARBY.write(tmp_path / "no folder" / "file")


# Identities


def test_identity_is_made_once_and_found_again(tmp_path: Path) -> None:
    file = tmp_path / "identity"
    made = Identity.load_or_create(file, os.urandom)
    found = Identity.load_or_create(file, os.urandom)
    assert found.public == made.public
    assert file.stat().st_mode & 0o777 == 0o600


def test_identity_that_others_can_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "identity"
    Identity.load_or_create(file, os.urandom)
    file.chmod(0o644)
    with pytest.raises(SystemRefused, match="chmod 600"):
        Identity.load(file)


@pytest.mark.parametrize("text", ["", "something else\n", "live-objects identity 1\nabcd-efgh\n"])
def test_file_without_an_identity_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "identity"
    write_private(file, text)
    with pytest.raises(TransportError):
        Identity.load(file)


@given(st.binary(), st.binary(max_size=70))
def test_signature_is_good_for_its_owner_purpose_and_data(data: bytes, noise: bytes) -> None:
    identity, other = Identity(bytes(32)), Identity(b"\1" * 32)
    signature = identity.sign("join", data)
    assert verify(identity.public, "join", data, signature)
    assert not verify(other.public, "join", data, signature)
    assert not verify(identity.public, "leave", data, signature)
    assert not verify(identity.public, "join", data + b"x", signature)
    assert not verify(identity.public, "join", data, noise)
    assert not verify(noise[:5], "join", data, signature)


def test_fingerprint_is_short_and_the_secret_never_shown() -> None:
    identity = Identity(bytes(32))
    assert fingerprint(identity.public) == identity.fingerprint
    assert len(identity.fingerprint) == 19
    assert repr(identity) == f"<Identity {identity.fingerprint}>"
    assert identity.fingerprint != Identity(b"\1" * 32).fingerprint


def test_seed_of_another_size_is_refused() -> None:
    with pytest.raises(BadArgument):
        Identity(bytes(31))
