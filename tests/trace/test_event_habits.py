"""What existing event submissions do: each builds, or fails with a reason in the author's terms."""

from __future__ import annotations

from pathlib import Path

from harness.plan import ConstantStep, Descriptor, LaunchStep, Tensor
from tests.trace.conftest import SUBMISSIONS, Trace, ops


def test_plainest(trace: Trace) -> None:
    traced = trace("vector_add")
    plan = traced.plan()
    assert ops(plan) == ["aten.empty_like.default", "launch _helion_add_one"]
    (launch,) = plan.launches
    assert (launch.origin, launch.grid, launch.line) == ("helion", (4, 1, 1), 21)
    assert [(a.name, a.type, a.value) for a in launch.args] == [("x", "*fp32", Tensor(0)), ("out", "*fp32", Tensor(1))]
    assert "def _helion_add_one(" in traced.source(launch)
    kernel = traced.kernel(launch)
    assert kernel["name"] == "_helion_add_one"
    assert kernel["params"] == ["*fp32", "*fp32"]
    assert kernel["options"] == {"num_stages": 1}
    assert "loc(" not in kernel["ttir"]
    assert plan.outputs == (1,)
    assert plan.output_kind == "tensor"
    assert not traced.warnings


def test_table_of_kernels_with_fallback(trace: Trace) -> None:
    traced = trace("kernel_table", shapes={"N256": ([256],), "N512": ([512],), "N96": ([96],)})
    launches = [traced.plan(shape).launches[0] for shape in ("N256", "N512", "N96")]
    assert [launch.grid[0] for launch in launches] == [4, 4, 3]
    assert [traced.kernel(launch)["options"].get("num_warps", 4) for launch in launches] == [2, 8, 1]


def test_lazy_kernels_and_decorator_in_a_variable(trace: Trace) -> None:
    plan = trace("lazy_kernels").plan()
    assert plan.output_kind == "tuple"
    assert plan.launches[0].grid == (2, 1, 1)


def test_first_of_several_configs(trace: Trace) -> None:
    traced = trace("many_configs")
    assert traced.plan().launches[0].grid == (8, 1, 1)
    assert traced.warnings == ["kernel negate has 2 configs; the first is taken: nothing is tuned in evaluation"]


def test_runner_from_compile_config(trace: Trace) -> None:
    assert ops(trace("compiled_runner").plan()) == ["aten.empty_like.default", "launch _helion_square"]


def test_work_at_import_is_part_of_every_call(trace: Trace) -> None:
    plan = trace("work_at_import", [64, 64]).plan()
    assert ops(plan) == [
        "aten.ones.default",
        "aten.tril.default",
        "constant",
        "aten.empty_like.default",
        "launch _helion_masked",
    ]
    assert plan.import_steps == 3
    (constant,) = (step for step in plan.steps if isinstance(step, ConstantStep))
    assert len(constant.data) == 256
    assert constant.line == 18


def test_cached_mask_and_torch_operators(trace: Trace) -> None:
    plan = trace("cached_mask", shapes={"A": ([40, 48],), "B": ([24, 48],)}).plan("B")
    names = ops(plan)
    assert plan.import_steps == 0
    assert names.count("aten.tril.default") == 1
    assert [n for n in names if n.startswith("launch")] == ["launch _helion_apply_mask", "launch _helion_row_sum"]
    assert names[0] == "aten.constant_pad_nd.default"
    assert names[-2:] == ["aten.cat.default", "aten._to_copy.default"]
    assert plan.tensors[plan.outputs[0]].dtype == "bfloat16"


def test_inline_triton(trace: Trace) -> None:
    traced = trace("inline_triton")
    (launch,) = traced.plan().launches
    assert "arith.maxnumf" in traced.kernel(launch)["ttir"]
    assert "tl.maximum" in traced.source(launch)
    assert ("bound", "fp32", 0.25) in [(a.name, a.type, a.value) for a in launch.args]


def test_outputs_in_place_through_views(trace: Trace) -> None:
    plan = trace("in_place_views", [16, 256], [16, 256], [16, 4]).plan()
    assert plan.inputs == (0, 1, 2)
    assert plan.outputs == (1, 2)
    assert ops(plan) == ["aten.view.default"] * 3 + ["launch _helion_quantise"]


def test_dynamic_shapes_are_arguments(trace: Trace) -> None:
    plan = trace("dynamic_shapes", [100, 200], [100, 200]).plan()
    types = {a.name: (a.type, a.value) for a in plan.launches[0].args}
    assert types["out_stride_0"] == ("i32", 200)
    assert len(types) == 9


def test_heuristics_choose_without_a_warning(trace: Trace) -> None:
    traced = trace("heuristics")
    assert traced.plan().launches[0].origin == "helion"
    assert traced.warnings == []


def test_effort_without_config_is_not_tuned(trace: Trace) -> None:
    traced = trace("quick_effort")
    assert traced.plan().launches[0].origin == "helion"
    chosen = "helion.Config(block_sizes=[256], num_stages=1, num_warps=4)"
    assert traced.warnings == [
        f"kernel double has no config for [256]; Helion's heuristics choose {chosen}: nothing is tuned in evaluation"
    ]


def test_raw_triton_launches(trace: Trace) -> None:
    traced = trace("raw_triton", [1000])
    plan = traced.plan()
    assert ops(plan) == ["aten.empty_like.default", "launch add_kernel", "launch twice_kernel"]
    add, twice = plan.launches
    assert [(a.name, a.type, a.value) for a in add.args] == [
        ("x_ptr", "*fp32", Tensor(0)),
        ("out_ptr", "*fp32", Tensor(1)),
        ("n", "i32", 1000),
        ("alpha", "fp32", 1.5),
        ("BLOCK", "constexpr", 128),
        ("EVEN", "constexpr", False),
    ]
    assert add.origin == twice.origin == "triton"
    assert (add.grid, twice.grid) == ((8, 1, 1), (16, 1, 1))
    assert traced.kernel(add)["options"] == {"num_warps": 8, "num_stages": 2}
    assert traced.kernel(add)["params"] == ["*fp32", "*fp32", "i32", "fp32"]
    assert [a.type for a in twice.args] == ["*fp32", "i32", "constexpr", "constexpr"]  # 1 becomes a constant
    assert "def add_kernel(" in traced.source(add)
    end = next(event for event in traced.events if event["event"] == "traced")
    assert end["empty_launches"] == [
        "kernel twice_kernel is launched at line 30 with a grid of 0 programs, (0, 1, 1), which runs nothing"
    ]


def test_tensor_descriptors_and_persistent_grid(trace: Trace) -> None:
    (launch,) = trace("descriptors", [256, 512]).plan().launches
    assert launch.grid == (148, 1, 1)
    descriptors = [a for a in launch.args if isinstance(a.value, Descriptor)]
    assert [(a.name, a.type) for a in descriptors] == [("out_desc", "tensordesc<fp32[64, 64]>")]
    assert descriptors[0].value == Descriptor(Tensor(1), (256, 512), (512, 1), (64, 64))


def test_grid_barrier_is_a_cooperative_launch(trace: Trace) -> None:
    traced = trace("grid_barrier", [4096])
    (launch,) = traced.plan().launches
    assert traced.kernel(launch)["options"] == {"num_stages": 1, "launch_cooperative_grid": True}
    assert ("x_grid_sem", "*u32") in [(a.name, a.type) for a in launch.args]


def test_environment_variables(trace: Trace) -> None:
    traced = trace("environment")
    assert ops(traced.plan())[-1] == "launch _helion_copy"
    named = [text.split()[2] for text in traced.warnings]
    assert named == ["ENABLE_TILE", "HELION_AUTOTUNE_EFFORT", "TRITON_CACHE_DIR", "TRITON_INTERPRET"]
    assert "has no effect here" in traced.warnings[0]


def test_controls_file_of_the_season(trace: Trace) -> None:
    traced = trace("controls", advanced_controls={"/opt/acf/booster.bin": "booster-1"})
    assert traced.kernel(traced.plan().launches[0])["options"]["advanced_controls"] == "booster-1"


def test_controls_file_of_ones_own(trace: Trace) -> None:
    failure = trace("controls").failure()
    assert failure["reason"] == "advanced_controls"
    assert "'/opt/acf/booster.bin' is not one that this season provides (none)" in failure["message"]


def test_controls_file_written_at_import(trace: Trace, tmp_path: Path) -> None:
    path = tmp_path / "own.acf"
    source = (SUBMISSIONS / "controls.py").read_text().replace("/opt/acf/booster.bin", str(path))
    source = source.replace("import torch\n", f"import torch\nopen({str(path)!r}, 'w').write('x')\n", 1)
    failure = trace(source, advanced_controls={"/opt/acf/booster.bin": "booster-1"}).failure()
    assert failure["reason"] == "advanced_controls"
    assert f"{str(path)!r} is not one that this season provides (/opt/acf/booster.bin)" in failure["message"]


def test_key_that_the_target_lacks(trace: Trace) -> None:
    inputs = ([128, 128], "float16"), ([128, 128], "float16")
    assert isinstance(trace("warp_specialised", *inputs).plan().steps[-1], LaunchStep)
    failure = trace("warp_specialised", *inputs, target="h200").failure()
    assert failure["reason"] == "config_error"
    assert "config key range_warp_specializes does not exist for h200: it exists for b200" in failure["message"]
    assert "--portable" in failure["message"]


def test_portable_drops_such_keys(trace: Trace) -> None:
    inputs = ([128, 128], "float16"), ([128, 128], "float16")
    traced = trace("warp_specialised", *inputs, target="h200", portable=True)
    assert traced.plan().launches
    assert traced.warnings == [
        "config key range_warp_specializes does not exist for NVIDIA H200 and was dropped (portable)"
    ]


def test_key_of_another_build_of_triton(trace: Trace) -> None:
    failure = trace("tileir_key").failure()
    assert failure["reason"] == "config_error"
    assert "config key occupancy does not exist for b200: it belongs to Triton's TileIR build" in failure["message"]
    assert trace("tileir_key", portable=True).plan().launches


def test_wrong_number_of_config_values(trace: Trace) -> None:
    failure = trace("too_many_sizes").failure()
    assert failure["reason"] == "config_error"
    assert "Too many values for config['block_sizes'], expected 1, got 2" in failure["message"]
    assert failure["traceback"][-1]["text"] == "return copy(data[0])"


def test_bool_for_a_list_of_one(trace: Trace) -> None:
    traced = trace("bool_for_list", ([128, 128], "float16"), ([128, 128], "float16"))
    assert traced.plan().launches[0].origin == "helion"
