"""What follows what: the schedule, the slots of a closed load, and the turns and sub-agents that an answer brings about."""

import time
from collections import deque
from dataclasses import replace

from perfd.bench.load.agenda import FAR_NS, Act, Agenda, Item, Join, Place
from perfd.bench.load.exchange import Chain, Exchange
from perfd.bench.load.parse import said
from perfd.bench.load.work import Limits, Window, Work


class Course:
    """Decides when each request begins; it knows no sockets."""

    def __init__(self, work: Work, limits: Limits, window: Window) -> None:
        self._work, self._window = work, window
        self._ahead_ns = limits.ahead_ns
        self._drain_ns = limits.drain_ns
        self.agenda = Agenda()
        self.in_flight = 0
        self.stop_ns = FAR_NS
        """Nothing begins from then on."""
        self.give_up_ns = FAR_NS
        """What is under way then is cancelled."""
        self.stopping = False
        self._capped: deque[tuple[int, Place]] = deque()
        self._places: dict[int, Place] = {}

    def begin(self, start_ns: int) -> None:
        """The whole schedule is on the agenda."""
        work = self._work
        for at, chain in work.starts:
            self._soon(start_ns + at, _first(chain))
        for at in work.slots:
            self.agenda.add(start_ns + at - self._ahead_ns, Act.OPEN)
            self.agenda.add(start_ns + at, Act.PULL)
        if work.stop_ns is not None:
            self.stop_ns = start_ns + work.stop_ns
            self.give_up_ns = self.stop_ns + self._drain_ns
        elif work.starts and all(chain.size == 1 for _, chain in work.starts):
            self.give_up_ns = start_ns + work.starts[-1][0] + self._drain_ns

    @property
    def over(self) -> bool:
        """Whether nothing is due, waits or is under way."""
        return not (self.agenda or self.in_flight or self._capped)

    def stop(self) -> None:
        """Nothing more begins; what is under way has the time to drain."""
        now = time.monotonic_ns()
        self.stop_ns = now
        self.give_up_ns = min(self.give_up_ns, now + self._drain_ns)

    def begins(self, item: Item) -> Exchange | None:
        """The request that this entry of the agenda begins; absent where none may."""
        if item.at_ns >= self.stop_ns:
            return None
        place = item.place
        if place is None:
            chain = next(self._work.supply, None)
            return None if chain is None else self._start(item.at_ns, item.at_ns, replace(_first(chain), slot=True))
        if self._work.cap is not None and self.in_flight >= self._work.cap:
            self._capped.append((item.at_ns, place))
            return None
        return self._start(item.at_ns, item.at_ns, place)

    def _start(self, intended_ns: int, ready_ns: int, place: Place) -> Exchange:
        exchange = Exchange(place.request, intended_ns, ready_ns)
        self._places[id(exchange)] = place
        self._window.exchanges.append(exchange)
        self.in_flight += 1
        return exchange

    def ended(self, exchange: Exchange, ns: int) -> Exchange | None:
        """What follows the exchange is due; the request that begins at once as a place under the cap is free."""
        self.in_flight -= 1
        place = self._places.pop(id(exchange))
        if self.stopping:
            return None
        if place.chain.renew is not None:
            place.replies.append(said(exchange))
        if place.chain.branches and place.turn == place.chain.branch_after:
            self._branch(place, ns)
        else:
            self._go_on(place, ns)
        if not self._capped:
            return None
        at_ns, waiting = self._capped.popleft()
        return self._start(at_ns, max(at_ns, ns), waiting)

    def _branch(self, place: Place, ns: int) -> None:
        """All sub-agents of the session begin together."""
        join = Join(place, len(place.chain.branches))
        for branch in place.chain.branches:
            self._soon(ns, replace(_first(branch), join=join))

    def _go_on(self, place: Place, ns: int) -> None:
        """The session's next request is due after its pause; a session that is over frees its slot, or whoever waits for it."""
        turn, chain = place.turn + 1, place.chain
        if turn < len(chain.requests):
            request = chain.requests[turn] if chain.renew is None else chain.renew(turn, place.replies)
            self._soon(ns + chain.pause_ns(turn), replace(place, turn=turn, request=request))
        elif place.join is not None:
            place.join.left -= 1
            if not place.join.left:
                self._go_on(place.join.place, ns)
        elif place.slot:
            self.agenda.add(ns, Act.PULL)

    def _soon(self, at_ns: int, place: Place) -> None:
        self.agenda.add(at_ns - self._ahead_ns, Act.OPEN)
        self.agenda.add(at_ns, Act.SEND, place)


def _first(chain: Chain) -> Place:
    return Place(chain, 0, chain.requests[0])
