import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from perfd.config import Config, load_config
from perfd.config.lines import lines_of
from perfd.config.reader import default_text
from perfd.domain.subject import SourceKind
from perfd.errors import BadInputError

ROOT = Path(__file__).parents[1]
TRICKY = Path(__file__).with_name("tricky.toml")
ENGINE = """
[[engines]]
name = "tiny"
recipe = "script"
source = { kind = "git", location = "tiny" }
models = ["smollm2-135m-instruct"]
suites = ["latency"]
launch = { command = ["{python}", "{artifact}/tiny.py", "--port", "{port}"] }
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def load(text: str, **environ: str) -> Config:
    Path("perfd.toml").write_text(text, encoding="utf-8")
    return load_config(None, environ)


def mistakes(text: str) -> list[str]:
    """What load_config says about the file, one mistake an item."""
    with pytest.raises(BadInputError) as raised:
        load(text)
    assert 3 == raised.value.exit_code
    return raised.value.message.split("\n")


def test_without_a_file_the_defaults_serve(folder: Path) -> None:
    config = load_config(None, {})

    assert ["llamacpp", "llamacpp-source"] == [engine.name for engine in config.engines]
    assert [True, False] == [engine.nightly for engine in config.engines]
    assert folder / ".perfd" == config.state
    assert config.path is None
    assert config.database_url is None
    assert (1,) == tuple(device.threads for device in config.devices)
    assert 64 == len(config.models[0].sha256)


def test_the_default_file_reads_itself_without_a_mistake(folder: Path) -> None:
    assert load_config(None, {}).engines == load(default_text()).engines
    assert folder / "perfd.toml" == load(default_text()).path.absolute()


def test_an_empty_file_is_the_defaults() -> None:
    assert load_config(None, {}).engines == load("").engines


def test_a_section_of_the_file_replaces_the_default_one() -> None:
    config = load('[schedule]\nnightly = "03:30"\n' + ENGINE)

    assert ("03:30", "UTC") == (config.schedule.nightly, config.schedule.timezone)
    assert ["tiny"] == [engine.name for engine in config.engines]
    assert ["smollm2-135m-instruct"] == [model.name for model in config.models]


def test_an_engine_is_one_stanza(folder: Path) -> None:
    (engine,) = load(ENGINE + "\n[engines.recipe_options]\n").engines

    assert SourceKind.GIT == engine.source.kind
    assert str(folder / "tiny") == engine.source.location
    assert ("openai", "/health", 60.0) == (engine.launch.dialect, engine.launch.ready_path, engine.launch.ready_timeout_s)


@pytest.mark.parametrize(
    "location", ["https://example.org/engine.git", "git@example.org:team/engine.git", "ssh://example.org/engine"]
)
def test_the_address_of_a_repository_stays_as_it_is(location: str) -> None:
    (engine,) = load(ENGINE.replace('"tiny" }', f'"{location}" }}')).engines

    assert location == engine.source.location


def test_paths_are_read_from_the_folder_of_the_file(folder: Path) -> None:
    (folder / "sub" / "suites").mkdir(parents=True)
    (folder / "sub" / "suites" / "latency.toml").touch()
    (folder / "sub" / "perfd.toml").write_text(ENGINE)

    config = load_config(Path("sub/perfd.toml"), {})

    assert folder / "sub" / "suites" == config.suites_folder
    assert str(folder / "sub" / "tiny") == config.engines[0].source.location


def test_the_environment_says_where_state_and_database_are(folder: Path) -> None:
    config = load("", PERFD_STATE="elsewhere", PERFD_DATABASE_URL="postgresql://me:hidden@db/perfd")

    assert folder / "elsewhere" == config.state
    assert "postgresql://me:hidden@db/perfd" == config.database_url
    assert "hidden" not in repr(config)


def test_a_database_that_is_no_postgres_is_refused_without_repeating_its_password() -> None:
    with pytest.raises(BadInputError, match="PERFD_DATABASE_URL must be the address of a Postgres") as raised:
        load("", PERFD_DATABASE_URL="mysql://me:hidden@db/perfd")

    assert "hidden" not in raised.value.message


def test_every_mistake_is_told_at_once_in_the_order_of_the_file() -> None:
    told = mistakes("""[schedule]
nightly = "25:00"
timezone = "Europe/Zurch"

[kernals]
enabled = true

[[devices]]
name = "cpu"
threads = 0

[[engines]]
name = "tiny"
recipe = "relased"
nightly = "yes"
source = { kind = "got", location = "x" }
models = ["smollm2-135m-instruct",
          "smollm2"]
suites = []
launch.command = ["tiny", "{prot}"]
launch.dialect = "openai"
""")

    assert [
        'perfd.toml:2: schedule.nightly must be a time of day such as "02:00", not "25:00"',
        'perfd.toml:3: schedule.timezone "Europe/Zurch" is no time zone; did you mean "Europe/Zurich"?',
        'perfd.toml:5: unknown key "kernals" in the file; did you mean "kernels"?',
        "perfd.toml:10: devices.threads must be at least 1 and finite, not 0",
        'perfd.toml:14: engines.recipe cannot be "relased"; did you mean "released"?',
        'perfd.toml:15: engines.nightly must be true or false, not "yes"',
        'perfd.toml:16: engines.source.kind cannot be "got"; did you mean "git"?',
        'perfd.toml:18: engine "tiny" serves the model "smollm2", which is not there; did you mean "smollm2-135m-instruct"?',
        "perfd.toml:19: engines.suites is empty; name at least one",
        "perfd.toml:20: engines.launch.command must hand {port} to the server, or perfd cannot find it",
        'perfd.toml:20: unknown placeholder {prot} in engines.launch.command; did you mean "{port}"?',
    ] == told


def test_what_is_missing_is_told_once_with_the_line_of_its_stanza() -> None:
    told = mistakes(
        '# none\n[[engines]]\nname = "tiny"\nrecipe = "script"\nmodels = ["smollm2-135m-instruct"]\nsuites = ["latency"]'
    )

    assert [f'perfd.toml:2: [engines] "tiny" needs "{key}" (a table)' for key in ("launch", "source")] == told


@pytest.mark.parametrize("location", ["--index-url=x", "https://example.org/x", "a b", "package==1.0"])
def test_what_is_no_package_is_refused_as_one(location: str) -> None:
    told = mistakes(ENGINE.replace('kind = "git", location = "tiny"', f'kind = "index", location = "{location}"'))

    assert f'perfd.toml:5: engines.source.location must be the name of a package, not "{location}"' in told


def test_two_engines_of_one_name_are_told_with_the_first_one() -> None:
    told = mistakes(ENGINE + ENGINE)

    assert ['perfd.toml:11: [[engines]] "tiny" is there twice, first on line 2; give it another name'] == told


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('[database]\npassword = "x"', "set PERFD_DATABASE_URL in the environment instead"),
        ('database_url = "postgresql://x"', "set PERFD_DATABASE_URL in the environment instead"),
        ('[github]\nwebhook_secret = "x"', "set PERFD_GITHUB_WEBHOOK_SECRET in the environment instead"),
        ('[github]\nprivate_key = "x"', "set PERFD_GITHUB_PRIVATE_KEY_FILE in the environment instead"),
        (
            ENGINE.rstrip().replace("launch = {", 'launch = { environment = { HF_TOKEN = "x" },'),
            "export HF_TOKEN where perfd is started instead",
        ),
    ],
)
def test_a_secret_is_refused_with_the_variable_that_takes_its_place(text: str, sentence: str) -> None:
    told = [one for one in mistakes(text) if "looks like a secret" in one]

    assert 1 == len(told)
    assert told[0].endswith(sentence)
    assert f"perfd.toml:{len(text.splitlines())}:" in told[0]


def test_a_word_that_only_contains_token_is_no_secret() -> None:
    text = ENGINE.replace("launch = {", "launch = { environment = { TOKENIZERS_PARALLELISM = false, MAX_TOKENS = 3 },")
    (engine,) = load(text).engines

    assert {"TOKENIZERS_PARALLELISM": "false", "MAX_TOKENS": "3"} == engine.launch.environment


def test_a_number_of_tokens_is_no_secret_and_a_token_that_is_none_is() -> None:
    counted = "TINY_FIRST_TOKEN_S = 0.05, EOS_TOKEN_ID = '2'"
    hidden = "HF_TOKEN = 5, HF_TOKEN_2 = 'hf_x', TOKEN_1 = '12345678901234', TOKEN_SECRET_1 = 1"
    whole = ENGINE.replace("launch = {", f"launch = {{ environment = {{ {counted} }},")

    (engine,) = load(whole).engines
    told = mistakes(ENGINE.replace("launch = {", f"launch = {{ environment = {{ {hidden} }},"))

    assert {"TINY_FIRST_TOKEN_S": "0.05", "EOS_TOKEN_ID": "2"} == engine.launch.environment
    assert 4 == sum("looks like a secret" in one for one in told)


def test_an_address_with_a_password_is_a_secret() -> None:
    (told,) = mistakes(ENGINE.replace('"tiny" }', '"https://me:hidden@example.org/x.git" }'))

    assert "carries a user or password" in told
    assert "hidden" not in told


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[schedule]\nnightly = 02:00", "perfd.toml:2:"),
        ('[schedule]\n\nnightly = "02:00', "perfd.toml:3:"),
        ("[schedule", "perfd.toml:1:10: no valid TOML"),
        ("a = 1\na = 2", "perfd.toml:2:"),
    ],
)
def test_a_syntax_error_is_told_with_line_and_column(text: str, sentence: str) -> None:
    (told,) = mistakes(text)

    assert told.startswith(sentence)
    assert re.match(r"perfd.toml:\d+:\d+: no valid TOML: ", told)


def test_a_file_that_is_not_there_is_one_sentence() -> None:
    with pytest.raises(BadInputError, match=r"nowhere.toml: there is no such file"):
        load_config(Path("nowhere.toml"), {})


def test_a_file_that_is_no_text_is_one_sentence(folder: Path) -> None:
    (folder / "perfd.toml").write_bytes(b"name = '\xff'")

    with pytest.raises(BadInputError, match=r"perfd.toml: byte 8 is no UTF-8"):
        load_config(None, {})


def test_a_file_that_is_much_too_long_or_too_deep_is_one_sentence(folder: Path) -> None:
    for text, told in (
        ("#" * 1_000_001, "has more than 1,000,000 bytes"),
        ("a = " + "[" * 5000 + "]" * 5000, "nested too deeply"),
    ):
        (folder / "perfd.toml").write_text(text, encoding="utf-8")
        with pytest.raises(BadInputError, match=told):
            load_config(None, {})


def test_weights_are_read_from_the_folder_of_the_file(folder: Path) -> None:
    text = '[[models]]\nname = "smollm2-135m-instruct"\nfile = "w.gguf"\nsha256 = "%s"\nquantisation = "q"\nlicence = "l"\n' % (
        "0" * 64
    )
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere" / "perfd.toml").write_text(text, encoding="utf-8")

    assert str(folder / "elsewhere" / "w.gguf") == load_config(folder / "elsewhere" / "perfd.toml", {}).models[0].file


def test_a_folder_is_no_file(folder: Path) -> None:
    with pytest.raises(BadInputError, match="cannot be read"):
        load_config(folder, {})


@pytest.mark.parametrize("section", ["engines", "models", "devices"])
@pytest.mark.parametrize("written", ["{} = 3", "[{}]\nname = 'x'", "{} = ['x']"])
def test_a_section_of_the_wrong_shape_is_told(section: str, written: str) -> None:
    told = mistakes(written.format(section))

    assert f"perfd.toml:1: {section} must be tables, each under a line [[{section}]]" in told


def test_models_without_the_default_one_are_told_for_the_default_engines() -> None:
    told = mistakes("""[[models]]
name = "mine"
file = "/weights.gguf"
sha256 = "xyz"
quantisation = "Q8_0"
licence = "MIT"
""")

    assert "perfd.toml:4: models.sha256 must be 64 hexadecimal digits in small letters; `sha256sum FILE` prints them" in told
    assert any("the default engine" in one and one.startswith("perfd.toml:1:") for one in told)


def test_suites_that_do_not_exist_are_told(folder: Path) -> None:
    (folder / "suites").mkdir()
    (folder / "suites" / "throughput.toml").touch()

    (told,) = mistakes(ENGINE)

    assert 'engine "tiny" runs the suite "latency", which is not there; there is throughput' in told


def test_an_engine_cannot_have_the_name_of_a_kernel(folder: Path) -> None:
    (folder / "kernels").mkdir()
    (folder / "kernels" / "tiny.py").touch()

    assert ['perfd.toml:3: engine "tiny" has the name of a kernel; give it another'] == mistakes(ENGINE)


@pytest.mark.parametrize("value", ["nan", "inf", "-1", "true", "'60'"])
def test_a_time_limit_that_is_none_is_told(value: str) -> None:
    (told,) = mistakes(ENGINE.replace("launch = {", f"launch = {{ ready_timeout_s = {value},"))

    assert "perfd.toml:8: engines.launch.ready_timeout_s must be" in told


def test_every_stanza_in_the_documentation_of_engines_is_read_without_a_mistake() -> None:
    stanzas = re.findall(r"```toml\n(.*?)```", (ROOT / "docs" / "engines.md").read_text(encoding="utf-8"), re.DOTALL)

    assert 3 == len(stanzas)
    assert 3 == len(load("\n".join(stanzas)).engines)


def places(value: Any, here: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*here, key)
        yield from places(item, (*here, key))


def test_the_locator_finds_every_key_table_and_item_on_its_line() -> None:
    document = TRICKY.read_text(encoding="utf-8")
    lines = lines_of(document)
    text = document.split("\n")

    assert set(places(tomllib.loads(document))) == set(lines)
    for place, needle in {
        ("quoted key",): '"quoted key" = 1',
        ("escaped",): "ped",
        ("a", "b", "c.d"): "a.b",
        ("many", 3, 1): "3], {",
        ("many", 4, "deep", "deeper", 1): "5 ]",
        ("ends",): "ends =",
        ("table", "with space", "key"): "key = {}",
        ("list", 0, "nested", 1): "[[list.nested]]",
        ("list", 1, "inner", "two"): "two = 22",
    }.items():
        assert needle in text[lines[place] - 1]
    assert lines["list", 0, "nested", 0] < lines["list", 0, "nested", 1] < lines["list", 1] < lines["list", 1, "nested", 0]


@pytest.mark.parametrize("path", [ROOT / "pyproject.toml", *sorted((ROOT / "suites").glob("*.toml"))], ids=lambda path: path.name)
def test_the_locator_agrees_with_tomllib_on_our_own_files(path: Path) -> None:
    text = path.read_text(encoding="utf-8")

    assert set(places(tomllib.loads(text))) == set(lines_of(text))


def test_line_ends_of_another_system_count_as_one_line() -> None:
    assert {("a",): 1, ("b",): 3} == dict(lines_of("a = 1\r\n\r\nb = '''x\r\ny'''\r\n"))
