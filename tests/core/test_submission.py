"""Submissions as text: where they lie, what is refused before anything runs, and their identity."""

import ast
import hashlib
import os

import pytest

from harness.errors import SubmissionError, UsageError
from harness.submission import find_source_fault, find_submission, load_submission

KERNEL = "#!POPCORN leaderboard softmax\n#!POPCORN gpus B200\ndef custom_kernel(data):\n    return data\n"


def write(tmp_path, text=KERNEL, team="acme", problem="softmax"):
    folder = tmp_path / "submissions" / team / problem
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "submission.py"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_found_by_team_and_problem_or_alias(tmp_path):
    write(tmp_path, problem="softmax_py")
    found = find_submission(tmp_path, "acme", "softmax", ("softmax_py",))
    assert found.team == "acme"
    assert dict(found.headers) == {"leaderboard": "softmax", "gpu": "B200"}
    assert find_source_fault(found) is None


def test_unknown_team_suggests(tmp_path):
    write(tmp_path)
    told = r"no team 'acmee'.*Did you mean acme\? To begin: make new PROBLEM=softmax TEAM=acmee"
    with pytest.raises(UsageError, match=told):
        find_submission(tmp_path, "acmee", "softmax")


def test_missing_submission_says_how_to_begin(tmp_path):
    write(tmp_path)
    with pytest.raises(UsageError, match=r"no submissions/acme/conv/submission.py\. .*make new PROBLEM=conv TEAM=acme"):
        find_submission(tmp_path, "acme", "conv")


@pytest.mark.parametrize("team", ["../evil", "A", "", "a/b", "x" * 40, "-x", "a\nb", "аcme", "a b"])
def test_team_names_are_plain(tmp_path, team):
    with pytest.raises(UsageError, match="team name .* is not valid: use 1 to 39 of a-z"):
        find_submission(tmp_path, team, "softmax")


def test_links_are_refused(tmp_path):
    path = write(tmp_path)
    (path.parent / "extra.py").symlink_to("/etc/passwd")
    with pytest.raises(SubmissionError, match=r"extra.py is a link; .* copy the file instead"):
        load_submission(path, "acme")
    target = path.rename(path.with_name("real.py"))
    path.symlink_to(target)
    with pytest.raises(SubmissionError, match=r"submission.py is a link"):
        load_submission(path, "acme")


def test_what_is_no_file(tmp_path):
    with pytest.raises(SubmissionError, match="no such file"):
        load_submission(tmp_path / "none.py", "acme")
    os.mkfifo(tmp_path / "pipe.py")
    with pytest.raises(SubmissionError, match="not a regular file"):
        load_submission(tmp_path / "pipe.py", "acme")


def test_size_limits(tmp_path):
    path = write(tmp_path, "#" * ((1 << 20) + 1))
    with pytest.raises(SubmissionError, match="1,048,577 bytes; 1,048,576 are allowed"):
        load_submission(path, "acme")
    path = write(tmp_path)
    for i in range(65):
        (path.parent / f"f{i}.py").write_text("")
    with pytest.raises(SubmissionError, match="more than 64 files"):
        load_submission(path, "acme")


def test_odd_file_names_are_refused(tmp_path):
    path = write(tmp_path)
    (path.parent / "a\nb.py").write_text("")
    with pytest.raises(SubmissionError, match="must be printable ASCII"):
        load_submission(path, "acme")


def test_identity_covers_the_folder_and_not_the_cache(tmp_path):
    path = write(tmp_path)
    first = load_submission(path, "acme").sha256
    (path.parent / "__pycache__").mkdir()
    (path.parent / "__pycache__" / "x.pyc").write_bytes(b"1")
    assert load_submission(path, "acme").sha256 == first
    (path.parent / "tables.py").write_text("A = 1\n")
    assert load_submission(path, "acme").sha256 != first


def test_normalised_identity_ignores_comments_and_layout(tmp_path):
    one = load_submission(write(tmp_path, KERNEL), "acme")
    two = load_submission(write(tmp_path, '"""Mine."""\ndef custom_kernel( data ):  # x\n\n    return data\n'), "acme")
    three = load_submission(write(tmp_path, KERNEL.replace("return data", "return 1")), "acme")
    assert one.normalised_sha256 == two.normalised_sha256 != three.normalised_sha256
    # Stored records have this value: runs of before stay runs of the same program.
    assert one.normalised_sha256 == hashlib.sha256(ast.dump(ast.parse(KERNEL)).encode()).hexdigest()


def program_of(folder, **files):
    """Return the identity of a program whose submission.py imports everything from kern.py."""
    path = write(folder, "from kern import custom_kernel\n")
    for name, content in files.items():
        path.with_name(name.replace("_", ".")).write_bytes(content)
    return load_submission(path, "acme").normalised_sha256


def test_the_modules_beside_it_are_part_of_the_program(tmp_path):
    kernel = KERNEL.encode()
    reformatted = b'"""Mine."""\ndef custom_kernel( data ):  # x\n\n    return data\n'
    programs = [program_of(tmp_path / str(n), kern_py=text) for n, text in enumerate((kernel, reformatted))]
    assert programs[0] == programs[1]
    others = [
        program_of(tmp_path / "improved", kern_py=kernel.replace(b"return data", b"return data[0]")),
        program_of(tmp_path / "elsewhere", lib_py=kernel),
        program_of(tmp_path / "table", kern_py=kernel, table_json=b"[1]"),
        program_of(tmp_path / "spaced", kern_py=kernel, table_json=b"[ 1]"),
        program_of(tmp_path / "broken", kern_py=b"def custom_kernel(data:\n"),
    ]
    assert len({programs[0], *others}) == 1 + len(others)


def test_a_module_in_another_encoding_counts_byte_by_byte(tmp_path):
    """In UTF-7 the comments below hold code: a line's end, and what is returned."""
    texts = [b"# coding: utf-7\n#+AAo-x = %d\n" % value for value in (1, 2)]
    assert len({program_of(tmp_path / str(n), kern_py=text) for n, text in enumerate(texts)}) == 2


def test_much_python_counts_byte_by_byte(tmp_path):
    """What hostile text takes to parse is bounded by what submission.py alone may take."""
    texts = [b"# " + b"x" * n + b"\n" for n in (1, 256 << 10)]
    texts.append(texts[1] + b"#\n")
    programs = [program_of(tmp_path / str(n), kern_py=text) for n, text in enumerate([b"# y\n", *texts])]
    assert programs[0] == programs[1]
    assert len(set(programs)) == 3


@pytest.mark.parametrize(
    ("source", "reason", "told", "line"),
    [
        (b"x = '\xff'\n", "not_utf8", "not UTF-8 text (byte 5): save it as UTF-8", 1),
        (b"x = 1\n\0\n", "not_text", "NUL byte", 2),
        (b"def custom_kernel(data:\n", "syntax_error", "never closed", 1),
        (b"x = 1\n", "missing_custom_kernel", "must define custom_kernel(data)", 0),
        (b"\ndef custom_kernel():\n    pass\n", "wrong_signature", "one argument, data", 2),
        (b"def custom_kernel(a, b):\n    pass\n", "wrong_signature", "one argument, data", 1),
        (b"def custom_kernel(a, *, b):\n    pass\n", "wrong_signature", "one argument, data", 1),
        (b"async def custom_kernel(a):\n    pass\n", "wrong_signature", "plain function", 1),
        (b"custom_kernel = " + b"(" * 5000 + b"1" + b")" * 5000, "syntax_error", "", 0),
    ],
)
def test_source_faults(tmp_path, source, reason, told, line):
    fault = find_source_fault(load_submission(write(tmp_path, source), "acme"))
    assert fault is not None
    assert fault.reason == reason
    assert told in fault.message
    assert line in (0, fault.line)


@pytest.mark.parametrize(
    "source",
    ["def custom_kernel(data, scale=1): ...", "custom_kernel = make()", "from k import custom_kernel",
     "def custom_kernel(*args): ..."],
)  # fmt: skip
def test_what_can_be_a_submission(tmp_path, source):
    assert find_source_fault(load_submission(write(tmp_path, b"\xef\xbb\xbf" + source.encode()), "acme")) is None
    assert find_source_fault(load_submission(write(tmp_path, source), "acme")) is None
