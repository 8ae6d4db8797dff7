"""Limits: a Series that passes a level which its suite pins is a Regression at once; back on the good side it is fixed."""

from collections.abc import Sequence

from perfd.domain.limit import Limit
from perfd.domain.occasion import Occasion
from perfd.domain.subject import brief
from perfd.errors import BadInputError
from perfd.stages.budgets import close_kept
from perfd.stages.context import Context
from perfd.stages.labels import label
from perfd.stages.plan import suite_of
from perfd.store.records import SeriesInfo

ACTOR = "limit"


def judge_limits(context: Context, occasion: Occasion, touched: Sequence[SeriesInfo]) -> None:
    """Every limit of the Series that the occasion touched was looked at: passed ones are open Regressions, kept ones are not."""
    for suite in sorted(suite for suite in {series.suite for series in touched} if _has_file(context, suite)):
        by_workload = {one.identity: one.limits for one in suite_of(context.config, suite).workloads if one.limits}
        for series in touched:
            for limit in by_workload.get(series.key.workload, ()) if series.suite == suite else ():
                if _is_about(limit, series):
                    _judge(context, occasion, series, limit)


def _has_file(context: Context, suite: str) -> bool:
    """Kernels have none; a suite that was taken away or broken since holds nobody to anything."""
    try:
        suite_of(context.config, suite)
    except BadInputError:
        return False
    return True


def _is_about(limit: Limit, series: SeriesInfo) -> bool:
    key = series.key
    return (limit.metric, limit.engine, limit.model, limit.device_class) == (key.metric, key.subject, key.model, key.device_class)


def _judge(context: Context, occasion: Occasion, series: SeriesInfo, limit: Limit) -> None:
    tonight = [point for point in context.store.judgements.history(series.id) if point.occasion == occasion.name]
    if not tonight:
        return
    point, better, unit = tonight[-1], series.metric.better, series.metric.unit
    cause = f"limit:{series.key.fingerprint}"
    told = f"{point.value:.4g} {unit}, and {limit.worst:.4g} {unit} is the level that suite {series.suite} pins"
    if limit.is_passed(better, point.value, point.interval):
        title = f"{series.key.subject}: {label(series)} passes its pinned level since {brief(point.revision)}"
        context.store.regressions.open_budget(occasion, point.build, cause, title, actor=ACTOR, reason=told, now=context.now())
    elif limit.is_kept(better, point.value):
        close_kept(context, cause, told, ACTOR)
