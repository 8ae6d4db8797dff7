"""What each format knows is kept: values in base units, ranges, commit, machine, parameters."""

from datetime import UTC, datetime

import pytest
from import_words import AT, data_js, folder, taken, values

from perfd.domain.metric import Better
from perfd.domain.results import FORMAT
from perfd.domain.run import RunState
from perfd.importers import FORMATS
from perfd.importers.formats import MODULES
from perfd.importers.units import quantity


@pytest.mark.parametrize(
    ("unit", "metric", "factor", "better"),
    [
        ("ns/iter", "time_s", 1e-9, Better.LOWER),
        ("seconds", "time_s", 1.0, Better.LOWER),
        ("build-real-ns/op", "build_real_time_s", 1e-9, Better.LOWER),
        ("B/op", "size_bytes", 1.0, Better.LOWER),
        ("MB/s", "bytes_per_s", 1e6, Better.HIGHER),
        ("MiB/s", "bytes_per_s", 2.0**20, Better.HIGHER),
        ("iter/sec", "operations_per_s", 1.0, Better.HIGHER),
        ("tok/s", "tokens_per_s", 1.0, Better.HIGHER),
        ("Percent", "percent_lower_is_better", 1.0, Better.LOWER),
        ("", "value_lower_is_better", 1.0, Better.LOWER),
    ],
)
def test_units_become_base_units(unit: str, metric: str, factor: float, better: Better) -> None:
    found = quantity(unit)

    assert (metric, factor, better) == (found.metric, found.factor, found.better)


def test_a_way_that_the_file_names_is_part_of_an_unknown_metric() -> None:
    assert "percent_higher_is_better" == quantity("Percent", Better.HIGHER).metric


def test_data_js_keeps_commit_time_title_and_range() -> None:
    first = taken("github-action-benchmark", data_js(), subject="", revision="")[0]

    assert ("engine", f"{0:040x}", "Commit 0") == (first.identity.subject, first.identity.revision, first.identity.title)
    assert datetime(2026, 1, 1, tzinfo=UTC) == first.identity.committed_at
    assert {"time_s": (100.0 * 1e-9,)} == values(first)
    assert (95.0 * 1e-9, 105.0 * 1e-9) == pytest.approx(first.told["time_s"].interval)


def test_pytest_benchmark_keeps_raw_rounds_or_the_notch_of_their_median() -> None:
    stats = {"median": 2.0, "iqr": 0.4, "rounds": 100, "mean": 2.1}
    benchmarks = [
        {"name": "test_a", "fullname": "t.py::test_a", "params": {"n": 3}, "stats": {**stats, "data": [1.0, 2.0, 3.0]}},
        {"name": "test_b", "fullname": "t.py::test_b", "params": None, "stats": stats},
    ]
    machine = {"node": "box", "machine": "x86_64", "cpu": {"brand_raw": "EPYC"}, "system": "Linux", "release": "6.1"}
    commit = {"id": "f00", "time": "2026-01-02T03:04:05+01:00", "project": "engine", "branch": "dev"}
    document = {"machine_info": machine, "commit_info": commit, "datetime": "2026-01-03T00:00:00", "benchmarks": benchmarks}
    raw, told = taken("pytest-benchmark", document, subject="", revision="")

    assert {"time_s": (1.0, 2.0, 3.0)} == values(raw)
    assert {} == raw.told
    assert {"n": 3} == raw.identity.parameters
    assert ("f00", "dev", "engine") == (raw.identity.revision, raw.identity.branch, raw.identity.subject)
    assert (2.0 - 0.0628, 2.0 + 0.0628) == pytest.approx(told.told["time_s"].interval)
    assert raw.results.environment is not None
    assert ("box", "cpu:EPYC") == (raw.results.environment.device.host, raw.results.environment.device.device_class)


def test_google_benchmark_takes_repetitions_raw_and_leaves_their_aggregates() -> None:
    rows = [
        {
            "name": "f/8",
            "run_name": "f/8",
            "run_type": "iteration",
            "real_time": time,
            "cpu_time": 1.0,
            "time_unit": "us",
            "items_per_second": 5.0,
        }
        for time in (10.0, 12.0)
    ]
    aggregate = rows[0] | {"run_type": "aggregate", "aggregate_name": "mean", "real_time": 11.0}
    broken = {"name": "g", "run_type": "iteration", "error_occurred": True, "error_message": "no device"}
    document = {
        "context": {"date": "2026-01-02T00:00:00+00:00", "num_cpus": 4, "mhz_per_cpu": 2700},
        "benchmarks": [*rows, aggregate, broken],
    }
    good, bad = taken("google-benchmark", document)

    assert {
        "time_s": pytest.approx((1e-5, 1.2e-5)),
        "cpu_time_s": pytest.approx((1e-6, 1e-6)),
        "items_per_s": (5.0, 5.0),
    } == values(good)
    assert (RunState.FAILED, "no device") == (bad.results.state, bad.results.reason)


def test_google_benchmark_is_read_as_a_table() -> None:
    table = "Benchmark      Time     CPU   Iterations\n---\nf/8     215 ns   214 ns    3070566\nf/8_mean 215 ns 214 ns 3\n"

    assert [("f/8", {"time_s": pytest.approx((215e-9,)), "cpu_time_s": pytest.approx((214e-9,))})] == [
        (one.identity.workload, values(one)) for one in taken("google-benchmark", table)
    ]


def test_bencher_keeps_ends_that_hold_the_value() -> None:
    document = {
        "a": {"latency": {"value": 10.0, "lower_value": 9.0, "upper_value": 12.0}},
        "b": {"latency": {"value": 10.0, "lower_value": 3.0, "upper_value": 3.0}},
    }
    with_ends, deviation = taken("bencher", document)

    assert (9e-9, 12e-9) == pytest.approx(with_ends.told["time_s"].interval)
    assert {} == deviation.told


def test_hyperfine_keeps_every_run_and_a_command_that_failed() -> None:
    document = {
        "results": [
            {"command": "a", "mean": 1.5, "times": [1.0, 2.0], "exit_codes": [0, 0], "parameters": {"n": "3"}},
            {"command": "b", "mean": 1.0, "times": [1.0], "exit_codes": [7]},
        ]
    }
    good, bad = taken("hyperfine", document)

    assert ({"time_s": (1.0, 2.0)}, {"n": "3"}) == (values(good), good.identity.parameters)
    assert "the command ended with exit code 7 in 1 of its runs" == bad.results.reason


def test_go_text_takes_repeated_lines_raw_by_package() -> None:
    text = (
        "goos: linux\npkg: a/b\ncpu: EPYC\nBenchmarkX\n"
        "BenchmarkX-8   100   325 ns/op   16 B/op\nBenchmarkX-8   100   335 ns/op   16 B/op\nPASS\nok a/b 3.6s\n"
    )
    (one,) = taken("go", text)

    assert {"time_s": pytest.approx((325e-9, 335e-9)), "size_bytes": (16.0, 16.0)} == values(one)
    assert ("a/b.BenchmarkX", {"gomaxprocs": 8}) == (one.identity.workload, one.identity.parameters)


def test_asv_keeps_parameters_requirements_and_what_has_no_result() -> None:
    benchmarks = {
        "s.time_it": {"name": "s.time_it", "type": "time", "unit": "seconds", "param_names": ["n"], "params": [["1", "2"]]},
        "version": 2,
    }
    old = {
        "commit_hash": "c1",
        "date": 1389469815000,
        "requirements": {"numpy": "1.8"},
        "params": {},
        "results": {"s.time_it": {"result": [0.5, None]}},
    }
    new = {
        "commit_hash": "c2", "date": 1389569815000, "params": {},
        "result_columns": ["result", "params", "version", "stats_ci_99_a", "stats_ci_99_b", "samples"],
        "results": {"s.time_it": [[0.4, 0.6], [["1", "2"]], "v", [0.3, 0.5], [0.5, 0.7], [[0.4, 0.5], None]]},
    }  # fmt: skip
    made = folder(
        {
            "benchmarks.json": benchmarks,
            "box/machine.json": {"machine": "box", "cpu": "i7"},
            "box/c1.json": old,
            "box/c2.json": new,
        }
    )

    assert [({"n": "1"}, "done"), ({"n": "2"}, "failed"), ({"n": "1"}, "done"), ({"n": "2"}, "done")] == [
        (one.identity.parameters, one.results.state) for one in made
    ]
    assert ((0.4, 0.5), (0.5, 0.7)) == (values(made[2])["time_s"], made[3].told["time_s"].interval)
    assert made[0].results.environment is not None
    assert {"numpy": "1.8"} == made[0].results.environment.software


def test_vllm_keeps_raw_requests_where_they_are_and_statistics_where_not() -> None:
    document = {
        "date": "20260102-030405", "endpoint_type": "openai", "model_id": "m3", "num_prompts": 3,
        "request_rate": "inf", "max_concurrency": 8, "completed": 2,
        "request_throughput": 4.0, "output_throughput": 99.0, "median_ttft_ms": 20.0, "p99_ttft_ms": 40.0, "median_tpot_ms": 10.0,
        "ttfts": [0.02, 0.03, 9.0], "itls": [[0.01, 0.01], [0.02], []], "errors": ["", "", "timeout"],
    }  # fmt: skip
    (one,) = taken("vllm", document, subject="")

    expected = {
        "ttft_s": (0.02, 0.03),
        "chunk_gap_s": (0.01, 0.01, 0.02),
        "ttft_p99_s": (0.04,),
        "tpot_s": (0.01,),
        "requests_per_s": (4.0,),
        "output_tokens_per_s": (99.0,),
    }
    assert {name: pytest.approx(told) for name, told in expected.items()} == values(one)
    assert ("m3", {"rate_per_s": "inf", "concurrency": "8", "requests": "3"}) == (one.identity.model, one.identity.parameters)
    assert datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC) == one.results.started_at


def test_sglang_is_read_line_by_line_and_no_request_is_a_failure() -> None:
    line = '{"backend": "sglang", "dataset_name": "random", "request_rate": %s, '
    line += '"completed": %s, "median_ttft_ms": 5.0, "output_throughput": 7.0}\n'
    good, bad = taken("sglang", line % (4, 9) + line % (8, 0))

    assert {"ttft_s": (0.005,), "output_tokens_per_s": (7.0,)} == values(good)
    assert (RunState.FAILED, "no request completed") == (bad.results.state, bad.results.reason)


def test_guidellm_names_what_it_defines_otherwise_otherwise() -> None:
    statistics = {"successful": {"mean": 12.0, "median": 10.0, "count": 50, "percentiles": {"p99": 30.0}}}
    metrics = {"time_to_first_token_ms": statistics, "time_per_output_token_ms": statistics, "requests_per_second": statistics}
    (one,) = taken(
        "guidellm",
        {
            "benchmarks": [
                {"start_time": 1767225600.0, "config": {"strategy": {"type_": "constant", "rate": 4.0}}, "metrics": metrics}
            ]
        },
    )

    assert ("constant", {"rate": "4"}) == (one.identity.workload, one.identity.parameters)
    assert {
        "ttft_s": pytest.approx((0.01,)),
        "ttft_p99_s": pytest.approx((0.03,)),
        "e2e_per_token_s": pytest.approx((0.01,)),
        "e2e_per_token_p99_s": pytest.approx((0.03,)),
        "requests_per_s": (12.0,),
    } == values(one)


def test_aiperf_says_the_same_as_json_and_as_csv() -> None:
    document = {
        "time_to_first_token": {"unit": "ms", "avg": 21.0, "p50": 20.0, "p99": 40.0},
        "request_throughput": {"unit": "requests/sec", "avg": 3.5},
    }
    table = "Metric,avg,p50,p99\nTime to First Token (ms),21.0,20.0,40.0\n\nMetric,Value\nRequest Throughput (requests/sec),3.5\n"

    assert (
        {"ttft_s": (0.02,), "ttft_p99_s": (0.04,), "requests_per_s": (3.5,)}
        == values(taken("aiperf", document)[0])
        == values(taken("aiperf", table)[0])
    )


def test_lm_eval_keeps_standard_error_shots_and_filter() -> None:
    results = {
        "gsm8k": {"alias": "gsm8k", "exact_match,strict-match": 0.5, "exact_match_stderr,strict-match": 0.01},
        "wiki": {"word_perplexity,none": 9.0, "word_perplexity_stderr,none": "N/A"},
    }
    document = {
        "results": results,
        "n-shot": {"gsm8k": 5},
        "versions": {"gsm8k": 3},
        "n-samples": {"gsm8k": {"effective": 250}},
        "model_name": "m3",
        "date": 1767225600.5,
    }
    gsm8k, wiki = taken("lm-eval", document)

    assert {"shots": "5", "version": "3", "filter": "strict-match"} == gsm8k.identity.parameters
    assert (pytest.approx((0.4804, 0.5196)), 250) == (gsm8k.told["exact_match"].interval, gsm8k.told["exact_match"].n)
    assert [Better.LOWER] == [one.better for one in wiki.results.samples]


ROW = {"build_commit": "6c9a9a1", "cpu_info": "EPYC", "gpu_info": "", "model_filename": "w/m.gguf", "model_type": "m 1B",
    "n_prompt": 512, "n_gen": 0, "test_time": "2026-01-02T00:00:00Z", "avg_ts": 100.0, "stddev_ts": 1.0}  # fmt: skip


def test_llama_bench_says_the_same_as_json_csv_and_markdown() -> None:
    (document,) = taken("llama-bench", [ROW | {"samples_ts": [99.0, 101.0]}], subject="", revision="")
    (table,) = taken("llama-bench", ",".join(ROW) + "\n" + ",".join(f'"{value}"' for value in ROW.values()) + "\n", revision="")
    head = "| model | size | backend | threads | test | t/s |\n| --- | ---: | --- | ---: | ---: | ---: |\n"
    (page,) = taken(
        "llama-bench",
        head + "| m 1B | 1 GiB | CPU | 8 | pp512 | 100.00 ± 1.00 |\n\nbuild: 6c9a9a1 (4242)\n",
        revision="",
    )

    assert {"tokens_per_s": (99.0, 101.0)} == values(document)
    assert ["pp512"] * 3 == [one.identity.workload for one in (document, table, page)]
    assert ["6c9a9a1"] * 3 == [one.identity.revision for one in (document, table, page)]
    assert pytest.approx((98.76, 101.24), abs=0.01) == table.told["tokens_per_s"].interval == page.told["tokens_per_s"].interval


def test_results_without_a_date_are_of_the_moment_that_the_person_gives() -> None:
    (one,) = taken("hyperfine", {"results": [{"command": "a", "mean": 1.0, "times": [1.0]}]})

    assert (AT, False) == (one.results.started_at, one.dated)


def test_every_format_is_found_by_its_content() -> None:
    samples = {
        "github-action-benchmark": data_js(),
        "hyperfine": '{"results": [{"command": "a", "mean": 1.0, "times": [1.0]}]}',
        "llama-bench": "| model | test | t/s |\n| --- | --- | --- |\n| m | pp512 | 1.0 ± 0.1 |\n",
        "go": "BenchmarkX-8 100 325 ns/op\n",
        "aiperf": "Metric,avg\nRequest Latency (ms),3\n",
        "bencher": '{"a": {"latency": {"value": 1.0, "lower_value": 0.5, "upper_value": 2.0}}}',
        "sglang": '{"backend": "sglang", "completed": 1, "median_ttft_ms": 5.0}',
    }
    for name, text in samples.items():
        assert [one.key for one in taken(name, text)] == [one.key for one in taken("auto", text)], name


def test_every_format_of_the_contract_is_read() -> None:
    assert {
        FORMAT,
        "pytest-benchmark",
        "google-benchmark",
        "asv",
        "github-action-benchmark",
        "bencher",
        "hyperfine",
        "go",
        "vllm",
        "sglang",
        "guidellm",
        "aiperf",
        "lm-eval",
        "llama-bench",
    } == set(FORMATS)
    assert len(FORMATS) == len(MODULES) + 1
