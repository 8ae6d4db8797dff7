from datetime import timedelta

from sqlalchemy import text
from store_world import FIRST_NIGHT

from perfd.store import Store


def test_a_device_is_measured_on_by_one_process_at_a_time(store: Store) -> None:
    with store.device_lock("bench-1", "cpu") as first, store.device_lock("bench-1", "cpu") as second:
        assert (True, False) == (first, second)
        with store.device_lock("bench-1", "gpu0") as other, store.clock_lock() as clock:
            assert (True, True) == (other, clock)

    with store.device_lock("bench-1", "cpu") as again:
        assert again


def test_a_lock_is_free_when_its_holder_is_gone(store: Store) -> None:
    with store.clock_lock() as got:
        assert got
        with store.engine.begin() as connection:
            here = "database = (SELECT oid FROM pg_database WHERE datname = current_database())"
            holder = f"SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND {here}"  # noqa: S608  # a text of our own
            connection.execute(text(f"SELECT pg_terminate_backend(({holder}), 5000)"))
        with store.clock_lock() as successor:
            assert successor


def test_no_transaction_stays_open_while_a_lock_is_held(store: Store) -> None:
    with store.device_lock("bench-1", "cpu"), store.engine.begin() as connection:
        idle = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'"
        assert 0 == connection.execute(text(idle)).scalar_one()


def test_a_message_is_put_once_and_sent_once(store: Store) -> None:
    now, again = FIRST_NIGHT, timedelta(minutes=5)

    assert store.outbox.put("night:1", "regression", {"title": "slower"}, now)
    assert not store.outbox.put("night:1", "regression", {"title": "slower"}, now)
    message = store.outbox.claim(now, again)
    assert message is not None
    assert {"title": "slower"} == message.payload
    assert store.outbox.claim(now, again) is None
    store.outbox.failed(message, "503", now + timedelta(minutes=1))
    retried = store.outbox.claim(now + timedelta(minutes=1), again)
    assert retried is not None
    assert 2 == retried.attempts
    assert store.outbox.sent(retried, now)
    assert not store.outbox.sent(retried, now)
    assert store.outbox.claim(now + timedelta(days=1), again) is None


def test_perfd_remembers_when_it_began(store: Store) -> None:
    assert FIRST_NIGHT == store.began_at(FIRST_NIGHT)
    assert FIRST_NIGHT == store.began_at(FIRST_NIGHT + timedelta(days=3))


def test_workers_are_seen_and_forgotten(store: Store) -> None:
    store.workers.seen("bench-1:1:1", FIRST_NIGHT, doing="measures chat", device_class="cpu")
    store.workers.seen("bench-1:1:1", FIRST_NIGHT + timedelta(minutes=1), doing="waits", device_class="cpu")
    store.workers.seen("bench-2:1:1", FIRST_NIGHT)

    shown = store.pages.status().workers
    assert [("bench-1", "waits"), ("bench-2", "")] == [(one.host, one.doing) for one in shown]
    assert FIRST_NIGHT == shown[0].started_at
    assert 1 == store.workers.forget(FIRST_NIGHT + timedelta(days=7, seconds=30))
