"""Builders: from a source and a Revision to a Build that can be launched or measured, named by what it is made of."""

from perfd.builders.build import build, describe, is_whole, kernel_source, revisions
from perfd.builders.checkout import check_out, merge_base
from perfd.builders.process import os_sentence
from perfd.builders.revert import Revert, revert
from perfd.builders.shapes import random_weights_hash, read_shape, why_no_random_weights
from perfd.builders.weights import fetch_weights
from perfd.builders.words import Enclose, Progress, quiet

__all__ = [
    "Enclose",
    "Progress",
    "Revert",
    "build",
    "check_out",
    "describe",
    "fetch_weights",
    "is_whole",
    "kernel_source",
    "merge_base",
    "os_sentence",
    "quiet",
    "random_weights_hash",
    "read_shape",
    "revert",
    "revisions",
    "why_no_random_weights",
]
