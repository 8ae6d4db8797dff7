"""What the API's answers look like: schemas for the OpenAPI document, which tests hold against real answers."""

from perfd.site.answers.common import Page, Trouble, told
from perfd.site.answers.judged import (
    Asked,
    Compared,
    Comparison,
    Comparisons,
    Differing,
    FalseAlarms,
    OneRegression,
    Regression,
    RegressionPage,
    Report,
    Spans,
)
from perfd.site.answers.launches import Launch, Launches
from perfd.site.answers.runs import OneBuild, OneRun, Reproduce, RunPage, Taken
from perfd.site.answers.series import Drawn, Formulas, Latest, OneSeries, SeriesPage
from perfd.site.answers.service import Devices, Kernels, Nights, OneDevice, Status

__all__ = [
    "Asked",
    "Compared",
    "Comparison",
    "Comparisons",
    "Devices",
    "Differing",
    "Drawn",
    "FalseAlarms",
    "Formulas",
    "Kernels",
    "Latest",
    "Launch",
    "Launches",
    "Nights",
    "OneBuild",
    "OneDevice",
    "OneRegression",
    "OneRun",
    "OneSeries",
    "Page",
    "Regression",
    "RegressionPage",
    "Report",
    "Reproduce",
    "RunPage",
    "SeriesPage",
    "Spans",
    "Status",
    "Taken",
    "Trouble",
    "told",
]
