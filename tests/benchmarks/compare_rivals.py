"""What inference-doctor and benchmatrix decide on given pairs. Runs under the Python of *their* environment, JSON in and out.

stdin: {"tool", "threshold" (per cent), "comparisons": [[[base …], [head …], [stratum …]], …]}; stdout: a list of "slower",
"faster", "same" or "unsure". inference-doctor: `decide_regression` at its 90 % default. benchmatrix: its paired BCa interval of
the ratio of medians at its 95 % default, stratified by order, and its own classification; 1,000 resamples instead of 50,000,
because thousands of comparisons are judged here.
"""

import json
import sys

RESAMPLES = 1000


def doctor(base, head, _strata, threshold):  # noqa: ANN001, ANN201 -- this file runs without our types
    from inference_doctor.quality import QualityThresholds, decide_regression

    limits = QualityThresholds(regression_percent=threshold)
    status = decide_regression(base, head, lower_is_better=True, thresholds=limits).status
    return {"FAIL": "slower", "PASS": "same", "INCONCLUSIVE": "unsure"}[status]


def matrix(base, head, strata, threshold):  # noqa: ANN001, ANN201 -- as above
    from benchmatrix.bench_statistics import bootstrap_paired_median_ratio_interval

    found = bootstrap_paired_median_ratio_interval(
        base, head, lower_is_better=True, confidence_level=0.95, resamples=RESAMPLES, random_seed=0, strata=strata
    )
    if found.low is None or found.high is None:
        return "unsure"
    if found.high < -threshold:
        return "slower"
    if found.low > threshold:
        return "faster"
    return "same" if found.low >= -threshold and found.high <= threshold else "unsure"


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    judge = {"inference-doctor": doctor, "benchmatrix": matrix}[asked["tool"]]
    json.dump([judge(*comparison, asked["threshold"]) for comparison in asked["comparisons"]], sys.stdout)
