"""What the window needs from the process around it: an address, certificates, a quiet collector, Ctrl-C, priority."""

import gc
import os
import resource
import signal
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from perfd.bench.load.loop import Loop
from perfd.bench.load.plan import LoadPlan
from perfd.bench.load.wire import Target
from perfd.bench.load.work import Endpoint
from perfd.errors import BadInputError


def endpoint_of(plan: LoadPlan, target: Target) -> Endpoint:
    """The address, resolved once; raises BadInputError where there is none."""
    try:
        found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise BadInputError(f"{target.host} cannot be resolved ({error}); give a URL whose host exists") from None
    addresses = [(family, address) for family, _, _, _, address in found]
    tls = tls_context(plan) if target.tls else None
    family, address = next(filter(_accepts, addresses), addresses[0]) if len(addresses) > 1 else addresses[0]
    return Endpoint(family, address, target.host, tls, plan.kernel_stamps, plan.keep_alive)


def _accepts(place: tuple[int, Any]) -> bool:
    """Whether a server answers there: `localhost` is often ::1 first, and many servers listen on 127.0.0.1 alone."""
    family, address = place
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        return probe.connect_ex(address) == 0


def tls_context(plan: LoadPlan) -> ssl.SSLContext:
    """Certificates are checked unless the plan says otherwise."""
    try:
        context = ssl.create_default_context(cafile=str(plan.ca_file) if plan.ca_file else None)
    except (OSError, ssl.SSLError) as error:
        raise BadInputError(f"{plan.ca_file}: no certificates can be read from it ({error})") from None
    if not plan.verify_tls:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


@contextmanager
def many_files() -> Iterator[None]:
    """As many open sockets as this process may have: the usual 1,024 would end a load of a thousand slow answers."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@contextmanager
def quiet_collector() -> Iterator[None]:
    """No garbage collection runs in the window: one pass over millions of reads would stall every stream."""
    was = gc.isenabled()
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.unfreeze()
        if was:
            gc.enable()


@contextmanager
def interrupting(loop: Loop) -> Iterator[None]:
    """Ctrl-C ends the window instead of the process (in the main thread; elsewhere Python allows no handler)."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handler(_signal: int, _frame: FrameType | None) -> None:
        loop.interrupt()

    before = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def realtime(*, asked: bool) -> Iterator[str]:
    """The policy that the window runs under: SCHED_RR where it was asked for and is permitted, said in words."""
    if not asked:
        yield "normal"
        return
    before, parameters = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except PermissionError:
        yield "normal (SCHED_RR was asked for and is not permitted)"
        return
    try:
        yield "SCHED_RR 1"
    finally:
        os.sched_setscheduler(0, before, parameters)
