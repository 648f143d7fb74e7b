"""The `numbridge` command itself: quick, quiet, and one line for every mistake."""

import json
import subprocess
import sys

import pytest

from numbridge.cli import main as cli
from numbridge.cli.errors import CheckFailed, UsageError

LIGHT = (
    "import sys, json\n"
    "sys.argv = ['numbridge', *json.loads(sys.argv[1])]\n"
    "from numbridge.cli.main import main\n"
    "try:\n    main()\n"
    "except SystemExit as end:\n    code = end.code\n"
    "print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)\n"
)
HEAVY = {"grpc", "aiohttp", "nats", "redis", "sqlalchemy", "uvloop", "msgspec", "structlog", "email", "jwt", "asyncio"}


def modules_after(*argv: str) -> tuple[int, set[str]]:
    """Exit code and the modules that a fresh interpreter has imported by the end."""
    done = subprocess.run(
        [sys.executable, "-c", LIGHT, json.dumps(argv)], capture_output=True, text=True, check=True, timeout=60
    )
    code, names = json.loads(done.stderr.splitlines()[-1])
    return code, set(names)


def test_help_imports_nothing_that_costs_time() -> None:
    code, names = modules_after("--help")
    assert code == 0
    assert not names & HEAVY
    assert not {name for name in names if name.startswith("numbridge.")} - {
        "numbridge.cli",
        "numbridge.cli.main",
        "numbridge.cli.errors",
    }


@pytest.mark.parametrize("command", ["lobby", "table", "ratings", "gateway", "status", "drain", "token"])
def test_help_of_a_command_imports_no_client_library(command: str) -> None:
    code, names = modules_after(command, "--help")
    assert code == 0
    assert not names & {"grpc", "aiohttp", "nats", "redis", "sqlalchemy", "jwt"}


def test_help_names_every_command_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(["--help"])
    assert end.value.code == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines() if line.startswith("    ")]
    assert listed == list(cli.COMMANDS)


@pytest.mark.parametrize("command", list(cli.COMMANDS))
def test_each_command_has_a_module_with_a_parser_of_that_name(command: str) -> None:
    parser = cli.build_parser(command)
    with pytest.raises(SystemExit) as end:
        parser.parse_args([command, "--help"])
    assert end.value.code == 0


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["nonsense"],
        ["up", "--port", "70000"],
        ["up", "--port", "x"],
        ["up", "--workers", "0"],
        ["up", "--bots", "-1"],
        ["up", "--nonsense"],
        ["token"],
        ["drain"],
        ["ratings", "nonsense"],
        ["status", "extra"],
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(argv)
    assert end.value.code == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("numbridge")
    assert said.err.count("\n") == 1


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        (UsageError("no such file"), 2, "numbridge: no such file\n"),
        (CheckFailed("it does not add up"), 1, "numbridge: it does not add up\n"),
        (PermissionError(13, "Permission denied", "x.json"), 1, "numbridge: Permission denied: x.json\n"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_every_end_is_an_exit_code_without_a_trace(
    raised: BaseException, code: int, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_argv: object) -> int:
        raise raised

    monkeypatch.setattr(cli, "_dispatch", fail)
    with pytest.raises(SystemExit) as end:
        cli.main(["status"])
    assert end.value.code == code
    assert capsys.readouterr().err == said


def test_a_closed_pipe_ends_it_quietly() -> None:
    loop = (
        "from numbridge.cli import main as cli\n"
        "def talk(argv):\n"
        "    while True:\n"
        "        print('x' * 1000)\n"
        "cli._dispatch = talk\n"
        "cli.main([])\n"
    )
    talker = subprocess.Popen([sys.executable, "-c", loop], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert talker.stdout is not None
    assert talker.stderr is not None
    talker.stdout.read(10)
    talker.stdout.close()
    said = talker.stderr.read()
    talker.stderr.close()
    assert talker.wait(30) == 141
    assert said == b""
