"""A connection that died while it was idle is replaced before anybody uses it."""

from sqlalchemy import text

from perfd.store import Store

OTHERS = text("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid = ANY(:pids)")
MINE = text("SELECT pg_backend_pid()")


def test_connections_that_the_server_closed_are_replaced(store: Store) -> None:
    idle = [store.engine.connect() for _ in range(3)]
    killer, *others = idle
    pids = [one.execute(MINE).scalar_one() for one in others]
    for one in others:
        one.close()
    killed = killer.execute(OTHERS, {"pids": pids}).scalar_one()
    killer.invalidate()
    killer.close()

    assert 2 == killed
    for _ in range(3):
        with store.engine.begin() as connection:
            assert connection.execute(MINE).scalar_one() not in pids


def test_a_living_connection_is_used_again(store: Store) -> None:
    pids = set()
    for _ in range(3):
        with store.engine.begin() as connection:
            pids.add(connection.execute(MINE).scalar_one())
    assert 1 == len(pids)
