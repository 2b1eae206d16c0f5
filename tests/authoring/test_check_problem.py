"""`harness check-problem`: all faults at once, each with its file and line, and what a season would cost."""

import json
import shutil
from pathlib import Path

import pytest

from harness.authoring.check import check_folder
from harness.qualify.examine import examine
from tests.qualify.conftest import AFFINE
from tests.season import SEASON_ROOT


@pytest.fixture
def root(root):
    shutil.copytree(AFFINE, root / "problems" / "affine")
    return root


def edit(root, name, old, new):
    path = root / "problems" / "affine" / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def told(root, level="error"):
    found = check_folder(root, root / "problems" / "affine", examine)  # in this process: the command uses another
    return [(Path(f.file).name, f.line, f.message) for f in found if f.level == level]


def messages(root, level="error"):
    return [message for _, _, message in told(root, level)]


def stands_at(root, file, line):
    """The text of a line that is blamed."""
    return (root / "problems" / "affine" / file).read_text().splitlines()[line - 1].strip()


@pytest.mark.parametrize("number", [".inf", "-.inf", ".nan"])
def test_no_bound_is_no_tolerance(root, number):
    edit(root, "task.yml", "atol: 1.0e-3", f"atol: {number}")
    (message,) = messages(root)
    assert message.startswith("tolerance.y.atol: must be a finite number")


def test_every_fault_of_the_task_is_told_with_its_line(root):
    edit(root, "task.yml", "precision: float32", "precision: exact")
    edit(root, "task.yml", "title: Scale and shift rows", "titel: Scale and shift rows")
    edit(root, "task.yml", "{M: 4, N: 8, distribution: wide}", "{M: 0, P: 8, distribution: odd}")
    edit(root, "task.yml", "{name: x, shape: [M, N]", "{name: x, shape: [M, Q]")
    edit(root, "task.yml", "{name: scale, shape: [M]", "{name: scale, shape: [M**2]")
    edit(root, "task.yml", "  y: {rtol", "  z: {rtol")
    edit(root, "task.yml", "default: normal", "default: usual")
    edit(root, "task.yml", "{distribution: normal, gameable: true}", "{distribution: none, benchmarks: [{M: 1}]}")
    edit(root, "task.yml", "cost: {flops: 2*M*N", "cost: {flops: 2*K*N")
    found = {(stands_at(root, file, line) if line else "", message) for file, line, message in told(root)}
    assert {message for _, message in found} == {
        "title: is missing; text is expected",
        "titel: there is no such field (found 'Scale and shift rows'): did you mean title?",
        "precision: one of float32, tf32, float16, bfloat16, fp8 is expected (found 'exact')",
        "tests.1.M: must be at least 1 (found 0)",
        "tests.1.N: is missing; a whole number is expected, the axis's size",
        "tests.1.P: P is not an axis; axes are M, N",
        "tests.1.distribution: odd is not one of normal, wide",
        "inputs.x.shape: 'Q' uses Q, which is neither an axis nor a constant",
        "inputs.scale.shape: 'M**2': only integers, axis names and + - * / // % ( ) may be used",
        "tolerance: output y has none; give y or all",
        "tolerance.z: z is not an output; outputs are y",
        "distributions.default: usual is not one of normal, wide",
        "suites.weak.distribution: none is not one of normal, wide",
        "suites.weak.benchmarks.0.N: is missing; a whole number is expected, the axis's size",
        "cost.flops: '2*K*N' uses K, which is neither an axis nor a constant",
    }
    lines = {message.split(":")[0]: text for text, message in found}
    assert lines["inputs.x.shape"].startswith("- {name: x, ")
    assert lines["tests.1.M"].startswith("- {M: 0, P: 8")
    assert lines["distributions.default"] == "default: usual"
    assert lines["suites.weak.distribution"].startswith("weak: {")
    assert lines["cost.flops"].startswith("cost: {")
    assert "reference.py and mutants.py were read, not run: mend this first" in messages(root, "warning")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("M: {description: rows}", "M: {description: rows}\n  distribution: {description: d}",
         "axes.distribution: an axis cannot be called so: in a shape the word names the inputs' distribution"),
        ("inputs:", "constants: {M: 3}\ninputs:", "constants.M: there is an axis M already"),
        ("{name: offset, shape: [M]", "{name: scale, shape: [M]", "inputs: two tensors are called scale"),
        ("{name: offset, shape: [M]", "{name: offset, shape: [M-8]",
         "benchmarks.0: inputs.offset.shape: (0,) holds no element"),
        ("{name: offset, shape: [M]", "{name: offset, shape: [M/3]",
         "benchmarks.0: inputs.offset.shape: 'M/3': 8 is not divisible by 3"),
        ("read_bytes: 4*M*N + 8*M", "read_bytes: 4*M*N//(M-4)",
         "tests.0: cost.read_bytes: '4*M*N//(M-4)' divides by zero"),
        ("read_bytes: 4*M*N + 8*M", "read_bytes: 4*M - 99", "tests.0: cost.read_bytes: '4*M - 99' is negative"),
        ("  default: normal\n  normal: standard normal\n  wide: x times 10", "  default: x",
         "distributions.default: must name one of them, and there is none: write `NAME: what it draws` for each"),
        ("name: affine\n", "name: other\n", "name: 'other' differs from the folder's, 'affine'"),
        ("{name: x, shape: [M, N]", "{name: y, shape: [M]", "outputs.y: y is an input too, of another shape or dtype: "
         "rename it, or mark the input `buffer: true`"),
        ("{name: x, shape: [M, N], dtype: float32", "{name: y, shape: [M, N], dtype: float16, buffer: true",
         "outputs.y: y is a buffer of another shape or dtype under inputs: declare the same tensor"),
        ("{M: 4, N: 8}", "{M: yes, N: 8}", "tests.0.M: a whole number is expected (found true)"),
        ("distribution: wide}", "distribution: off}",
         'tests.1.distribution: text is expected (found false): write it in quotes, "false"'),
        ("inputs:", "constants: {C: on}\ninputs:", "constants.C: a whole number is expected (found true)"),
        ("{name: offset, shape: [M]", "{name: offset, shape: [on]",
         "inputs.2.shape.0: text or a whole number is expected (found true)"),
        ("columns}", "columns, multiple_of: yes}", "axes.N.multiple_of: a whole number is expected (found true)"),
        ("name: affine\n", "name: affine\naliases: [scale]\n",
         "aliases: scale is another problem's name, and is taken for that: leave it out"),
        ("name: affine\n", "name: affine\naliases: [scale_py]\n",
         "aliases: scale_py is an alias of the problem scale too: leave it out"),
    ],
)  # fmt: skip
def test_what_does_not_fit_together_is_told(root, old, new, message):
    edit(root, "task.yml", old, new)
    assert message in messages(root)


def test_a_name_that_another_problem_has_as_an_alias_is_told(root):
    task = root / "problems" / "scale" / "task.yml"
    task.write_text(task.read_text().replace("scale_py", "affine"))
    told_once = "name: affine is an alias of the problem scale: choose another, or drop it there"
    assert messages(root) == [told_once]
    task.write_text("name: [")
    assert messages(root) == []


def test_a_case_that_stands_twice_is_told(root):
    edit(root, "task.yml", "  - {M: 4, N: 8}\n", "  - {M: 4, N: 8}\n  - {distribution: normal, N: 8, M: 4}\n")
    edit(root, "task.yml", "  - {M: 8, N: 64}\n", "  - {M: 8, N: 64}\n  - {M: 8, N: 64}\n")
    repeated = [(stands_at(root, file, line), text) for file, line, text in told(root, "warning") if "the same" in text]
    assert repeated == [
        ("- {distribution: normal, N: 8, M: 4}",
         "tests.1: the same as tests.0, so it is not tried again: change it, or leave it out"),
        ("- {M: 8, N: 64}",
         "benchmarks.1: the same as benchmarks.0, so it is not tried again: change it, or leave it out"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "lost"),
    [
        ("see #4 of the list", "'see' ends before '#4 of the list'"),
        ("over two\n  lines #below", "'over two lines' ends before '#below'"),
        ("see", None),
        ("see # who knows", None),
        ("see#4", None),
        ('"see #4"', None),
        ("|\n  see #4", None),
    ],
)
def test_text_that_yaml_takes_for_a_comment_is_told(root, value, lost):
    edit(root, "task.yml", "title: Scale and shift rows\n", f"title: {value}\n")
    found = [message for message in messages(root, "warning") if "comment" in message]
    whole = f"{lost}, which YAML takes for a comment: put the value in quotes, or a blank behind the #"
    assert found == ([whole] if lost else [])


def test_python_is_run_where_other_fields_are_at_fault(root):
    edit(root, "task.yml", "precision: float32", "precision: exact")
    edit(root, "task.yml", "cost: {flops: 2*M*N", "cost: {flops: 2*M*Q")
    edit(root, "reference.py", "return (y,)", "return (y[:2],)")
    found = messages(root)
    assert found[0].startswith("precision: one of float32")
    assert found[1].startswith("cost.flops: ")
    assert found[2] == (
        "reference() returned y with shape (2, 8); (4, 8) is expected (distributions normal and wide, M=4, N=8)"
    )


def test_faults_of_reference_and_mutants_come_together(root):
    edit(root, "reference.py", 'if distribution == "wide":', 'if distribution == "wide":\n        1 / 0')
    edit(root, "mutants.py", "offset * 0), shape)", "offset * 0), shape)[0][:2]")
    edit(root, "mutants.py", "scale[:1].expand_as(scale)", "scale.nope")
    found = told(root)
    assert [file for file, _, _ in found] == ["reference.py", "mutants.py", "mutants.py"]
    assert stands_at(root, *found[0][:2]) == "1 / 0"
    assert "generate() raised ZeroDivisionError" in found[0][2]
    assert found[0][2].endswith("(distribution wide, M=4, N=8)")
    assert found[1][2].startswith("offset_missing returned shapes (2, 8); task.yml declares (4, 8)")
    assert found[2][2].startswith("scale_of_the_first_row raised AttributeError: ")
    assert "scale.nope" in stands_at(root, *found[2][:2])


def test_a_shape_that_only_some_tests_have_is_tried(root):
    edit(root, "task.yml", "tests:\n", "tests:\n  - {M: 5, N: 8}\n")
    edit(root, "reference.py", "return (y,)", "return (y[:4],)")
    assert messages(root) == [
        "reference() returned y with shape (4, 8); (5, 8) is expected (distribution normal, M=5, N=8)"
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("return x, scale, offset", "return x.double(), scale, offset",
         "generate() returned x as float64; float32 is expected (distributions normal and wide, M=4, N=8)"),
        ("return x, scale, offset", "return x, torch.rand(4), offset",
         "generate() draws other inputs each time that it has the same generator: take every random number from it, so "
         "that a seed makes a sample (distributions normal and wide, M=4, N=8)"),
        ("return (y,)", "return y", "reference() returned"),
        ("import torch", "import torch.nothing",
         "importing it raised ModuleNotFoundError: No module named 'torch.nothing' at line 3: import torch.nothing"),
        ("def generate(shape, distribution, generator)", "def generate(shape, generator)",
         "generate(shape, generator) is called as generate(shape, distribution, generator): give it these parameters"),
        ("def reference(inputs, shape)", "def reference(inputs, shape, *, scale)",
         "reference(inputs, shape, scale) is called as reference(inputs, shape): give it these parameters"),
        ("def generate(", "def draw(", "defines no function generate(shape, distribution, generator)"),
        ("def reference(inputs, shape):", "def reference(inputs, shape)", "not valid Python: expected ':'"),
    ],
)  # fmt: skip
def test_faults_of_the_reference_are_told(root, old, new, message):
    edit(root, "reference.py", old, new)
    found = [(file, m) for file, _, m in told(root)]
    assert any(file == "reference.py" and m.startswith(message) for file, m in found), found


def test_what_a_reference_takes_from_outside_is_told_and_it_is_not_run(root):
    edit(root, "reference.py", "import torch", "import sys\nsys.path.insert(0, __file__)\nfrom factor import FACTOR")
    edit(root, "reference.py", "    return (y,)", "    from harness.spec import load_problem\n    return (y,)")
    found = told(root)
    assert [(file, stands_at(root, file, line)) for file, line, _ in found] == [
        ("reference.py", "sys.path.insert(0, __file__)"),
        ("reference.py", "from factor import FACTOR"),
        ("reference.py", "from harness.spec import load_problem"),
    ]
    assert [message for _, _, message in found] == [
        "uses __file__ at line 4, by which other files are reached: write what it needs into it, for the problem's "
        "version covers no other file",
        "imports factor at line 5: torch and the standard library are all that it may import, for the problem's "
        "version covers no other file",
        f"imports harness.spec at line {found[2][1]}: torch and the standard library are all that it may import, for "
        "the problem's version covers no other file",
    ]


@pytest.mark.parametrize("arguments", [("board", "affine"), ("qualify", "affine"), ("submit", "affine")])
def test_a_problem_whose_reference_takes_something_from_outside_is_refused(root, harness, arguments):
    edit(root, "reference.py", "import torch", "import torch\nfrom factor import FACTOR")
    refused = harness(*arguments)
    assert refused.returncode == 2
    assert "affine/reference.py: imports factor at line 4: torch and the standard library" in refused.stderr


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("def compute(inputs, shape, arithmetic=FLOAT32)", "def compute(inputs, shape)",
         "compute(inputs, shape) is called as compute(inputs, shape, arithmetic): give it these parameters"),
        ("def compute(", "def honest(", "defines no function compute(inputs, shape, arithmetic)"),
        ("MUTANTS = Mutants()", "OTHERS = Mutants()",
         "defines no MUTANTS, a dict of name -> function of (inputs, shape)"),
        ("MUTANTS.add(all_zero(compute))", "", "4 mutants; 5 is the least, even for an exercise"),
        ("def offset_missing", "def float32", "a mutant cannot be called float32: that is the name of a precision"),
        ("MUTANTS = Mutants()", "UNUSED = {'y': 0}\nMUTANTS = Mutants()",
         "UNUSED names y, which is not one of x, scale, offset"),
    ],
)  # fmt: skip
def test_faults_of_the_mutants_are_told(root, old, new, message):
    edit(root, "mutants.py", old, new)
    [(file, _, found)] = told(root)
    assert file == "mutants.py"
    assert found.startswith(message)


def test_a_signature_that_takes_more_by_default_is_fine(root):
    edit(root, "reference.py", "def generate(shape, distribution, generator)", "def generate(s, d, g, *, scale=1)")
    edit(root, "reference.py", 'M, N = shape["M"], shape["N"]', 'M, N, distribution, generator = s["M"], s["N"], d, g')
    assert told(root) == []


@pytest.mark.parametrize("name", ["task.yml", "reference.py", "mutants.py"])
def test_a_missing_file_is_told_once(root, name):
    (root / "problems" / "affine" / name).unlink()
    [(file, _, message)] = told(root)
    assert file == name
    assert message.startswith("no such file")


def test_a_folder_with_nothing_in_it_lacks_all_three(root):
    for path in (root / "problems" / "affine").iterdir():
        path.unlink() if path.is_file() else shutil.rmtree(path)
    assert [file for file, _, _ in told(root)] == ["task.yml", "reference.py", "mutants.py"]


def test_a_yaml_that_cannot_be_read_has_a_line(root):
    edit(root, "task.yml", "title: Scale", "title: [Scale")
    [(file, line, message)] = told(root)
    assert file == "task.yml"
    assert line
    assert message.startswith("not valid YAML")


def test_a_task_that_is_no_mapping_is_told(root):
    (root / "problems" / "affine" / "task.yml").write_text("- 1\n")
    assert messages(root)[0].startswith("a mapping with name, title, ")


def test_what_an_organiser_would_rather_know(root):
    edit(root, "mutants.py", '    """Adds no offset."""\n', "")
    edit(root, "mutants.py", '@MUTANTS.drops("the offset")', "@MUTANTS.add")
    edit(root, "task.yml", "  wide: x times 10", "  wide: x times 10\n  odd: as normal")
    edit(root, "task.yml", ", relative_l2: 1.0e-3", "")
    edit(root, "task.yml", "write_bytes: 4*M*N", "write_bytes: 8*M*N")
    edit(root, "reference.py", 'distribution == "wide"', 'distribution == "width"')
    found = told(root, "warning")
    assert [message for _, _, message in found] == [
        "generate() draws the same inputs for wide as for normal",
        "5 mutants; a problem that is no exercise has 10 or more",
        "mutant offset_missing has no docstring that says its mistake",
        "no mutant drops a term of the formula (MUTANTS.drops), so no term is known to count",
        "distributions.odd: no test and no suite uses it",
        "tolerance: output y has no relative_l2, so small values pass as zeros",
        "tolerance: output y has no margins; harness qualify affine prints them",
        "cost.write_bytes: 4096 at M8_N64 is not what the outputs hold, 2048: every element is written once",
        "no source: say where the mathematics is from",
        "no such file; teams begin with a copy of the starter",
        "does not list affine, so its results are never ranked",
        "no such file; participants read it first",
        "no such file; without Helion kernels no mistake is tried on the whole path",
    ]
    assert stands_at(root, *found[2][:2]).startswith("def offset_missing")


def test_a_cost_that_counts_bytes_twice_is_told(root):
    edit(root, "task.yml", "read_bytes: 4*M*N + 8*M", "read_bytes: 8*M*N")
    assert (
        "cost.read_bytes: 4096 at M8_N64 is more than the inputs hold, 2112: count each byte once, or honest kernels "
        "will be IMPLAUSIBLE" in messages(root, "warning")
    )


STARTER = "def custom_kernel(data):\n    x, scale, offset = data\n    return x * scale + offset\n"


def write_kernels(root, text, starter=STARTER):
    path = root / "submissions" / "starter" / "affine" / "submission.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(starter.encode("latin-1"))
    (root / "problems" / "affine" / "kernels.yml").write_text(text)


def test_kernels_are_held_against_the_starter_and_the_mutants(root):
    write_kernels(root, "kernels:\n  offset_missing:\n    - {replace: ' + offset', by: ''}\n")
    assert told(root) == []
    assert ("kernels.yml", 1, "kernels: 1 wrong ones; a problem has 3 or more") in told(root, "warning")
    write_kernels(root, "kernels:\n  offset_missing:\n    - {replace: ' - offset', by: ''}\n")
    [(file, line, message)] = told(root)
    assert (file, line) == ("kernels.yml", 3)
    assert message.startswith("kernels.offset_missing.0.replace: the starter has it 0 times, it must have it once")
    write_kernels(root, "kernels:\n  offset_mising:\n    - {replace: ' + offset', by: ''}\n")
    assert told(root) == [
        ("kernels.yml", 2, "kernels.offset_mising: neither a mutant of mutants.py nor a precision that is tried")
    ]


def test_every_fault_of_kernels_yml_is_told(root):
    offset = "{replace: ' - offset', by: ''}"
    twice = f"    - {offset}\n    - {offset}\n"
    write_kernels(root, f"kernels:\n  offset_missing:\n    - {offset}\n  offset_mising:\n{twice}")
    missing = "the starter has it 0 times, it must have it once: state the change anew (' - offset')"
    assert told(root) == [
        ("kernels.yml", 3, f"kernels.offset_missing.0.replace: {missing}"),
        ("kernels.yml", 4, "kernels.offset_mising: neither a mutant of mutants.py nor a precision that is tried"),
        ("kernels.yml", 5, f"kernels.offset_mising.0.replace: {missing}"),
        ("kernels.yml", 6, f"kernels.offset_mising.1.replace: {missing}"),
    ]


@pytest.mark.parametrize(
    ("starter", "line", "message"),
    [
        (STARTER.replace("data):", "data)"), 1, "not valid Python: expected ':'"),
        (STARTER + "# \xe9\n", None, "not UTF-8 text"),
        (STARTER.replace("custom_kernel", "kernel"), None, "defines no function custom_kernel(data)"),
        (STARTER.replace("(data)", "()"), 1,
         "custom_kernel() is called as custom_kernel(data): give it these parameters"),
    ],
)  # fmt: skip
def test_a_starter_at_fault_is_told_and_kernels_yml_is_not_blamed_for_it(root, starter, line, message):
    write_kernels(root, "kernels:\n  offset_missing:\n    - {replace: ' - offset', by: ''}\n", starter)
    assert told(root) == [("submission.py", line, message)]


def test_a_starter_may_have_its_kernel_from_another_file(root):
    write_kernels(root, "kernels:\n  offset_missing:\n    - {replace: '*', by: ''}\n", "from affine import *\n")
    assert told(root) == []


README = """# affine

| tensor | shape | dtype | |
|---|---|---|---|
| x, scale | (M, N), (M) | float32 | what is scaled, and by what |
| offset | (M) | float32 | |
| `y` | (M, N) | float32 | returned |

## Tolerance

| output | rtol | atol | relative L2 |
|---|---|---|---|
| `y` | 0.001 | {atol} | 0.001 |

## Inputs

`normal`

## {qualification}

`offset_missing`
"""


def test_what_the_readme_lacks(root):
    path = root / "problems" / "affine" / "README.md"
    path.write_text(README.format(atol="1", qualification="Qualification"))
    found = [(line, message) for file, line, message in told(root, "warning") if file == "README.md"]
    rest = "scale_of_the_first_row, first_call_again, input_returned, all_zero"
    assert found == [
        (9, "has another tolerance for output `y`; the row is | `y` | 0.001 | 0.001 | 0.001 |"),
        (15, "does not mention the distribution `wide`"),
        (19, f"the table of qualification lacks {rest}: print it by harness qualify affine --markdown"),
    ]
    path.write_text(README.format(atol="0.001", qualification="Others").replace("| `y` | 0", "| y | 0"))
    found = [(line, message) for file, line, message in told(root, "warning") if file == "README.md"]
    assert found == [
        (None, "has no section `## Qualification`"),
        (9, "does not state the tolerance for output `y`; the row is | `y` | 0.001 | 0.001 | 0.001 |"),
        (15, "does not mention the distribution `wide`"),
    ]


def test_a_table_of_tensors_that_is_not_task_ymls_is_told(root):
    path = root / "problems" / "affine" / "README.md"
    whole = README.format(atol="0.001", qualification="Qualification")

    def found(text):
        path.write_text(text)
        return [(line, message) for _, line, message in told(root, "warning") if "tensor" in message]

    assert found(whole) == []
    assert found(whole.replace("| offset | (M) | float32", "| offset | (M) | float16")) == [
        (3, "the table of tensors does not have offset as float32, as task.yml declares it")
    ]
    assert found(whole.replace("| x, scale |", "| x, factor |")) == [
        (3, "the table of tensors does not have scale as float32, as task.yml declares it"),
        (3, "the table of tensors has factor, which task.yml does not declare"),
    ]
    assert found(whole.replace("| tensor |", "| what |")) == [
        (None, "has no table of tensors; it begins with | tensor | shape | dtype | |")
    ]


def test_a_season_at_fault_is_told_with_its_line(root):
    path = root / "shapes.yaml"
    path.write_text(path.read_text().replace("targets: [b200, h200]", "targets: [b300]"))
    assert (
        "shapes.yaml",
        4,
        "season.targets.0: unknown target 'b300'; one of b200, h200, h100: did you mean b200?",
    ) in [(file, line, message.split(", a")[0]) for file, line, message in told(root, "warning")]


def test_the_command(root, harness):
    fine = harness("check-problem", "affine", "--json", "--submissions", "10")
    document = json.loads(fine.stdout)
    assert (fine.returncode, document["errors"], document["submissions"]) == (0, 0, 10)
    assert [stage["name"] for stage in document["estimate"]["stages"]] == ["build", "check", "GPU"]
    edit(root, "task.yml", "precision: float32", "precision: exact")
    faulty = harness("check-problem", "affine")
    assert faulty.returncode == 1
    assert faulty.stdout.startswith("problems/affine/task.yml:15: error: precision: one of float32, tf32")
    assert "1 error" in faulty.stdout
    assert "A submission costs" not in faulty.stdout
    unknown = harness("check-problem", "afine")
    assert unknown.returncode == 2
    assert "problems/afine: no such folder; it is named as the problem is, not by an alias" in unknown.stderr


@pytest.mark.parametrize("name", ["chunk_fwd_h", "fp8_quant"])
def test_our_own_problems_have_nothing_to_mend(name):
    assert check_folder(SEASON_ROOT, SEASON_ROOT / "problems" / name, examine) == ()
