"""What the store answers with, where the domain has no word of its own: work that was claimed, and rows that pages show."""

from perfd.store.records.answering import AaRow, ConfirmationRow, FalseAlarms, OpenRegression, RegressionEvent, RegressionRow
from perfd.store.records.claims import ClaimedBuild, ClaimedRun, Reduced, Taken, Written
from perfd.store.records.nights import JudgedSeries, Movement, NightCounts, NightSummary, OccasionRow, OccasionSummary, Span
from perfd.store.records.runs import ArmSamples, BuildPage, BuildRow, RunPage, RunRow
from perfd.store.records.searches import BisectEnded, BisectRow, BisectStep
from perfd.store.records.series import (
    ChangeRow,
    PointLine,
    PointRow,
    SeriesInfo,
    SeriesJudgement,
    SeriesLine,
    SeriesOrder,
    SeriesPage,
    SeriesRow,
)
from perfd.store.records.service import QueueRow, Status, UnsentRow, WaitingRow, WorkerRow
from perfd.store.records.sides import CommonMean, Differing, DifferingList, Side

__all__ = [
    "AaRow",
    "ArmSamples",
    "BisectEnded",
    "BisectRow",
    "BisectStep",
    "BuildPage",
    "BuildRow",
    "ChangeRow",
    "ClaimedBuild",
    "ClaimedRun",
    "CommonMean",
    "ConfirmationRow",
    "Differing",
    "DifferingList",
    "FalseAlarms",
    "JudgedSeries",
    "Movement",
    "NightCounts",
    "NightSummary",
    "OccasionRow",
    "OccasionSummary",
    "OpenRegression",
    "PointLine",
    "PointRow",
    "QueueRow",
    "Reduced",
    "RegressionEvent",
    "RegressionRow",
    "RunPage",
    "RunRow",
    "SeriesInfo",
    "SeriesJudgement",
    "SeriesLine",
    "SeriesOrder",
    "SeriesPage",
    "SeriesRow",
    "Side",
    "Span",
    "Status",
    "Taken",
    "UnsentRow",
    "WaitingRow",
    "WorkerRow",
    "Written",
]
