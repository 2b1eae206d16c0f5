"""The plan's document: what goes through unchanged, and what is refused."""

import copy
import json
import math

import pytest

from harness.errors import ArtifactError
from harness.plan import (
    Argument,
    ConstantStep,
    Descriptor,
    LaunchStep,
    Named,
    OpStep,
    Plan,
    Tensor,
    TensorMeta,
    encode_plan,
    parse_plan,
)

KEY, SOURCE = "a" * 64, "b" * 64
FLOAT = TensorMeta((4, 8), (8, 1), "float32")
PLAN = Plan(
    shape_id="M4_N8",
    tensors=(FLOAT, FLOAT, TensorMeta((2,), (1,), "int32")),
    inputs=(0,),
    outputs=(1,),
    output_kind="tensor",
    steps=(
        ConstantStep(Tensor(2), b"\1\0\0\0\2\0\0\0", 3),
        OpStep(
            "aten.empty_strided.default",
            ((4, 8), (8, 1)),
            (("dtype", Named("dtype", "float32")), ("fill", math.inf), ("none", None), ("flag", True)),
            (Tensor(1),),
            7,
        ),
        LaunchStep(
            KEY,
            SOURCE,
            "_helion_k",
            (2, 1, 1),
            (
                Argument("x", "*fp32", Tensor(0)),
                Argument("d", "tensordesc<fp32[4, 8]>", Descriptor(Tensor(1), (4, 8), (8, 1), (4, 8))),
                Argument("BLOCK", "constexpr", 64),
            ),
            "helion",
            9,
        ),
    ),
    import_steps=1,
)


def document():
    return json.loads(json.dumps(encode_plan(PLAN)))


def test_round_trip():
    assert parse_plan(document()) == PLAN


def edited(path, value):
    changed = copy.deepcopy(document())
    place = changed
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    return changed


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (["format"], 99, "plan format 99"),
        (["shape_id"], "../x", "shape_id"),
        (["extra"], 1, "unknown field, 'extra'"),
        (["tensors", 0, 0], [-1, 8], "from 0 to"),
        (["tensors", 0, 0], [1 << 30, 1 << 30], "elements"),
        (["tensors", 0, 2], "float33", "dtype"),
        (["tensors", 0, 1], [1], "1 strides"),
        (["inputs"], [9], "inputs"),
        (["inputs"], [0, 0], "listed twice"),
        (["outputs"], [True], "outputs"),
        (["output_kind"], "dict", "output_kind"),
        (["import_steps"], 4, "import_steps"),
        (["steps", 1, "op"], "aten.empty", "op"),
        (["steps", 1, "op"], "__import__('os').system", "op"),
        (["steps", 1, "outs"], [0], "redefines tensor"),
        (["steps", 1, "args"], [{"tensor": 77}], "tensor number"),
        (["steps", 1, "args"], [{"tensor": 1}], "before it is defined"),
        (["steps", 1, "args"], [{"tensor": 0, "dtype": "x"}], "exactly one key"),
        (["steps", 1, "args"], [{"pickle": "x"}], "unknown kind"),
        (["steps", 1, "args"], [[[[[[[[[1]]]]]]]]], "nested too deeply"),
        (["steps", 1, "args"], [2**70], "integer"),
        (["steps", 1, "args"], ["x" * 300], "300 characters"),
        (["steps", 1, "kwargs"], {"a b": 1}, "kwargs"),
        (["steps", 0, "data"], "%%%", "base64"),
        (["steps", 2, "launch"], "xyz", "launch"),
        (["steps", 2, "source"], "../../etc/passwd", "source"),
        (["steps", 2, "function"], "os.system", "function"),
        (["steps", 2, "grid"], [0, 1, 1], "grid"),
        (["steps", 2, "grid"], [2**31, 1, 1], "grid"),
        (["steps", 2, "grid"], [1, 65536, 1], "grid"),
        (["steps", 2, "grid"], [1, 1], "three sizes"),
        (["steps", 2, "origin"], "cuda", "origin"),
        (["steps", 2, "args", 0], ["x", "*fp32"], "exactly 3"),
        (["steps", 2, "line"], -1, "line"),
        (["steps"], [{}] * 5000, "at most 4096"),
        (["steps"], {"0": 1}, "must be a list"),
    ],
)
def test_hostile_documents_are_refused_by_place(path, value, told):
    with pytest.raises(ArtifactError, match="plan") as error:
        parse_plan(edited(path, value))
    assert told in str(error.value)


@pytest.mark.parametrize("value", [None, 3, "x", [], {}, {"format": 1}])
def test_what_is_no_plan_at_all(value):
    with pytest.raises(ArtifactError):
        parse_plan(value)


def test_an_output_that_is_never_defined():
    changed = document()
    changed["steps"] = []
    changed["import_steps"] = 0
    with pytest.raises(ArtifactError, match="output tensor 1 is never defined"):
        parse_plan(changed)
