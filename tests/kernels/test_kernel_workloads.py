import json
from collections.abc import Callable
from pathlib import Path

import pytest

from perfd.bench.kernels import device_class, kernel_workloads
from perfd.bench.kernels import op as ops
from perfd.domain.codec import from_json, to_json
from perfd.domain.suite import Workload, WorkloadClass
from perfd.errors import BadInputError

H200 = "gpu:NVIDIA H200"


@pytest.mark.parametrize("op", ["add_rms_norm", "paged_decode"])
def test_an_op_is_compiled_and_checked_without_a_gpu(op: str, shapes: Path) -> None:
    names = [one.name for one in kernel_workloads(op, shapes)]

    assert names == [
        f"{op}/static/sm_80",
        f"{op}/static/sm_90",
        f"{op}/static/sm_100",
        f"{op}/values/float32",
        f"{op}/values/bfloat16",
    ]


def test_a_gpu_adds_times_and_changes_nothing_else(shapes: Path) -> None:
    without, with_gpu = kernel_workloads("paged_decode", shapes), kernel_workloads("paged_decode", shapes, gpu=H200)

    assert with_gpu[: len(without)] == without
    assert {device_class(one, H200) for one in with_gpu[len(without) :]} == {H200}
    assert all(one.workload_class is WorkloadClass.KERNEL and one.question.endswith("?") for one in with_gpu)


def test_counts_and_values_belong_to_no_machine(shapes: Path) -> None:
    classes = [device_class(one) for one in kernel_workloads("add_rms_norm", shapes)]

    assert classes == ["sm_80 (compiled)", "sm_90 (compiled)", "sm_100 (compiled)", "triton interpreter", "triton interpreter"]


def test_a_time_has_no_device_class_without_a_gpu(workload: Callable[[str], Workload]) -> None:
    with pytest.raises(BadInputError, match="is timed on a GPU, and this machine has none"):
        device_class(workload("add_rms_norm/timing/t1_h6144"))


def test_identities_differ_and_survive_json(shapes: Path) -> None:
    planned = [one for op in ("add_rms_norm", "paged_decode") for one in kernel_workloads(op, shapes, gpu=H200)]

    assert len({one.identity for one in planned}) == len(planned)
    assert [from_json(Workload, json.loads(json.dumps(to_json(one)))) for one in planned] == planned


def test_an_op_without_sizes_is_compiled_and_nothing_else(shapes: Path) -> None:
    kinds = {one.parameters["kind"] for one in kernel_workloads("unknown_to_shapes", shapes, gpu=H200)}

    assert kinds == {"static"}


def test_a_missing_file_of_sizes_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="the sizes to measure kernels at are not there; run perfd where suites/ is"):
        kernel_workloads("add_rms_norm", tmp_path / "shapes.py")


def test_every_op_of_the_folder_has_sizes(kernels: Path, shapes: Path) -> None:
    for op in ops.names(kernels):
        assert {one.parameters["kind"] for one in kernel_workloads(op, shapes, gpu=H200)} == {"static", "values", "timing"}


def test_a_missing_op_is_told_with_what_is_there(kernels: Path) -> None:
    with pytest.raises(BadInputError, match=r"there is no such kernel; .*kernels has add_rms_norm, paged_decode"):
        ops.load(kernels, "softmax")
