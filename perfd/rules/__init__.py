"""The decisions: domain words in, domain words out; no database, no clock, no randomness that is not seeded."""
