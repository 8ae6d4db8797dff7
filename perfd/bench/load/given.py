"""A PromptPlan from flat parameters: the same names in a suite's file and, with dashes, on the command line."""

from collections.abc import Mapping
from pathlib import Path

from perfd.bench.load.plan import AgentPlan, PicturePlan, PromptKind, PromptPlan, Spread
from perfd.domain.identity import Json


def prompt_plan(given: Mapping[str, Json], seed: int, occasion: str = "") -> PromptPlan:
    """The plan; what is absent has the default of `PromptPlan`, and sessions reuse their prefix unless told otherwise."""
    kind = PromptKind(given.get("prompts", "chat"))
    turns = int(given.get("turns", 1))
    recorded = given.get("recorded")
    return PromptPlan(
        kind=kind,
        prompt_tokens=int(given["prompt_tokens"]),
        system_tokens=int(given.get("system_tokens", 0)),
        max_tokens=int(given["output_tokens"]),
        turns=turns,
        growth_tokens=int(given.get("growth_tokens", 0)),
        think_s=float(given.get("think_s", 0.0)),
        seed=seed,
        occasion=occasion,
        reuse_prefix=bool(given.get("reuse_prefix", kind is PromptKind.AGENTIC or turns > 1)),
        turn_tail=float(given.get("turn_tail", 0.0)),
        context_most=int(given.get("context_most", 0)),
        prompt_spread=_spread(given, "prompt"),
        output_spread=_spread(given, "output"),
        growth_spread=_spread(given, "growth"),
        think_spread=_spread(given, "think"),
        agent=agent_plan(given),
        live=bool(given.get("live", False)),
        needles=int(given.get("needles", 1)),
        asked_needles=int(given.get("asked_needles", 1)),
        pictures=picture_plan(given),
        recorded=None if recorded is None else Path(str(recorded)),
    )


def _spread(given: Mapping[str, Json], name: str) -> Spread:
    return Spread(float(given.get(f"{name}_p90", 0.0)), float(given.get(f"{name}_most", 0.0)))


def agent_plan(given: Mapping[str, Json]) -> AgentPlan:
    """Tools, calls and sub-agents."""
    return AgentPlan(
        tools=int(given.get("tools", 0)),
        parallel_calls=int(given.get("parallel_calls", 1)),
        agents=int(given.get("agents", 0)),
        agent_turns=int(given.get("agent_turns", 3)),
    )


def picture_plan(given: Mapping[str, Json]) -> PicturePlan:
    """Pictures and frames."""
    return PicturePlan(
        images=int(given.get("images", 1)),
        frames=int(given.get("frames", 0)),
        width=int(given.get("width", 512)),
        height=int(given.get("height", 512)),
        reuse=bool(given.get("reuse_images", False)),
    )
