"""The only place with SQL: tables, migrations, and every question about them in domain words.

with open_store(config) as store:
    store.occasions.open(night, now)
"""

from perfd.store.pages import SeriesFilter
from perfd.store.store import Store, make_engine, open_database, open_store

__all__ = ["SeriesFilter", "Store", "make_engine", "open_database", "open_store"]
