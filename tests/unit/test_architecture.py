"""The shape of the code: who may import whom, what pure means, and what is nowhere to be found.

Each rule lists every place that breaks it.
"""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SERVICES = ("gateway", "lobby", "tablesvc", "ratings")
PACKAGES = ("numbridge", *SERVICES)
PURE = ("tablesvc/engine", "tablesvc/dealing", "lobby/matching", "ratings/model", "gateway/session")
GENERATED = "numbridge/v1/"

# What a pure core may use of the standard library: nothing that waits, listens, logs, looks at a clock or rolls dice.
PURE_STDLIB = frozenset(
    {
        "abc", "array", "base64", "bisect", "collections", "copy", "dataclasses", "enum", "fractions", "functools",
        "hashlib", "heapq", "itertools", "json", "math", "operator", "re", "statistics", "string", "struct", "types",
        "typing", "unicodedata",
    }
)  # fmt: skip
# Structs and their JSON, nothing else: quicker than dataclasses where every move makes some.
PURE_LIBRARIES = frozenset({"msgspec"})
# What of the shared package is pure itself.
PURE_SHARED = ("numbridge.ids", "numbridge.wire")
# Deals are made of the engine's cells and blocks, and their dice are seeded: the same on every machine.
PURE_EXTRA = {"tablesvc/dealing": ("tablesvc.engine", "random.Random")}

# The command line may reach into the pure cores; services it only starts.
CLI_MAY_IMPORT = ("tablesvc.engine", "tablesvc.dealing")

CLIENT_LIBRARIES = frozenset({"nats", "redis", "grpc", "sqlalchemy", "aiohttp", "psycopg", "aiosqlite", "jwt"})
MAX_LINES = 400
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def listed(broken: list[str]) -> str:
    """One place a line."""
    return "\n".join(["", *broken])


def names_of(path: Path) -> str:
    """The path as the rules write it."""
    return path.relative_to(ROOT).as_posix()


def sources(*folders: str) -> list[Path]:
    """Hand-written Python files."""
    found = sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return [path for path in found if not names_of(path).startswith(GENERATED)]


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


@cache
def imports_of(path: Path) -> frozenset[tuple[int, str]]:
    """Line and full name of everything a file imports, wherever it stands."""
    found = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            found |= {(node.lineno, alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = path.relative_to(ROOT).parent.parts[
                    : len(path.relative_to(ROOT).parent.parts) - node.level + 1
                ]
                base = ".".join((*package, base)).rstrip(".")
            found |= {(node.lineno, f"{base}.{alias.name}") for alias in node.names}
    return frozenset(found)


def within(name: str, *packages: str) -> bool:
    """Whether a dotted name is one of the packages or inside of one."""
    return any(name == package or name.startswith(package + ".") for package in packages)


def top(name: str) -> str:
    return name.split(".", 1)[0]


def calls(tree: ast.AST) -> Iterator[tuple[ast.Call, str]]:
    """Every call with the last part of what is called."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute):
                yield node, node.func.attr
            elif isinstance(node.func, ast.Name):
                yield node, node.func.id


def test_the_shared_package_knows_no_service() -> None:
    broken = []
    for path in sources("numbridge"):
        allowed = CLI_MAY_IMPORT if names_of(path).startswith("numbridge/cli/") else ()
        broken += [
            f"{names_of(path)}:{line} imports {name}"
            for line, name in imports_of(path)
            if top(name) in SERVICES and not within(name, *allowed)
        ]
    assert not broken, listed(broken)


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_imports_no_other_and_nothing_of_the_command_line(service: str) -> None:
    others = set(SERVICES) - {service}
    broken = [
        f"{names_of(path)}:{line} imports {name}"
        for path in sources(service)
        for line, name in imports_of(path)
        if top(name) in others or within(name, "numbridge.cli", "numbridge.bots", "tests")
    ]
    assert not broken, listed(broken)


@pytest.mark.parametrize("core", PURE)
def test_a_pure_core_imports_nothing_that_waits_listens_logs_or_rolls_dice(core: str) -> None:
    allowed = (core.replace("/", "."), *PURE_SHARED, *PURE_EXTRA.get(core, ()))
    assert sources(core), f"{core} is not there"
    broken = [
        f"{names_of(path)}:{line} imports {name}"
        for path in sources(core)
        for line, name in imports_of(path)
        if not within(name, *allowed) and top(name) not in PURE_STDLIB | PURE_LIBRARIES
    ]
    assert not broken, listed(broken)


def test_the_shared_modules_of_the_pure_cores_are_pure_too() -> None:
    allowed = (*PURE_SHARED, "numbridge.errors", "secrets")  # ids are made at random, by whoever calls for one
    broken = [
        f"{shared} imports {name}"
        for shared in PURE_SHARED
        for _, name in imports_of(ROOT / f"{shared.replace('.', '/')}.py")
        if not within(name, *allowed) and top(name) not in PURE_STDLIB | PURE_LIBRARIES
    ]
    assert broken == []


def test_a_pure_core_awaits_nothing() -> None:
    broken = [
        f"{names_of(path)}:{node.lineno}"
        for core in PURE
        for path in sources(core)
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.AsyncFunctionDef | ast.Await | ast.AsyncFor | ast.AsyncWith)
    ]
    assert not broken, listed(broken)


def test_an_adapter_holds_one_client_library() -> None:
    broken = []
    adapters = [path for service in SERVICES for path in sources(f"{service}/adapters")]
    assert adapters
    for path in adapters:
        used = {top(name) for _, name in imports_of(path)} & CLIENT_LIBRARIES
        if len(used) > 1:
            broken.append(f"{names_of(path)} uses {', '.join(sorted(used))}")
    assert not broken, listed(broken)


def test_wiring_is_imported_by_main_alone() -> None:
    broken = [
        f"{names_of(path)}:{line} imports {name}"
        for path in sources(*PACKAGES)
        for line, name in imports_of(path)
        if path.name != "main.py" and any(within(name, f"{service}.wiring") for service in SERVICES)
    ]
    assert not broken, listed(broken)


@pytest.mark.parametrize("service", SERVICES)
def test_each_service_has_the_files_that_mean_the_same_everywhere(service: str) -> None:
    names = {path.name for path in (ROOT / service).glob("*.py")}
    assert {"main.py", "wiring.py", "settings.py", "ports.py", "metrics.py"} - names == set()
    main = (ROOT / service / "main.py").read_text(encoding="utf-8").splitlines()
    assert len(main) <= 20


def test_ports_know_no_client_library() -> None:
    broken = [
        f"{service}/ports.py:{line} imports {name}"
        for service in SERVICES
        for line, name in imports_of(ROOT / service / "ports.py")
        if top(name) not in sys.stdlib_module_names and not within(name, "numbridge", service)
    ]
    assert not broken, listed(broken)


def test_no_file_is_longer_than_one_can_hold_in_mind() -> None:
    files = sources(*PACKAGES, "tests")
    for folder in PACKAGES:
        files += [path for kind in ("*.lua", "*.js", "*.css") for path in (ROOT / folder).rglob(kind)]
    lengths = {names_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    assert {name: lines for name, lines in lengths.items() if lines > MAX_LINES} == {}


def test_every_queue_has_a_limit() -> None:
    kinds = {"Queue", "LifoQueue", "PriorityQueue"}
    broken = [
        f"{names_of(path)}:{call.lineno}"
        for path in sources(*PACKAGES)
        for call, name in calls(tree_of(path))
        if name in kinds and not call.args and not call.keywords
    ]
    assert not broken, listed(broken)


def test_nothing_connects_at_import() -> None:
    opens = {
        "connect", "Redis", "from_url", "from_pool", "insecure_channel", "secure_channel", "create_async_engine",
        "create_engine", "open_connection", "ClientSession", "socket",
    }  # fmt: skip
    broken = []
    for path in sources(*PACKAGES):
        for statement in tree_of(path).body:
            if isinstance(statement, _DEFINITIONS):
                continue
            broken += [f"{names_of(path)}:{call.lineno} {name}" for call, name in calls(statement) if name in opens]
    assert not broken, listed(broken)


def _caught(handler: ast.ExceptHandler) -> set[str]:
    if handler.type is None:
        return {"everything"}
    parts = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return {part.id for part in parts if isinstance(part, ast.Name)}


def test_only_the_task_supervisor_catches_everything() -> None:
    broken = []
    for path in sources(*PACKAGES):
        if names_of(path) == "numbridge/tasks.py":
            continue
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ExceptHandler) and _caught(node) & {"everything", "Exception", "BaseException"}:
                last = node.body[-1]
                if not (isinstance(last, ast.Raise) and last.exc is None):  # one that only cleans up goes on raising
                    broken.append(f"{names_of(path)}:{node.lineno}")
    assert not broken, listed(broken)


def test_no_test_sleeps() -> None:
    """Helpers poll with a deadline; `sleep(0)` waits for nothing but the loop's next turn."""
    broken = [
        f"{names_of(path)}:{call.lineno}"
        for path in sources("tests")
        if path.name.startswith(("test_", "conftest"))
        for call, name in calls(tree_of(path))
        if name == "sleep" and not (call.args and isinstance(call.args[0], ast.Constant) and call.args[0].value == 0)
    ]
    assert not broken, listed(broken)


def test_no_test_is_skipped_but_for_a_named_program_or_system() -> None:
    """Fixtures skip where a program is missing; a test that skips itself, or is expected to fail, cannot fail."""
    broken = [
        f"{names_of(path)}:{node.lineno}"
        for path in sources("tests")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Attribute) and node.attr in ("xfail", "skip")
        if path.name.startswith("test_")
    ]
    assert not broken, listed(broken)


def test_nothing_is_left_for_later() -> None:
    words = ("TO" + "DO", "FIX" + "ME", "X" * 3)
    broken = []
    for path in sources(*PACKAGES, "tests"):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            broken += [f"{names_of(path)}:{number} {word}" for word in words if word in line]
        broken += [
            f"{names_of(path)}:{node.lineno}"
            for node in ast.walk(tree_of(path))
            if isinstance(node, ast.Name) and node.id == "NotImplementedError"
        ]
    assert not broken, listed(broken)


def test_every_public_thing_says_what_it_is() -> None:
    broken = []
    for path in sources(*PACKAGES):
        tree = tree_of(path)
        if tree.body and ast.get_docstring(tree) is None:
            broken.append(f"{names_of(path)}:1 module")
        for node in tree.body:
            public = isinstance(node, _DEFINITIONS) and not node.name.startswith("_")
            if isinstance(node, _DEFINITIONS) and public and ast.get_docstring(node) is None:
                broken.append(f"{names_of(path)}:{node.lineno} {node.name}")
    assert not broken, listed(broken)
