"""`harness import-problem`: an event's folder becomes ours; what could not come is told; foreign code runs shut in."""

import json
import shutil
from functools import cache
from pathlib import Path

import pytest
import torch

from harness.authoring.check import check_folder
from harness.authoring.event.bring import import_problem
from harness.authoring.event.carry import carry_python
from harness.authoring.event.folder import read_event_folder
from harness.authoring.event.layout import Constant, Packed, Slot, flat, pack
from harness.authoring.event.seen import Form, Seen, probe
from harness.authoring.event.sizes import fit_size
from harness.authoring.event.tensors import find_interface
from harness.authoring.event.write import relative_cap
from harness.errors import UsageError
from harness.qualify.examine import examine
from harness.replay.inputs import Request, make_sample
from harness.replay.reference import load_reference
from harness.sandbox import Level, LevelReport
from harness.spec import load_problem

from .conftest import TEMPLATE

EVENTS = Path(__file__).parent / "events"


# What tally_py does with NumPy.
WRITTEN_WITH_TORCH = (
    ("import numpy as np\n", ""),
    ("np.random.default_rng(seed).integers(0, 256, size)",
     "torch.randint(256, (size,), generator=torch.Generator().manual_seed(seed))"),
    ("torch.tensor(np.where(drawn < crowd, 42, drawn), ", "torch.where(drawn < crowd, 42, drawn).to("),
)  # fmt: skip


def slow(folder):
    return pytest.param(folder, marks=pytest.mark.slow)


@pytest.fixture
def events(tmp_path):
    shutil.copytree(EVENTS, tmp_path / "events")
    return tmp_path / "events"


def change(events, folder, **files):
    for stem, (old, new) in files.items():
        path = events / folder / (f"{stem}.py" if stem != "task" else "task.yml")
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))


def bring_into(root, path):
    scratch = root.parent / "scratch"
    scratch.mkdir()
    return import_problem(root, path, "brought", scratch)


@pytest.fixture(scope="module")
def brought_once(tmp_path_factory):
    """Each sample brought in once: its repository, and what was told."""

    @cache
    def brought(folder):
        root = tmp_path_factory.mktemp("event") / "w"
        shutil.copytree(TEMPLATE, root)
        return root, bring_into(root, EVENTS / folder)

    return brought


@pytest.fixture
def bring(root, brought_once):
    """Put a sample that was brought in into `root`; return what was told."""

    def bring_(folder):
        where, imported = brought_once(folder)
        shutil.copytree(where, root, dirs_exist_ok=True)
        return imported

    return bring_


def read_it(root):
    """What a person does before anything of it runs: read reference.py, delete the statement at its top, and NumPy."""
    path = root / "problems" / "brought" / "reference.py"
    head, rest = path.read_text().split("raise ImportError(\n", 1)
    text = head + rest.split("\n)\n", 1)[1]
    for with_numpy, with_torch in WRITTEN_WITH_TORCH:
        text = text.replace(with_numpy, with_torch)
    path.write_text(text)
    return load_problem(root / "problems" / "brought")


def told(imported):
    return [(found.file, found.line, found.level, found.message) for found in imported.findings]


def test_tensors_and_shapes_come_along(root, bring):
    imported = bring("group_scale_py")
    problem = read_it(root)
    assert [(t.name, t.shape, t.dtype, t.buffer) for t in problem.inputs] == [
        ("x", ("tokens", "hidden"), "float32", False),
        ("scaled", ("tokens", "hidden"), "float32", True),
        ("scale", ("tokens", "hidden/group"), "float32", True),
    ]
    assert [(t.name, t.shape) for t in problem.outputs] == [
        ("scaled", ("tokens", "hidden")), ("scale", ("tokens", "hidden/group"))
    ]  # fmt: skip
    assert [dict(shape) for shape in problem.tests] == [
        {"tokens": 2, "hidden": 64, "group": 16}, {"tokens": 4, "hidden": 96, "group": 32}
    ]  # fmt: skip
    assert problem.cost_of({"tokens": 2, "hidden": 64, "group": 16})[1:] == (512, 512 + 32)
    assert [path.name for path in imported.files] == ["task.yml", "reference.py", "mutants.py", "README.md"]


def test_what_could_not_come_is_told_with_file_and_line(bring):
    assert told(bring("group_scale_py")) == [
        ("group_scale_py/task.yml", 6, "not carried over", "ranking_by: last: boards rank by the geometric mean"),
        ("group_scale_py/task.yml", 7, "not carried over", "prizes: has no meaning here"),
        ("group_scale_py/task.yml", 9, "not carried over",
         "tests.0.kind: is no axis; it is always 'plain' here, and never 'rough'"),
        ("group_scale_py/task.yml", 11, "not carried over", "tests.2: has other arguments than the first test"),
        ("group_scale_py/task.yml", 12, "to write", "benchmarks: there are none: the tests stand in for them"),
        ("group_scale_py/reference.py", 9, "not carried over",
         "names a device: it became the CPU; the harness moves tensors itself"),
        ("group_scale_py/reference.py", 13, "not carried over",
         "torch.cuda.synchronize() was left out: the harness drives the GPU itself"),
        *(("group_scale_py/reference.py", line, "not carried over",
           "names a device: it became the CPU; the harness moves tensors itself") for line in (14, 16)),
        *(("group_scale_py/reference.py", line, "to write",
           "torch.float32: a reference computes in float64: take it out where it narrows") for line in (22, 24)),
        ("utils.py", 9, "not carried over", "names a device: it became the CPU; the harness moves tensors itself"),
        *(("group_scale_py/reference.py", None, "to write", message) for message in (
            "check_implementation states no rtol and atol as numbers: 1e-3 is written for what is missing",
            "distributions: the event has one; write more, until every mutant is refused",
            "cost.flops: the event states none; write what the formula needs",
            "mutants.py: the event has none; write the honest kernel and its mutants",
            "the folder has no submission.py: write the starter",
        )),
    ]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_the_cap_on_the_relative_error_lets_one_rounding_to_the_outputs_type_pass(dtype):
    exact = torch.randn(4096, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    rounded = exact.to(getattr(torch, dtype)).to(torch.float64)
    error = float((rounded - exact).norm() / exact.norm())
    assert 1.3 * error < relative_cap(dtype) < max(1.001e-3, 8 * error)


def test_it_computes_what_the_event_does(root, bring):
    bring("scaled_rows_py")
    problem = read_it(root)
    assert problem.tolerance_of("output").rtol == 1e-4
    assert problem.tolerance_of("output").atol == 1e-5
    sample = make_sample(load_reference(problem), Request((("rows", 3), ("columns", 64)), "event", seed=5))
    x, factor = (tensor.double() for tensor in sample.inputs)
    assert sample.expected[0].equal(x * factor[:, None])
    source = (root / "problems" / "brought" / "reference.py").read_text()
    assert "# a comment that must come along" in source
    assert "numpy" not in source
    assert (root / "submissions" / "starter" / "brought" / "submission.py").is_file()


@pytest.mark.parametrize(
    "folder", ["scaled_rows_py", "group_scale_py", "experts_py", slow("tally_py"), slow("added_py")]
)
def test_all_that_check_problem_asks_for_is_to_read_it_and_the_mutants(root, bring, folder):
    bring(folder)
    found = check_folder(root, root / "problems" / "brought", examine)
    guard = f"importing it raised ImportError: this code came from {folder} and nobody"
    errors = sorted((Path(f.file).name, f.message) for f in found if f.level == "error")
    assert [file for file, _ in errors] == ["mutants.py", "reference.py"]
    assert errors[0][1] == "defines no function compute(inputs, shape, arithmetic)"
    assert errors[1][1].startswith("imports numpy at line " if folder == "tally_py" else guard)
    read_it(root)
    found = check_folder(root, root / "problems" / "brought", examine)
    assert [Path(f.file).name for f in found if f.level == "error"] == ["mutants.py"]


def test_data_of_dicts_lists_and_plain_values_comes_along(root, bring):
    """Also: all names of a file imported, one imported as a whole, a dataclass, an output without axes."""
    imported = bring("experts_py")
    problem = read_it(root)
    assert [(t.name, t.shape) for t in (*problem.inputs, *problem.outputs)] == [
        ("x", ("rows", "hidden")), ("up_weight", ("hidden", "inner")), ("down_0", ("inner", "hidden")),
        ("output_0", ("rows", "hidden/2")), ("output_1", ()),
    ]  # fmt: skip
    shape = (("rows", 3), ("hidden", 32), ("inner", 40))
    sample = make_sample(load_reference(problem), Request(shape, "event", seed=5))
    x, up, down = (tensor.double() for tensor in sample.inputs)
    inner = (x @ up).relu() * 0.5
    assert sample.expected[0].allclose((inner @ down)[:, :16])
    assert sample.expected[1].allclose(inner.sum())
    assert {message for _, _, level, message in told(imported) if level == "to write"} >= {
        "x does not lie in memory in order of its axes; ours does: transpose it if that matters",
        "the data is not a tuple of these tensors; ours is (x, up_weight, down_0): submissions have to unpack that",
    }


@pytest.mark.slow
def test_memory_that_nobody_fills_is_a_buffer_or_left_out(root, bring):
    imported = bring("tally_py")
    problem = read_it(root)
    assert [(t.name, t.buffer) for t in problem.inputs] == [("data", False), ("counts", True)]
    assert [(t.name, t.shape, t.dtype) for t in problem.outputs] == [("counts", (256,), "int64")]
    sample = make_sample(load_reference(problem), Request((("size", 1000), ("crowd", 200)), "event", seed=5))
    assert sample.expected[0].equal(sample.inputs[0].bincount(minlength=256).double())
    assert sample.expected[0][42] > 700
    assert {found.message for found in imported.findings} >= {
        "spare is never filled, read or returned: it was left out",
        "tests.2: crowd is 0, and an axis is 1 or more",
    }


@pytest.mark.slow
def test_a_reference_that_returns_nothing_is_asked_for_what_it_changed(root, bring):
    imported = bring("added_py")
    problem = read_it(root)
    assert [(t.name, t.buffer) for t in problem.inputs] == [("x", False), ("y", False), ("negative", True)]
    assert [t.name for t in problem.outputs] == ["output_0", "negative"]
    sample = make_sample(load_reference(problem), Request((("rows", 3), ("columns", 9)), "event", seed=5))
    x, y, _ = sample.inputs
    total = x.double() + y.double()
    assert sample.expected[0].equal(total)
    assert sample.expected[1].equal((total < 0).sum(1).double())
    assert {found.message for found in imported.findings} >= {
        "ref_kernel changes its input x: ours may not, and works on a copy",
        "negative comes filled with zeros; ours is a buffer full of poison: a kernel writes all of it",
    }


SPY = """
import os
from pathlib import Path

def spy():
    for path in ("{mark}", "/tmp/mark_of_the_import"):
        try:
            Path(path).write_text("was here")
        except OSError:
            pass
    return [name for name in os.environ if "SECRET" in name]

FOUND = spy()
"""


def test_foreign_code_runs_in_the_sandbox_alone(root, events, tmp_path, monkeypatch):
    """It would leave a mark where it runs, at import too; nothing is left, and what the parent knows is not seen."""
    mark, path = tmp_path / "mark", events / "scaled_rows_py" / "reference.py"
    monkeypatch.setenv("SECRET_OF_THE_PARENT", "1")
    spied = path.read_text().replace("* SPREAD", "* (SPREAD + 1 / (not FOUND))")
    path.write_text(spied + SPY.format(mark=mark))
    bring_into(root, path.parent)
    check_folder(root, root / "problems" / "brought", examine)  # the guard at its top comes first
    assert not mark.exists()
    assert not Path("/tmp/mark_of_the_import").exists()
    assert "FOUND = spy()" in (root / "problems" / "brought" / "reference.py").read_text()


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"reference": ("return x, factor", "raise SystemExit(3)")},
         "running it in the sandbox failed: SystemExit: 3 in `raise SystemExit(3)`"),
        ({"reference": ("return x, factor", "import os; os._exit(3)")}, "running it in the sandbox ended with code 3"),
        ({"reference": ("return x, factor", "return x, torch.device('cpu')")},
         "TypeError: generate_input returns a device as data[1]: only tensors, numbers, text, and tuples, lists and"),
        ({"reference": ("return x, factor", "return x.to(torch.complex64), factor")},
         "TypeError: generate_input returns data[0] as complex64; ours may be float64, float32,"),
        ({"reference": ("return x * factor[:, None]", "return {'y': x}")},
         "TypeError: ref_kernel returns a dict as its result: only tensors may be"),
        ({"reference": ("def generate_input", "def draw_input")}, "reference.py: defines no function generate_input()"),
        ({"reference": ("def ref_kernel(", "def ref_kernel)(")}, "not valid Python at line 14"),
        ({"reference": ("SPREAD\n", "reference()\n\n\ndef reference():\n    return 1\n")},
         "a name that reference.py gives to a function of ours: rename it there first"),
        ({"task": ("files:", "sources:")}, "task.yml: has no list `files`"),
        ({"task": ('lang: "py"', 'lang: "cu"')}, "task.yml: lang: cu: only problems in Python can be brought in"),
        ({"task": ("tests:", "tests: [{\"rows\": 0, \"columns\": 64}]\nothers:")},
         "no test is left: an axis is a whole number of 1 or more in each"),
        ({"task": ('"rows": 3, "columns": 64', '"rows": 3.5, "columns": "x"')},
         "no argument of generate_input is a whole number in every test, so there is no axis"),
    ],
)  # fmt: skip
def test_what_cannot_be_brought_in_is_told_and_leaves_nothing(root, events, files, message):
    change(events, "scaled_rows_py", **files)
    with pytest.raises(UsageError) as error:
        bring_into(root, events / "scaled_rows_py")
    assert message in str(error.value)
    assert "Look at what was not carried over:" in str(error.value) or "sandbox" not in message
    assert not (root / "problems" / "brought").exists()


def test_a_machine_without_a_sandbox_runs_nothing(root, events, monkeypatch):
    monkeypatch.setattr("harness.authoring.event.seen.best_level", lambda: LevelReport(Level.NONE))
    with pytest.raises(UsageError, match="this machine has no sandbox, and somebody else's Python is run nowhere else"):
        bring_into(root, events / "scaled_rows_py")


def call_of(**changed):
    """What the sandbox says of a call with one input, which is returned; something of it changed."""
    form = [[[1], "float32", True]]
    call = {"layout": ["tensor", 0], "inputs": form, "outputs": form, "same": [0], "modified": [], "unfilled": []}
    call |= {"zero": [], "in_place": False, "float64_fault": ""}
    return json.dumps({"calls": [call | changed]})


def nested(depth):
    return ["list", [[0, nested(depth - 1)]]] if depth else ["tensor", 0]


def test_what_the_sandbox_says_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr("harness.authoring.event.seen.run_sandboxed", lambda *asked: call_of(layout=nested(3)))
    (found,) = probe("", [{"rows": 1}], takes_seed=True, scratch=tmp_path)
    assert (found.inputs, found.same) == ((Form((1,), "float32"),), (0,))


@pytest.mark.parametrize(
    "answer",
    [
        "", "[]", "{}", '{"calls": [{}]}', '{"calls": []}', "x", '{"error": 1, "calls": 1}',
        call_of(inputs=[[[1], "float31", True]]), call_of(inputs=[[[1e400], "float32", True]]),
        call_of(layout=["tensor", 1]), call_of(layout=["set", []]), call_of(layout=["value", 1e400]),
        call_of(layout=nested(40)), call_of(unfilled=[7]), call_of(same=[]), call_of(modified=9), call_of(outputs=[]),
        call_of(inputs=[[[1], "float32", True]] * 65),
    ],
)  # fmt: skip
def test_what_the_sandbox_says_is_not_believed(tmp_path, monkeypatch, answer):
    monkeypatch.setattr("harness.authoring.event.seen.run_sandboxed", lambda module, argument, scratch: answer)
    with pytest.raises(UsageError, match="not of the form|fewer calls|failed: 1"):
        probe("", [{"rows": 1}], takes_seed=True, scratch=tmp_path)


def test_packages_and_names_that_stay_behind_are_told(events):
    used = ("SPREAD\n", "SPREAD * np.pi * jax.e\n    torch.cuda.current_device(), draw\n")
    change(events, "scaled_rows_py", reference=used)
    change(events, "scaled_rows_py", reference=("import torch\n", "import numpy as np, jax\nimport torch\n"))
    change(events, "scaled_rows_py", reference=("SPREAD, comp", "SPREAD, seeded as draw, comp"))
    found = {(f.line, f.message) for f in carry_python(read_event_folder(events / "scaled_rows_py")).findings}
    assert found >= {
        (1, "imports jax, which is neither torch, the standard library nor one of its files: write it anew"),
        (1, "imports numpy, which a GPU machine that only replays may lack: write it with torch"),
        (12, "torch.cuda.current_device needs a GPU: write it anew"),
        (4, "imports seeded as draw: write seeded where it is used"),
    }


def test_files_outside_are_not_read_and_missing_ones_are_told(events, tmp_path):
    (tmp_path / "secret.py").write_text("SECRET = 1")
    change(events, "scaled_rows_py", task=('"source": "../eval.py"', '"source": "../../secret.py"'))
    change(events, "scaled_rows_py", task=('"source": "task.py"', '"source": "gone.py"'))
    event = read_event_folder(events / "scaled_rows_py")
    messages = [finding.message for finding in event.findings]
    assert "files: eval.py lies outside of the folder and its parent, and was not read" in messages
    assert any(message.startswith("files: task.py is named, and ") for message in messages)
    assert set(event.modules) == {"reference", "utils"}


def test_a_submission_that_is_a_link_or_large_is_not_read(events, tmp_path):
    """It is copied as it stands, so a link would take somebody's secret along, from beside the folder too."""
    path = events / "scaled_rows_py" / "submission.py"
    assert "custom_kernel" in read_event_folder(path.parent).starter
    for secret in (tmp_path / "secret", events / "secret"):
        secret.write_text("SECRET = 1")
        path.unlink()
        path.symlink_to(secret)
        event = read_event_folder(path.parent)
        assert event.starter == ""
        told_of_it = ("scaled_rows_py/task.yml", "submission.py beside it is a link, and was not read")
        assert told_of_it in {(finding.file, finding.message) for finding in event.findings}
    path.unlink()
    path.write_text("#" * ((1 << 20) + 1))
    with pytest.raises(UsageError, match="submission.py: is larger than 1 MB, so it is no source"):
        read_event_folder(path.parent)


def seen(inputs, outputs, same=None, **facts):
    forms = [tuple(Form(sizes, "float32") for sizes in side) for side in (inputs, outputs)]
    return Seen(flat(len(inputs)), *forms, same=same or (-1,) * len(outputs), **facts)


def test_what_tests_leave_open_is_told():
    shapes = [{"A": 4, "B": 4}, {"A": 6, "B": 6}]
    facts = {"same": (-1, 1), "modified": (0,), "unfilled": (1,)}
    calls = [seen([(4, 4), (4,)], [(11,), (4,)], **facts), seen([(6, 6), (6,)], [(40,), (6,)], **facts)]
    found = find_interface(calls, shapes, ("x", "y"), ())
    assert [tensor.shape for tensor in found.outputs] == [("FIXME",), ("A",)]
    assert found.outputs[0].doubts == ("size 0 of output_0 follows from the axes in no simple way: write it for FIXME",)
    assert found.inputs[0].doubts[0] == "size 0 of x is taken to be A; B fits all tests too"
    assert found.doubts == ("ref_kernel changes its input x: ours may not, and works on a copy",)
    assert [tensor.buffer for tensor in found.inputs] == [False, True]


def test_an_input_that_is_written_and_holds_something_is_no_buffer():
    call = seen([(4,), (4,)], [(4,)], same=(0,), modified=(0,))
    found = find_interface([call], [{"A": 4}], ("x", "y"), ("x",))
    assert [tensor.buffer for tensor in found.inputs] == [False, False]
    assert [tensor.name for tensor in found.outputs] == ["output"]
    assert found.doubts == (
        "ref_kernel changes its input x: ours may not, and works on a copy",
        "ref_kernel returns its input x as output 0",
    )


@pytest.mark.parametrize("other", [[(4, 4)], [(4,), (4,)], []])
def test_tests_that_do_not_agree_on_the_tensors_are_told(other):
    with pytest.raises(UsageError, match="the tests do not agree on how many tensors there are, of which dtypes"):
        find_interface([seen([(4,)], [(4,)]), seen([(4,)], other)], [{"A": 4}, {"A": 4}], ("x",), ())


def packed(depth, blocks):
    """A tensor, and a config of plain values."""
    config = {"depth": depth, "blocks": blocks, "scale": 0.5, "name": None, "causal": True}
    items = tuple(map(Constant, config.values()))
    return Packed("tuple", (0, 1), (Slot(0), Packed("dict", tuple(config), items)))


def test_plain_values_in_the_data_become_arithmetic_over_axes():
    shapes = [{"A": 4, "B": 100}, {"A": 6, "B": 256}]
    text, doubts = pack([packed(8, 4), packed(12, 8)], ["x"], shapes)
    assert text == (
        "(x, {'depth': 2 * shape['A'], 'blocks': (shape['B'] + 31) // 32, 'scale': 0.5, 'name': None, 'causal': True})"
    )
    assert doubts == ()
    text, doubts = pack([packed(8, 3), packed(12, 41)], ["x"], shapes)
    assert "'blocks': FIXME" in text
    assert doubts == ("data[1]['blocks'] follows from the axes in no simple way: write it for FIXME",)
    with pytest.raises(
        UsageError, match=r"data\[1\] of generate_input has another form in some tests, and ours has one"
    ):
        pack([packed(8, 4), flat(2)], ["x", "y"], shapes)


@pytest.mark.parametrize(
    ("seen", "expression", "others"),
    [
        ([4, 6], "A", ("C",)), ([2, 3], "A/2", ()), ([8, 12], "2*A", ()), ([12, 30], "A*B", ()), ([7, 7], 7, ()),
        ([6, 10], "2*B", ()), ([5, 7], "A+1", ()), ([48, 180], "A*A*B", ()), ([101, 7], None, ()),
        ([1, 1], 1, ()), ([3, 9], "(D+31)//32", ()),
    ],
)  # fmt: skip
def test_sizes_become_the_simplest_arithmetic_that_fits(seen, expression, others):
    size = fit_size(seen, [{"A": 4, "B": 3, "C": 4, "D": 70}, {"A": 6, "B": 5, "C": 6, "D": 258}])
    assert (size.expression, size.others) == (expression, others)


def test_the_command_refuses(root, harness, events):
    (root / "problems" / "scaled_rows").mkdir()
    taken = harness("import-problem", str(events / "scaled_rows_py"), "--json")
    assert taken.returncode == 2
    assert "problems/scaled_rows exists already: choose another name" in taken.stderr
    none = harness("import-problem", str(events))
    assert none.returncode == 2
    assert "holds no task.yml, so it is not a problem's folder" in none.stderr


@pytest.mark.slow
def test_the_command(root, harness, events):
    result = harness("import-problem", str(events / "scaled_rows_py"))
    assert result.returncode == 0, result.stderr
    first = "scaled_rows_py/task.yml:12: not carried over: config: the harness has an evaluator of its own"
    assert first in result.stdout
    assert "read it, delete the statement at its\ntop" in result.stdout
    document = json.loads(harness("import-problem", str(events / "scaled_rows_py"), "--name", "b", "--json").stdout)
    assert document["files"][0] == "problems/b/task.yml"
    assert document["findings"][0]["level"] == "not carried over"
