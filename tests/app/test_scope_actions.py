"""A private network by the window alone: two people, two programs, real connections between."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from app.network_profile import NetworkProfile
from tests.app.conftest import MakePlace, Place
from transport import mdns
from transport.config import Peer
from transport.errors import PeerLost
from transport.pairing_stream import ask
from transport.scopes import NEARBY, Scope
from widgets.office_network_page import NetworkMember, OfficeNetworkPage
from widgets.settings_page import SettingsPage
from widgets.state_words import NetworkWords

pytestmark = [
    pytest.mark.qt_log_ignore("This plugin does not support"),
    # Once in many runs zeroconf has sockets open when the loop of a test ends while it starts.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

OFFICE = Scope.from_key("Office", bytes(range(32)))
Story = Callable[[], Awaitable[None]]


def opened(place: Place) -> OfficeNetworkPage:
    assert place.run("network.open")
    page = place.window.front_page
    assert isinstance(page, OfficeNetworkPage)
    return page


def profile(place: Place) -> NetworkProfile:
    return NetworkProfile.of(place.paths)


def live(places: tuple[Place, ...], story: Story) -> None:
    """Runs a story on the loop that the windows are on, and ends what it has left under way."""

    async def told() -> None:
        try:
            async with asyncio.timeout(30):
                await story()
        finally:
            for place in places:
                await place.desk.scopes.finish()

    places[0].desk.scopes._meetings.loop.run_until_complete(told())


async def until(condition: Callable[[], bool], limit_s: float = 10) -> None:
    async with asyncio.timeout(limit_s):
        while not condition():  # noqa: ASYNC110 - windows have no events for that
            await asyncio.sleep(0.01)


async def shown(step: QWidget) -> None:
    await until(lambda: not step.isHidden())


@pytest.fixture(autouse=True)
def nothing_left_for_others() -> Iterator[None]:
    """What a test leaves to the collector is collected with it, not during the next one's."""
    yield
    gc.collect()


@pytest.fixture
def two(make_place: MakePlace) -> tuple[Place, Place]:
    """Ada, who is in a private network, and Jun, who is not."""
    ada, jun = make_place("Ada"), make_place("Jun")
    profile(ada).join(OFFICE)
    return ada, jun


async def meet(ada: OfficeNetworkPage, jun: OfficeNetworkPage) -> None:
    """Ada invites, Jun asks at the address that Ada's window shows; both see the code."""
    ada.choices.invite.click()
    await shown(ada.waiting)
    jun.choices.join.click()
    await shown(jun.search)
    jun.search.address.setText(ada.waiting.address.text())
    jun.search.ask.click()
    await shown(ada.code)
    await shown(jun.code)


def test_a_network_is_made_and_left(make_place: MakePlace) -> None:
    place = make_place("Ada")
    page = opened(place)
    assert opened(place) is page
    assert page.scope_text == ("Nearby: everybody on this office network", "")
    assert not page.choices.make.isEnabled()
    page.choices.name.setText(" Design \u200b team")
    page.choices.make.click()
    assert page.said == "A network's name has 1 to 64 letters: choose another."
    assert profile(place).scope() == NEARBY
    page.choices.name.setText(" Design  team ")
    page.choices.make.click()
    made = profile(place).scope()
    assert (made.name, made.private) == ("Design team", True)
    assert page.said == "You have made Design team."
    assert page.scope_text[1].startswith("From the next start: Design team")
    assert page.choices.make.isHidden()
    page.choices.leave.click()
    page.leave.stay.click()
    assert profile(place).scope() == made
    page.choices.leave.click()
    page.leave.agree.click()
    assert profile(place).scope() == NEARBY
    assert page.scope_text == ("Nearby: everybody on this office network", "")


def test_an_invitation_goes_by_text_file_and_picture(
    two: tuple[Place, Place], make_place: MakePlace, tmp_path: Path
) -> None:
    ada, jun = opened(two[0]), opened(two[1])
    ada.choices.give.click()
    assert not ada.invitation.code.isHidden()
    ada.invitation.copy.click()
    text = QApplication.clipboard().text()
    assert (text, ada.said) == (OFFICE.invitation(), "Copied. Whoever pastes it is in Office.")
    file, picture = tmp_path / "Office.scope", tmp_path / "photograph.png"
    giving = two[0].desk.scopes._invitations
    assert giving is not None
    file.write_text("what was there before")
    giving.save(OFFICE, file)
    assert (file.read_text(), file.stat().st_mode & 0o777) == (OFFICE.invitation() + "\n", 0o600)
    giving.save(OFFICE, tmp_path / "nowhere" / "Office.scope")
    assert "cannot be written" in ada.said
    assert ada.invitation.code.grab().save(str(picture))

    async def paste() -> None:
        jun.choices.join.click()
        await shown(jun.search)
        jun.search.address.setText(text[:-5])
        jun.search.ask.click()
        assert profile(two[1]).scope() == NEARBY
        jun.search.address.setText(f" {text}\n")
        jun.search.ask.click()
        await until(lambda: profile(two[1]).scope() == OFFICE)

    live(two, paste)
    assert jun.said == "You have joined Office."
    for number, given in enumerate((file, picture)):
        third = make_place(f"Bo {number}")
        page = opened(third)
        taking = third.desk.scopes._invitations
        assert taking is not None
        taking.take_file(given)
        assert (page.said, profile(third).scope()) == ("You have joined Office.", OFFICE)


def test_a_typed_address_is_asked(make_place: MakePlace) -> None:
    place = make_place("Ada")
    page = opened(place)
    asked: list[Peer] = []
    scopes = place.desk.scopes
    scopes._meetings = replace(scopes._meetings, reach=asked.append)
    page.choices.address.setText("somewhere")
    page.choices.reach.click()
    assert (asked, page.said[:25]) == ([], "“somewhere” is no address")
    page.choices.address.setText(" 10.0.0.8:4000 ")
    page.choices.reach.click()
    assert asked == [Peer("10.0.0.8", 4000)]
    assert page.said.startswith("10.0.0.8:4000 is asked now")


def test_the_page_says_how_others_are_reached(make_place: MakePlace) -> None:
    place = make_place("Ada")
    page = opened(place)
    assert page.connection_text == "All is well."
    place.window.show_network(NetworkWords("Office network: partly by unicast", "One by one."))
    assert page.connection_text == "One by one."
    assert place.window.network_text == "Office network: partly by unicast"
    place.window.close_page(page)
    place.window.show_network(NetworkWords("Office network: multicast ok", "All is well again."))
    assert opened(place).connection_text == "All is well again."


def test_an_unreadable_network_can_be_left(make_place: MakePlace) -> None:
    place = make_place("Ada")
    profile(place).scope_file.write_text("nonsense")
    page = opened(place)
    assert page.said == "The private network of this profile cannot be read: leave it."
    page.choices.invite.click()
    assert not page.choices.isHidden()
    assert page.said
    page.choices.leave.click()
    page.leave.agree.click()
    assert profile(place).scope() == NEARBY


def test_codes_are_equal_and_the_network_arrives(two: tuple[Place, Place]) -> None:
    ada, jun = opened(two[0]), opened(two[1])

    async def story() -> None:
        await meet(ada, jun)
        assert ada.code.code.text() == jun.code.code.text()
        assert ada.code.said.text() == "Jun wants to join Office."
        assert jun.code.said.text() == "Ada invites you to Office."
        ada.code.same.click()
        await shown(ada.busy)
        assert ada.busy.words.text() == "Waiting until Jun says so, too…"
        assert profile(two[1]).scope() == NEARBY
        jun.code.same.click()
        await shown(ada.choices)
        await shown(jun.choices)

    live(two, story)
    assert profile(two[1]).scope() == OFFICE
    assert ada.said == "Jun is in Office now."
    assert jun.said == "You have joined Office."
    assert jun.scope_text[1].startswith("From the next start: Office: only those")


def test_an_invitation_is_found_and_goes_again(two: tuple[Place, Place]) -> None:
    ada, jun = opened(two[0]), opened(two[1])

    async def story() -> None:
        ada.choices.invite.click()
        jun.choices.join.click()
        await shown(ada.waiting)
        words = f"Ada at {ada.waiting.address.text()}"

        def found() -> list[QAbstractButton]:
            # Whoever else invites on this computer is found as well.
            return [each for each in jun.search.buttons.values() if each.text() == words]

        await until(lambda: len(found()) == 1)
        found()[0].click()
        await shown(jun.code)
        await shown(ada.code)
        jun.code.differ.click()
        ada.code.differ.click()
        await shown(ada.waiting)
        await shown(jun.search)
        ada.waiting.cancel.click()
        await until(lambda: not found())
        jun.search.cancel.click()

    live(two, story)


@pytest.mark.parametrize("who", [0, 1])
def test_a_refusal_is_told_and_nothing_is_given(two: tuple[Place, Place], who: int) -> None:
    pages = opened(two[0]), opened(two[1])
    refusing, other = pages[who], pages[1 - who]

    async def story() -> None:
        await meet(*pages)
        other.code.same.click()
        refusing.code.differ.click()
        await until(lambda: other.said.startswith("The other person has refused"))
        assert refusing.said in {"Nothing was joined.", "Jun was not let in."}
        # Both can try again where they are.
        await shown(pages[0].waiting)
        await shown(pages[1].search)

    live(two, story)
    assert profile(two[1]).scope() == NEARBY


@pytest.mark.parametrize("who", [0, 1])
def test_a_page_closed_in_the_middle_ends_everything(two: tuple[Place, Place], who: int) -> None:
    pages = opened(two[0]), opened(two[1])
    other = pages[1 - who]

    async def story() -> None:
        await meet(*pages)
        peer = Peer.parse(pages[0].waiting.address.text())
        two[who].window.close_page(pages[who])
        other.code.same.click()
        await until(lambda: other.said.startswith("The other person has refused"))
        if who == 0:
            with pytest.raises(PeerLost):
                await ask(peer, "Eve")

    live(two, story)
    assert profile(two[1]).scope() == NEARBY
    assert opened(two[who]) is not pages[who]


def test_the_end_of_the_program_ends_an_invitation(two: tuple[Place, Place]) -> None:
    ada = opened(two[0])

    async def story() -> None:
        ada.choices.invite.click()
        await shown(ada.waiting)
        peer = Peer.parse(ada.waiting.address.text())
        two[0].desk.close()
        await two[0].desk.scopes.finish()
        with pytest.raises(PeerLost):
            await ask(peer, "Jun")

    live(two, story)


@pytest.mark.parametrize("text", ["", "somewhere", "1.2.3:5", "127.0.0.1:0", "127.0.0.1:99999"])
def test_a_bad_address_gets_a_sentence(two: tuple[Place, Place], text: str) -> None:
    jun = opened(two[1])

    async def story() -> None:
        jun.choices.join.click()
        await shown(jun.search)
        jun.search.address.setText(text)
        jun.search.ask.click()
        assert jun.said == f"“{text}” is no address: write it like 192.168.1.5:47475."
        assert not jun.search.isHidden()

    live(two, story)


def test_an_address_where_nobody_invites_gets_a_sentence(two: tuple[Place, Place]) -> None:
    jun = opened(two[1])

    async def story() -> None:
        jun.choices.join.click()
        await shown(jun.search)
        jun.search.address.setText("127.0.0.1:1")
        jun.search.ask.click()
        await until(lambda: jun.said.startswith("Nobody invites there"))
        await shown(jun.search)
        jun.search.cancel.click()
        assert not jun.choices.isHidden()
        assert jun.said == ""

    live(two, story)


def test_many_refusals_end_an_invitation(two: tuple[Place, Place]) -> None:
    ada = opened(two[0])

    async def story() -> None:
        ada.choices.invite.click()
        await shown(ada.waiting)
        peer = Peer.parse(ada.waiting.address.text())
        for _ in range(3):
            meeting = await ask(peer, "Eve")
            await shown(ada.code)
            ada.code.differ.click()
            await until(ada.code.isHidden)
            await meeting.refuse()
        await until(lambda: ada.said == "Too many have asked in vain: invite again.")
        assert not ada.choices.isHidden()

    live(two, story)


def test_a_network_that_has_gone_gets_a_sentence(two: tuple[Place, Place]) -> None:
    scopes = two[0].desk.scopes
    scopes._meetings = replace(scopes._meetings, address=lambda: "192.0.2.1")  # Nobody's.
    ada = opened(two[0])

    async def story() -> None:
        ada.choices.invite.click()
        await until(lambda: ada.said.startswith("This computer cannot wait for others here"))
        assert not ada.choices.isHidden()

    live(two, story)


def test_where_nothing_can_be_searched_an_address_is_typed(
    two: tuple[Place, Place], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: object) -> None:
        raise OSError("no multicast here")

    monkeypatch.setattr(mdns, "AsyncZeroconf", refuse)
    ada, jun = opened(two[0]), opened(two[1])

    async def story() -> None:
        jun.choices.join.click()
        await until(lambda: jun.said.startswith("Invitations cannot be searched here"))
        jun.search.cancel.click()
        await meet(ada, jun)
        jun.code.same.click()
        ada.code.same.click()
        await until(lambda: jun.said == "You have joined Office.")

    live(two, story)


def test_members_are_ticked_and_those_without_a_tick_are_left_out(make_place: MakePlace) -> None:
    place = make_place("Ada")
    profile(place).join(OFFICE)
    page = opened(place)
    page.choices.members.click()
    assert page.said.startswith("You are in this network from the next start on")
    wanted: list[list[str]] = []
    page.renew_wanted.connect(wanted.append)
    page.show_members(
        [NetworkMember("Ada", "aaaa", True), NetworkMember("Jun & Co", "bbbb", False)]
    )
    ada, jun = page.members.ticks.values()
    assert (ada.isEnabled(), jun.isEnabled(), jun.text()) == (False, True, "Jun && Co · bbbb")
    page.members.renew.click()
    page.show_members([NetworkMember("Jun", "bbbb", False)])
    page.members.ticks["bbbb"].click()
    assert page.members.renew.text() == "Renew the key without 1"
    page.members.renew.click()
    assert wanted == [[], ["bbbb"]]
    page.members.cancel.click()
    assert not page.choices.isHidden()


def test_the_keyboard_stays_on_the_page(make_place: MakePlace, qtbot: Any) -> None:
    place = make_place("Ada")
    with qtbot.waitActive(place.window):
        place.window.activateWindow()
    page = opened(place)
    qtbot.keyClicks(QApplication.focusWidget(), "Team")
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return)
    assert QApplication.focusWidget() is page.choices.invite
    page.show_code("Jun wants to join Team.", "123 456")
    assert QApplication.focusWidget() is page.code.differ


def test_the_settings_lead_there(make_place: MakePlace) -> None:
    place = make_place("Ada")
    place.run("settings.open")
    settings = place.window.front_page
    assert isinstance(settings, SettingsPage)
    button = next(w for w in settings.findChildren(QWidget) if w.accessibleName() == "Network")
    button.click()  # type: ignore[attr-defined]
    assert isinstance(place.window.front_page, OfficeNetworkPage)
