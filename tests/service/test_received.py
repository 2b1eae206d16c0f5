"""What arrives as a submission: taken as it is on disk, or refused before anything of it is kept."""

from __future__ import annotations

import base64
import json

import pytest

from harness.service.errors import RefusedError
from harness.service.received import pack_files, parse_received, unpack_files
from harness.submission import MAX_FILE_BYTES, MAX_FILES, MAX_MAIN_BYTES, load_submission

MAIN = "submission.py"
SOURCE = b"def custom_kernel(data): ..."


def encoded(**files):
    return {name: base64.b64encode(content).decode() for name, content in files.items()}


def body(files=None, **fields):
    files = {MAIN: base64.b64encode(SOURCE).decode()} if files is None else files
    return json.dumps({"format": 1, "problem": "scale", "files": files, **fields}).encode()


def refused(document):
    with pytest.raises(RefusedError) as caught:
        parse_received(document)
    return caught.value.status, str(caught.value)


def test_a_folder_arrives_as_it_is_on_disk(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / MAIN).write_bytes(SOURCE)
    (tmp_path / "parts" / "tile.py").write_bytes(b"WIDTH = 16\n")
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "x.pyc").write_bytes(b"junk")
    files = {str(p.relative_to(tmp_path)): p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    received = parse_received(body(encoded(**files), target="b200"))
    assert received.submission("acme").sha256 == load_submission(tmp_path, "acme").sha256
    assert (received.problem, received.target, received.suite) == ("scale", "b200", "default")
    assert unpack_files(pack_files(received.files)) == received.files


def test_the_digest_is_of_all_that_is_asked():
    plain = parse_received(body())
    assert plain.digest == parse_received(body(suite="default")).digest
    others = [body(target="b200"), body(problem_version="1"), body(encoded(**{MAIN: SOURCE + b" "}))]
    assert len({plain.digest, *(parse_received(other).digest for other in others)}) == 4


@pytest.mark.parametrize(
    "name",
    [
        "../x.py",
        "/etc/x",
        "a/../b",
        "a//b",
        ".",
        "..",
        "a/b/c/d/e",
        "x" * 130,
        "a\nb",
        "a\\b",
        "ü.py",
        "a\0b",
        "",
        "a/",
        "C:x",
    ],
)
def test_bad_names(name):
    status, told = refused(body({**encoded(**{MAIN: SOURCE}), name: ""}))
    assert status == 422
    assert "is allowed; rename it" in told


@pytest.mark.parametrize(
    ("document", "status", "message"),
    [
        (b"{", 400, "the body is not a JSON document"),
        (b"\xff", 400, "the body is not a JSON document"),
        (b"[1]", 400, "the body should be a JSON object"),
        (b'{"format": 1, "format": 1}', 400, "a name is given twice"),
        (b'{"format": NaN}', 400, "NaN is not JSON"),
        (b"[" * 100_000, 400, "nested too deeply"),
        (b'{"format": 2}', 400, "`format` should be 1"),
        (body(evil=1), 400, "unknown member 'evil'"),
        (body(problem=""), 400, "`problem` is missing"),
        (body(problem="../x"), 400, "`problem` should be a name of letters"),
        (body(target=["b200"]), 400, "`target` should be a name of letters"),
        (body([]), 400, "`files` should be an object"),
        (body({MAIN: "no base64!"}), 400, "is not base64"),
        (body({MAIN: 7}), 400, "is not base64"),
        (body(encoded(other=SOURCE)), 422, "there is no submission.py among the files"),
        (body(encoded(**{MAIN: b"#" * (MAX_MAIN_BYTES + 1)})), 413, "submission.py has 262,145 bytes; 262,144"),
        (body(encoded(**{MAIN: SOURCE, "w.bin": bytes(MAX_FILE_BYTES + 1)})), 413, "'w.bin' has 1,048,577 bytes"),
        (body(encoded(**{f"{i}.py": b"" for i in range(MAX_FILES + 1)})), 413, "65 files; 64 are allowed"),
        (
            body(encoded(**{MAIN: SOURCE}, **{f"{i}.bin": bytes(MAX_FILE_BYTES) for i in range(8)})),
            413,
            "more than 8 MiB together",
        ),
        (body(encoded(**{MAIN: SOURCE, "a": b"", "a/b": b""})), 422, "a/b: a file lies below another file"),
    ],
)  # fmt: skip
def test_what_is_no_submission(document, status, message):
    found, told = refused(document)
    assert found == status
    assert message in told
