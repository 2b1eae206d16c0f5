"""The runner's file as an attacker would write it: refused before its data is read."""

from __future__ import annotations

import json
import os
import struct

import pytest
import safetensors.torch
import torch

from harness.replay.inputs import Request, make_sample
from harness.replay.received import MAX_HEADER_BYTES, OutputError, read_received
from harness.replay.reference import load_reference
from harness.spec import load_problem

from .conftest import PROBLEMS, SHAPE, replay


@pytest.fixture(scope="module")
def problem():
    return load_problem(PROBLEMS / "toy")


@pytest.fixture(scope="module")
def sample(problem):
    return make_sample(load_reference(problem), Request(tuple(SHAPE.items()), "normal", 3))


@pytest.fixture(scope="module")
def good(sample):
    return safetensors.torch.save(replay({str(number): tensor for number, tensor in enumerate(sample.inputs)}))


@pytest.fixture
def refused(problem, sample, tmp_path):
    """Write bytes as the runner's file and return why they are refused."""

    def run(content: bytes) -> str:
        path = tmp_path / "out.safetensors"
        path.write_bytes(content)
        with pytest.raises(OutputError) as caught:
            read_received(path, problem, sample)
        assert caught.value.judgement.reason == "malformed_output"
        assert not caught.value.judgement.passed
        return str(caught.value)

    return run


def document(content: bytes) -> tuple[dict, bytes]:
    length = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def pack(header: dict | bytes, data: bytes) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def test_the_honest_file_is_read(problem, sample, good, tmp_path):
    (tmp_path / "out").write_bytes(good)
    received = read_received(tmp_path / "out", problem, sample)
    assert [tuple(t.shape) for t in received.outputs] == [(2, 64, 8), (2, 4, 8), (2,)]
    assert sorted(received.inputs) == [0, 1, 2, 3]
    assert received.stored == {}
    assert torch.equal(received.inputs[0], sample.inputs[0])


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9])
def test_truncated_in_the_header(refused, good, length):
    assert f"the replay handed back is truncated: {length} bytes" in refused(good[:length])


def test_truncated_in_the_data(refused, good):
    assert f"has {len(good) - 1} bytes where its header makes {len(good)}" in refused(good[:-1])


def test_longer_than_its_header_says(refused, good):
    assert "bytes where its header makes" in refused(good + b"\0")


def test_a_huge_header(refused, good):
    header, data = document(good)
    header["__metadata__"] = {"padding": "x" * MAX_HEADER_BYTES}
    assert "claims a header of" in refused(pack(header, data))
    assert "is truncated" in refused(struct.pack("<Q", 1 << 62) + b"{}")


@pytest.mark.parametrize(
    "text",
    [b"[]", b"1", b"not json", b"\xff\xfe{}", b"[" * 100_000, b'{"0": 1, "0": 2}', b'{"a": ' + b"9" * 5000 + b"}"],
)
def test_a_header_that_is_not_an_object(refused, text):
    assert "has no valid JSON header" in refused(pack(text, b""))


def test_not_safetensors_at_all(refused):
    assert "is truncated" in refused(b"PK\x03\x04" + b"\0\0\0\1" + b"pickle" * 10)


def test_ten_gigabytes_claimed_are_not_read(refused, good):
    header, data = document(good)
    header["input-0"] |= {"shape": [2500, 1000, 1000], "data_offsets": [0, 10_000_000_000]}
    assert "holds input-0 as float32 (2500, 1000, 1000), not float32 (2, 64, 8)" in refused(pack(header, data))


def test_ten_gigabytes_of_sparse_file_are_not_read(problem, sample, good, tmp_path):
    path = tmp_path / "out"
    path.write_bytes(good)
    os.truncate(path, 10_000_000_000)
    with pytest.raises(OutputError, match="has 10000000000 bytes where its header makes"):
        read_received(path, problem, sample)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dtype": "F4"}, "gives tensor input-0 no known dtype or no valid shape"),
        ({"dtype": None}, "gives tensor input-0 no known dtype or no valid shape"),
        ({"shape": [2, 64, -8]}, "gives tensor input-0 no known dtype or no valid shape"),
        ({"shape": [2, 64, 8.0]}, "gives tensor input-0 no known dtype or no valid shape"),
        ({"shape": [True, 64, 8]}, "gives tensor input-0 no known dtype or no valid shape"),
        ({"shape": [1] * 99}, "gives tensor input-0 no known dtype or no valid shape"),
        ({"shape": None}, "gives tensor input-0 no known dtype or no valid shape"),
        ({"dtype": "F64"}, "holds input-0 as float64 (2, 64, 8), not float32 (2, 64, 8)"),
        ({"shape": [64, 2, 8]}, "holds input-0 as float32 (64, 2, 8), not float32 (2, 64, 8)"),
        ({"data_offsets": [0, 1]}, "is not valid safetensors"),
        ({"data_offsets": [0, 4096]}, "is not valid safetensors"),
        ({"data_offsets": "x"}, "is not valid safetensors"),
    ],
)
def test_entries_that_lie(refused, good, change, message):
    header, data = document(good)
    header["input-0"] |= change
    assert message in refused(pack(header, data))


@pytest.mark.parametrize(
    "name", ["extra", "../x", "input-9", "input-x", "stored-0", "01", "-1", "input--1", "\u0661", "5"]
)
def test_tensors_that_nobody_asked_for(refused, good, name):
    header, data = document(good)
    header[name] = {"dtype": "F32", "shape": [0], "data_offsets": [len(data), len(data)]}
    assert f"holds an unexpected tensor, {name!r}" in refused(pack(header, data))


def test_a_missing_input(refused, good):
    tensors = safetensors.torch.load(good)
    del tensors["input-1"]
    assert "lacks input g as it is after the call (input-1)" in refused(safetensors.torch.save(tensors))


@pytest.mark.parametrize("strides", ["", "x", "[1", "{}", "[1.5]", "[-1]", "[" * 5000])
def test_strides_that_are_not_strides(refused, good, strides):
    header, data = document(good)
    header["__metadata__"] = {"strides-0": strides}
    assert "gives tensor 0 strides that are not a list of integers" in refused(pack(header, data))
    header["__metadata__"] = "x"
    assert "has metadata that is not an object" in refused(pack(header, data))


def test_a_link_a_pipe_a_folder_and_nothing(problem, sample, good, tmp_path):
    (tmp_path / "real").write_bytes(good)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name, message in {
        "link": "cannot be opened: Too many levels of symbolic links",
        "pipe": "is not a regular file",
        "folder": "is not a regular file",
        "nothing": "cannot be opened: No such file or directory",
    }.items():
        with pytest.raises(OutputError, match=message):
            read_received(tmp_path / name, problem, sample)


def test_a_mask_of_another_shape(problem, sample, good, tmp_path):
    tensors = safetensors.torch.load(good) | {"stored-0": torch.ones(2, 64, dtype=torch.bool)}
    safetensors.torch.save_file(tensors, tmp_path / "out")
    with pytest.raises(OutputError, match=r"holds stored-0 as bool \(2, 64\), not bool \(2, 64, 8\)"):
        read_received(tmp_path / "out", problem, sample, sampled=True)


def test_hostile_files_through_the_process(toy, tmp_path):
    path = tmp_path / "out"
    path.write_bytes(b"\x80\x04\x95pickle, perhaps")
    judgement = toy.compare(SHAPE, "normal", 1, path)
    assert judgement.reason == "malformed_output"
    assert judgement.message.startswith("the file of outputs that the replay handed back is truncated")
