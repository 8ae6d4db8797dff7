"""plan: everything that a watched occasion owes stands in the database, Builds and Runs."""

from collections.abc import Sequence
from dataclasses import replace

from perfd import builders, suites
from perfd.bench import kernels
from perfd.config import Config
from perfd.domain.model import Model
from perfd.domain.occasion import Finding, Occasion, OccasionState
from perfd.domain.plan import PlannedBuild
from perfd.domain.run import OccasionKind
from perfd.domain.subject import Engine, Revision
from perfd.domain.suite import Suite, Workload
from perfd.errors import BadInputError, PerfdError
from perfd.rules.plan import Candidate, nightly_workloads, owed
from perfd.stages.context import Context
from perfd.stages.device import device_class, gpu_class
from perfd.stages.launching import begin, scope_of
from perfd.stages.subjects import Chosen, chosen, wanted


def plan(context: Context) -> bool:
    """One watched occasion is planned; a subject that cannot be planned is a finding, and the rest goes on."""
    occasion = context.store.occasions.in_state(OccasionState.WATCHED)
    if occasion is None:
        return False
    if occasion.kind is OccasionKind.CHECKPOINT:
        begin(context, occasion)
    found = [_candidate(context, occasion, subject) for subject in chosen(context.config, occasion)]
    work = owed([candidate for candidate in found if candidate is not None])
    gone = {one.spec.digest for one in work.builds if not builders.is_whole(one.spec, context.config.state)}
    context.store.plans.write(occasion, work, gone, context.now())
    context.tell.say("plan", f"{len(work.builds)} builds and {len(work.runs)} runs are owed")
    return True


def _cancel_overtaken(context: Context) -> None:
    """A night that the next one has overtaken measures nothing more: its Builds are no longer what anybody asks about."""
    for name, runs in context.store.cancelling.overtaken(context.now()).items():
        context.tell.say("plan", f"{name} was overtaken by the next night; {runs} runs are cancelled")


def _candidate(context: Context, occasion: Occasion, subject: Chosen) -> Candidate | None:
    revision = context.store.subjects.latest(subject.name, subject.source.branch)
    if revision is None:
        return None  # watch has said why
    try:
        if occasion.kind is not OccasionKind.CHECKPOINT:
            return candidate(context, subject, revision, wanted(occasion).suites)
        scope = scope_of(context, occasion)
        return replace(candidate(context, subject, revision, scope.suites), models=(scope.model,))
    except PerfdError as error:
        context.store.occasions.note(occasion, Finding("plan", subject.name, error.message), context.now())
        context.tell.say("plan", f"{subject.name}: {error.message}")
        return None


def candidate(context: Context, subject: Chosen, revision: Revision, suites_named: Sequence[str] = ()) -> Candidate:
    """The Build of a subject at a Revision, with what a night measures on it, or with all of the suites that are named."""
    spec = builders.describe(subject.name, subject.source, revision, subject.recipe, subject.options, context.config.state)
    build = PlannedBuild(spec, subject.kind, revision, subject.source.branch)
    if subject.engine is None:
        return Candidate(build, _kernel_workloads(context, subject.name))
    here = device_class(context.config)
    workloads = engine_workloads(context, subject.engine, suites_named)
    return Candidate(build, tuple((workload, here) for workload in workloads), engine_models(context, subject.engine))


def _kernel_workloads(context: Context, op: str) -> tuple[tuple[Workload, str], ...]:
    gpu = gpu_class(context.config)
    shapes = context.config.suites_folder / "kernels" / "shapes.py"
    return tuple((workload, kernels.device_class(workload, gpu)) for workload in kernels.kernel_workloads(op, shapes, gpu=gpu))


def engine_workloads(context: Context, engine: Engine, named: Sequence[str] = ()) -> tuple[Workload, ...]:
    """What a night measures on an Engine, or all of the `named` suites; raises BadInputError for a suite that does not exist."""
    if named:
        return tuple(workload for name in named for workload in suite_of(context.config, name).workloads)
    own = suites.suites_for(engine.name, context.config.suites_folder)
    return nightly_workloads(suite_of(context.config, name) for name in dict.fromkeys((*engine.suites, *own)))


def engine_models(context: Context, engine: Engine) -> tuple[Model, ...]:
    """The Models that an Engine serves, announced ones left out; the configuration's reader has made sure that they exist."""
    return tuple(one for one in context.config.models if one.name in engine.models and not one.is_announced)


def suite_of(config: Config, name: str) -> Suite:
    """The suite of that name; raises BadInputError where there is none."""
    path = config.suites_folder / f"{name}.toml"
    if not path.exists():
        raise BadInputError(f"there is no suite {name!r}: expected {path}; name another in perfd.toml, or write that file")
    return suites.load_suite(path)
