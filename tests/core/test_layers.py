"""Imports go down only: the layers of the architecture, enforced over every module of the package."""

import ast
from pathlib import Path

import harness

PACKAGE = Path(harness.__file__).parent

# From the ground up; a module may import its own layer and those below it.
LAYERS = [
    {"errors", "dtypes", "text", "strict_json", "frame"},
    {"spec", "target", "toolchain"},
    {"case", "submission", "plan"},
    {"kernel", "policy"},
    {"artifact"},
    {"sandbox"},
    {"trace", "assemble"},
    {"replay"},
    {"verdict"},
    {"store"},
    {"board"},
    {"site"},
    {"qualify"},
    {"authoring"},
    {"engine"},
    {"ci"},
    {"client"},
    {"service"},
    {"cli", "__main__"},
]
ALONE = {"bootstrap"}  # runs before the package can be imported
FLOOR = {name: floor for floor, names in enumerate(LAYERS) for name in names}


def imported_parts(path: Path) -> set[str]:
    """The parts of the package that a module imports, anywhere in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import hides where it leads"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    parts = {name.split(".")[1] for name in names if name.startswith("harness.")}
    return parts - {"__version__"}


def modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE or path.stem != "__init__")


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def test_every_part_has_a_layer():
    assert {part_of(path) for path in modules()} == set(FLOOR) | ALONE


def test_imports_go_down_only():
    upward = [
        f"{path.relative_to(PACKAGE)} imports {part}"
        for path in modules()
        for part in imported_parts(path)
        if FLOOR.get(part_of(path), 0) < FLOOR[part]
    ]
    assert upward == []


def test_untrusted_python_is_imported_by_the_trace_alone():
    """Nobody but the tracer's process loads a submission, and Helion is loaded nowhere else (but in CPU replay)."""
    heavy = {}
    for path in modules():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        roots = {alias.name.split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.Import) for alias in n.names}
        roots |= {n.module.split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module}
        for root in roots & {"helion", "triton", "torch"}:
            heavy.setdefault(root, set()).add(part_of(path))
    assert heavy["helion"] <= {"trace", "replay"}
    assert heavy["triton"] <= {"trace", "assemble", "replay"}
    assert heavy["torch"] <= {"trace", "replay", "qualify"}


def test_names_say_something():
    assert [p for p in modules() if p.stem in {"utils", "helpers", "common", "misc", "manager"}] == []


def test_modules_are_of_readable_size():
    long = {str(p.relative_to(PACKAGE)): n for p in modules() if (n := len(p.read_text().splitlines())) > 300}
    assert long == {}


def test_untrusted_data_is_announced():
    """A module that reads what untrusted code made says so in its docstring."""
    for name in (
        "artifact/files.py",
        "artifact/cubin.py",
        "artifact/manifest.py",
        "artifact/program.py",
        "artifact/storing.py",
        "plan/parse.py",
        "engine/worker.py",
        "engine/tracing.py",
        "replay/cpu_check.py",
        "replay/cpu_runner.py",
        "replay/local_judge.py",
        "sandbox/results.py",
        "service/posting.py",
        "service/received.py",
        "service/teams.py",
    ):
        text = (PACKAGE / name).read_text(encoding="utf-8")
        docstring = (ast.get_docstring(ast.parse(text)) or "").lower()
        assert any(word in docstring for word in ("hostile", "untrusted", "trust")), name
