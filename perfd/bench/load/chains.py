"""From prompts to chains: each session's requests as bytes, its sub-agents, and what is asked again with live replies."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from perfd.bench.load.exchange import Chain, PlannedRequest
from perfd.bench.load.messages import Prompt
from perfd.bench.load.plan import LoadPlan
from perfd.bench.load.prompts import PromptMaker, planned_replies
from perfd.bench.load.replay import Due
from perfd.bench.load.wire import Target, request_of

MOST = 1 << 62
READY_PER_SLOT = 64
"""Requests made beforehand for each slot of a closed load whose number of requests is not given."""


@dataclass
class ChainMaker:
    """Makes one session's chain after the other, numbering requests as it goes."""

    plan: LoadPlan
    target: Target
    maker: PromptMaker
    _sessions: Iterator[int] = field(default_factory=itertools.count)
    _indices: Iterator[int] = field(default_factory=itertools.count)

    def make(self, due: Due | None = None) -> Chain:
        """The next session, its sub-agents with it."""
        number = next(self._sessions) * self.maker.family
        main = self._chain(number, None, due)
        branches = tuple(self._chain(number + agent, number) for agent in range(1, self.maker.family))
        middle = (len(main.requests) - 1) // 2
        return Chain(main.requests, main.think_s, branches, middle, main.renew)

    def _chain(self, session: int, parent: int | None, due: Due | None = None) -> Chain:
        prompts = self.maker.chain(session, due)
        requests = tuple(
            request_of(self.plan, self.target, prompt, (next(self._indices), session, turn), parent)
            for turn, prompt in enumerate(prompts)
        )
        live = self.plan.prompts.live and len(prompts) > 1
        pauses = tuple(prompt.think_s for prompt in prompts[1:])
        return Chain(requests, pauses, renew=self._renewer(prompts, requests, parent) if live else None)

    def _renewer(
        self, prompts: Sequence[Prompt], requests: Sequence[PlannedRequest], parent: int | None
    ) -> Callable[[int, Sequence[str]], PlannedRequest]:
        planned = planned_replies(prompts)

        def renew(turn: int, replies: Sequence[str]) -> PlannedRequest:
            old = requests[turn]
            prompt = prompts[turn].with_replies(replies, planned)
            return request_of(self.plan, self.target, prompt, (old.index, old.session, old.turn), parent)

        return renew

    def supply(self, slots: int) -> Iterator[Chain]:
        """The chains that the slots of a closed load take; made beforehand, and only where none are left, in the window."""
        wanted = self.plan.requests
        if wanted is None:
            ready = list(self.filled(slots * READY_PER_SLOT))
            spare = [self.make() for _ in range(max(0, slots - len(ready)))]
            return itertools.chain(ready, spare, iter(self.make, None))
        return iter(list(self.filled(wanted)))

    def due(self, dues: Sequence[Due]) -> Iterator[Chain]:
        """The chain of each line of a schedule, until the plan's number of requests is reached."""
        left = self.plan.requests or MOST
        for due in dues:
            if left <= 0:
                return
            chain = self.make(due).cut(left)
            left -= chain.size
            yield chain

    def filled(self, requests: int) -> Iterator[Chain]:
        """Chains with exactly so many requests together."""
        left = requests
        while left > 0:
            chain = self.make().cut(left)
            left -= chain.size
            yield chain
