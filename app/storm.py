"""What a soak does to the programs of an office, at random: edits, pastes, kills, freezes, cuts."""

from __future__ import annotations

import random
import signal
import time
from dataclasses import dataclass, field

from app.driven_program import DrivenFailed
from app.killing import Claims, write_until_killed
from app.players import Player

_EDITS_MAX = 20
_CUT_S_MAX = 5.0
_KILL_S_MAX = 0.8


@dataclass
class Tally:
    """What has been done to the programs. `claims` is what they have called saved."""

    stirs: int = 0
    kills: int = 0
    freezes: int = 0
    cuts: int = 0
    pastes: int = 0
    pasted_characters: int = 0
    slowest_paste_s: float = 0.0
    claims: Claims = field(default_factory=Claims)


class Storm:
    """Blows over the players, `paste_kb` being the longest text that is pasted at once."""

    def __init__(
        self, players: list[Player], chance: random.Random, tally: Tally, paste_kb: int
    ) -> None:
        self._players = players
        self._chance = chance
        self.tally = self._tally = tally
        self._paste_kb = paste_kb

    def blow(self, seconds: float) -> None:
        """One thing after another, until the time is over."""
        end_s = time.monotonic() + seconds
        while time.monotonic() < end_s:
            player = self._chance.choice(self._players)
            dice = self._chance.random()
            if dice < 0.05:
                self._kill(player)
            elif dice < 0.10:
                self._freeze(player)
            elif dice < 0.20:
                self._tally.cuts += 1
                player.set_cut(not player.cut)
            elif dice < 0.23 and self._paste_kb:
                self._paste(player)
            else:
                self._stir(player)

    def _kill(self, player: Player) -> None:
        self._tally.kills += 1
        after_s = self._chance.uniform(0.05, _KILL_S_MAX)
        write_until_killed(player, self._chance, self._tally.claims, after_s)
        # A program looks for a network that is there when it starts.
        player.set_cut(False)
        player.start_again()

    def _freeze(self, player: Player) -> None:
        self._tally.freezes += 1
        player.process.send_signal(signal.SIGSTOP)
        others = [one for one in self._players if one is not player]
        until_s = time.monotonic() + self._chance.uniform(0.5, _CUT_S_MAX)
        while time.monotonic() < until_s:
            self._stir(self._chance.choice(others))
        player.process.send_signal(signal.SIGCONT)

    def _paste(self, player: Player) -> None:
        size = 1000 * self._chance.randint(min(20, self._paste_kb), self._paste_kb)
        request = {"do": "paste", "size": size, "seed": self._chance.getrandbits(30)}
        answer = player.ask(request)
        if "pasted" not in answer:
            raise DrivenFailed(f"{player.name} did not answer after a paste of {size} characters.")
        self._tally.pastes += 1
        self._tally.pasted_characters += answer["pasted"]
        self._tally.slowest_paste_s = max(self._tally.slowest_paste_s, answer["seconds"])

    def _stir(self, player: Player) -> None:
        self._tally.stirs += 1
        mark = f"{player.name}-{self._tally.stirs}"
        seed, edits = self._chance.getrandbits(30), self._chance.randint(1, _EDITS_MAX)
        answer = player.ask({"do": "stir", "seed": seed, "edits": edits, "mark": mark})
        self._tally.claims.add(answer.get("saved", []), [mark])
