import pytest
from store_world import World

from perfd.store import Store


@pytest.fixture
def world(store: Store) -> World:
    return World(store)
