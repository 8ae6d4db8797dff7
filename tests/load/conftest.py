"""Property tests of the load client take the time that they take: on a busy machine no example is too slow."""

from hypothesis import settings

settings.register_profile("perfd", deadline=None, max_examples=60)
settings.load_profile("perfd")
