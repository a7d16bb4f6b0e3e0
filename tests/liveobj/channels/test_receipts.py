"""Own operations count as unsent until every other member has received them."""

from __future__ import annotations

import pytest

from liveobj.channels.document_channel import ChannelState, DocumentChannel
from liveobj.channels.presence import PresenceEntry
from liveobj.documents import Document
from transport.simulation import SimulatedEngine, Simulation

GROUP_ID = b"a document's id."
KEY = b"k" * 32


class Office:
    """Documents of several people, on simulated engines."""

    def __init__(self, simulation: Simulation, people: int) -> None:
        self.simulation = simulation
        self.engines: list[SimulatedEngine] = []
        self.channels: list[DocumentChannel] = []
        for _ in range(people):
            self.add()
        assert simulation.run_until(lambda: self.at_rest(people))

    def add(self) -> DocumentChannel:
        engine, number = self.simulation.add_node(), len(self.channels)
        channel = DocumentChannel(
            Document(1000 + number),
            engine.join(GROUP_ID, KEY),
            self.simulation,
            PresenceEntry(f"person {number}", "#336699"),
        )
        self.engines.append(engine)
        self.channels.append(channel)
        return channel

    def at_rest(self, people: int) -> bool:
        return all(
            each.state.people == people and not each.state.unsent and not each.state.catching_up
            for each in self.channels
        )

    def cut_off(self, deaf: int) -> None:
        for number, engine in enumerate(self.engines):
            if number != deaf:
                self.simulation.block(engine, self.engines[deaf])
                self.simulation.block(self.engines[deaf], engine)


def write(channel: DocumentChannel, words: str) -> None:
    text = channel.document.text("text")
    text.insert(text.length, words)


def text_of(channel: DocumentChannel) -> str:
    return str(channel.document.text("text"))


@pytest.mark.parametrize(("seed", "loss"), [(1, 0.0), (2, 0.3)])
def test_nothing_is_unsent_only_when_all_others_have_it(seed: int, loss: float) -> None:
    with Simulation(seed=seed) as simulation:
        office = Office(simulation, 4)
        simulation.set_link(loss=loss)
        ada, *others = office.channels
        early: list[str] = []

        def note(state: ChannelState) -> None:
            if not state.unsent and any(text_of(each) != text_of(ada) for each in others):
                early.append(text_of(ada))

        ada.observe(note)
        for words in ("a word ", "and " * 40_000, "the end"):
            write(ada, words)
            assert ada.state.unsent > 0
            assert simulation.run_until(lambda: not ada.state.unsent)
            assert all(text_of(each) == text_of(ada) for each in others)
        assert early == []


def test_what_a_deaf_member_lacks_is_unsent_until_it_is_put_out() -> None:
    with Simulation(seed=3) as simulation:
        office = Office(simulation, 3)
        ada, jun, deaf = office.channels
        states: list[ChannelState] = []
        ada.observe(states.append)
        office.cut_off(2)
        write(ada, "does anybody hear me?")
        assert simulation.run_until(lambda: text_of(jun) == text_of(ada))
        assert ada.state.people == 3
        assert ada.state.unsent > 0
        assert simulation.run_until(lambda: ada.state.people == 2 and not ada.state.unsent)
        assert text_of(deaf) == ""
        assert all(state.unsent for state in states if state.people == 3)


def test_who_is_left_alone_has_nothing_to_send() -> None:
    with Simulation(seed=4) as simulation:
        office = Office(simulation, 2)
        ada, _ = office.channels
        office.cut_off(1)
        write(ada, "is it only me?")
        assert ada.state.unsent > 0
        assert simulation.run_until(lambda: ada.state.people == 1 and not ada.state.unsent)


def test_what_was_written_alone_is_unsent_until_a_newcomer_has_it() -> None:
    with Simulation(seed=5) as simulation:
        office = Office(simulation, 1)
        (ada,) = office.channels
        write(ada, "written alone " * 5000)
        assert simulation.run_until(lambda: not ada.state.unsent)
        states: list[ChannelState] = []
        ada.observe(states.append)
        jun = office.add()
        assert simulation.run_until(lambda: text_of(jun) == text_of(ada) and office.at_rest(2))
        assert any(state.unsent for state in states)


def test_who_was_put_out_counts_what_it_wrote_until_the_others_have_it() -> None:
    with Simulation(seed=6) as simulation:
        office = Office(simulation, 3)
        ada, jun, away = office.channels
        office.cut_off(2)
        assert simulation.run_until(lambda: ada.state.people == 2 and away.state.people == 1)
        write(away, "written apart")
        write(ada, "written together, ")
        assert simulation.run_until(lambda: not ada.state.unsent and not away.state.unsent)
        for number in (0, 1):
            simulation.block(office.engines[number], office.engines[2], blocked=False)
            simulation.block(office.engines[2], office.engines[number], blocked=False)
        assert simulation.run_until(lambda: office.at_rest(3))
        assert text_of(ada) == text_of(jun) == text_of(away)
        assert "apart" in text_of(ada)


def test_writing_without_a_pause_is_received_on_the_way() -> None:
    with Simulation(seed=7) as simulation:
        office = Office(simulation, 2)
        ada, _ = office.channels
        low: list[int] = []
        ada.observe(lambda state: low.append(state.unsent))

        def type_on() -> None:
            write(ada, "x")
            simulation.call_later(0.01, type_on)

        type_on()
        simulation.run_for(5.0)
        assert len(text_of(ada)) >= 400
        # What was written a moment before is with the others, although more is written all the
        # time: never is much of it counted as unsent.
        assert max(low) < 100
