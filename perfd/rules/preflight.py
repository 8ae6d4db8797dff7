"""Whether a Run may begin on a device now: one that is busy or hot would give a number about its neighbour or its fan."""

from collections.abc import Mapping

from perfd.config import DeviceConfig
from perfd.domain.identity import Json


def why_refused(facts: Mapping[str, Json], limits: DeviceConfig) -> str:
    """One sentence with its remedy when no Run may begin; "" when one may. What the device does not tell is no reason."""
    heat = facts.get("gpu_temperature_c", facts.get("temperature_c"))
    if heat is not None and limits.hottest_c and heat > limits.hottest_c:
        return (
            f"it has {heat:g} °C and may have {limits.hottest_c:g} before a Run; let it cool and look after its airflow, "
            "or raise hottest_c"
        )
    others = facts.get("other_gpu_processes")
    if others is not None and others > limits.neighbours:
        return (
            f"{others} foreign process{'' if others == 1 else 'es'} on it, and {limits.neighbours} may be; "
            "end them (nvidia-smi lists them), or raise neighbours"
        )
    busy = facts.get("gpu_busy_percent")
    if busy is not None and limits.busiest_percent and busy > limits.busiest_percent:
        return (
            f"it is busy for {busy:g} % of the time and may be for {limits.busiest_percent:g}, though perfd measures nothing; "
            "end what uses it, or raise busiest_percent"
        )
    cores = facts.get("other_busy_cores")
    if cores is not None and limits.busiest_cores and cores > limits.busiest_cores:
        return (
            f"others use {cores:.1f} cores and may use {limits.busiest_cores:g}; `perfd doctor` names the heaviest processes: "
            "end them, or raise busiest_cores"
        )
    return ""
