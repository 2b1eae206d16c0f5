"""A report as Markdown, as annotations and in the log: nothing of the author's is more than text."""

import pytest

from harness.ci.annotations import Mark, list_marks
from harness.ci.change import Fault
from harness.ci.commands import error_command, inert
from harness.ci.markdown import MAX_MARKDOWN, block, code, headline, plain_headline, render_markdown
from harness.ci.report import Check, Report
from harness.cli.ci.log import Log
from harness.cli.progress import PRINTED_LINES
from harness.engine.progress import Event
from tests.ci.hostile import TEXTS, hostile_record
from tests.ci.rendering import assert_harmless, render
from tests.store.samples import checked, incorrect

CHECK = Check("acme", "chunk_fwd_h", "chunk_fwd_h", "b200")


def is_command(line):
    """As GitHub's runner reads a log: the new form at the beginning of a line, the old one anywhere."""
    return line.lstrip().startswith("::") or "##[" in line


@pytest.mark.parametrize("text", TEXTS)
def test_texts_stay_texts(text):
    report = Report("1" * 40, (CHECK,), (hostile_record(text),))
    page = assert_harmless(render_markdown(report))
    assert "INCORRECT" in " ".join(page.code)
    faults = Report("1" * 40, (), (), (text,), (Fault("outside", text, text), Fault("x", "a", text)))
    assert_harmless(render_markdown(faults))
    assert_harmless(code(text))
    assert_harmless(block(text))


@pytest.mark.parametrize("text", TEXTS)
def test_texts_give_no_commands(text):
    lines = inert(text).splitlines()
    assert not any(map(is_command, lines))
    told = error_command(text, path=f"a,b:{text}", line=3, title="x:y,z")
    (line,) = told.splitlines()
    assert line.startswith("::error file=a%2Cb%3A")
    head, _, message = line[len("::error ") :].partition("::")
    assert head.endswith(",line=3,title=x%3Ay%2Cz")
    assert "::" not in head
    assert not any(is_command(part) for part in message.splitlines())


@pytest.mark.parametrize("text", TEXTS)
def test_what_a_submission_prints_is_in_the_log_as_its_own_words(text, capsys):
    Log(quiet=False).hear(Event("trace", "printed", text))
    lines = capsys.readouterr().out.splitlines()
    assert 0 < len(lines) <= PRINTED_LINES + 1
    assert all(line.startswith("  submission | ") and len(line) < 600 for line in lines if line)
    assert not any(map(is_command, lines))


def test_a_text_can_be_read_as_it_was():
    assert "".join(render(code("a_b*c <d> `e` | f")).code) == "a_b*c <d> `e` | f"
    assert "".join(render(block("x < y &amp; z\n\n# no title")).code).strip() == "x < y &amp; z\n\n# no title"


def test_the_report_is_the_terminals(capsys, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)  # pytest's workers have one of their own
    from harness.board.show import render_record
    from harness.cli.output import print_renderable

    record = incorrect("acme")
    print_renderable(render_record(record))
    shown = "".join(render(render_markdown(Report("1" * 40, (CHECK,), (record,)))).code)
    assert capsys.readouterr().out.strip() in shown


def test_markdown_fits_where_it_goes():
    checks = tuple(Check("acme", "chunk_fwd_h", "chunk_fwd_h", target) for target in ("b200", "h200", "h100"))
    records = tuple(hostile_record("<&" * 7000, target=check.target) for check in checks)
    markdown = render_markdown(Report("1" * 40, checks, records))
    assert len(markdown) < MAX_MARKDOWN < 65_535
    assert_harmless(markdown)


@pytest.mark.parametrize(
    ("report", "told"),
    [
        (Report("1", faults=(Fault("x", "a", "b"),)), "**Not taken**: 1 thing to mend. Nothing was run."),
        (Report("1"), "**Nothing to check**: no submission is changed."),
        (Report("1", removed=("submissions/acme/a",)), "**Nothing to check**: submissions are removed"),
        (Report("1", standing=(Fault("x", "a", "b"),)), "**Nothing to check**: no submission is changed."),
        (Report("1", (CHECK,)), "**Not finished**: 1 of 1 checks were not done."),
        (Report("1", (CHECK,), (checked("acme"),)), "**Checked**: right on a CPU and compiled in budget."),
        (Report("1", (CHECK,), (incorrect("acme"),)), "**Fell short**: 1 of 1 checks. What to do is below."),
    ],
)
def test_what_came_of_it_is_the_first_sentence(report, told):
    assert headline(report).startswith(told)
    assert render_markdown(report).startswith(told)
    assert plain_headline(report) == headline(report).replace("**", "")


def test_what_was_wrong_before_is_told_apart():
    report = Report(
        "1", (CHECK,), (checked("acme"),), standing=(Fault("misplaced", "submissions/acme/n.md", "move it"),)
    )
    assert report.good
    page = assert_harmless(render_markdown(report))
    assert "In the base already, and left alone; it does not count against this pull request:" in "".join(page.prose)
    assert {"submissions/acme/n.md", "move it"} <= set(page.code)
    assert list_marks(report) == ()


def test_a_fault_of_a_folder_is_marked_on_a_file_in_it():
    folder = Fault("too_large", "submissions/acme/a", "9 bytes", "submissions/acme/a/b.py")
    (mark,) = list_marks(Report("1", faults=(folder,)))
    assert (mark.path, mark.message) == ("submissions/acme/a/b.py", "submissions/acme/a: 9 bytes")
    (mark,) = list_marks(Report("1", faults=(Fault("too_many_files", "", "401 files"),)))
    assert (mark.path, mark.message) == ("", "401 files")
    assert error_command(mark.message, path=mark.path, line=1, title="x") == "::error title=x::401 files"


def test_a_mark_without_a_file_is_of_the_run(monkeypatch, capsys):
    marks = [Mark("", 1, "not taken", "401 files"), Mark("a/b.py", 3, "INCORRECT", "wrong")]
    for actions in ("false", "true"):
        monkeypatch.setenv("GITHUB_ACTIONS", actions)
        Log(quiet=False).mark(marks)
    assert capsys.readouterr().out.splitlines() == [
        "not taken: 401 files",
        "a/b.py:3: INCORRECT: wrong",
        "::error title=not taken::401 files",
        "::error file=a/b.py,line=3,title=INCORRECT::wrong",
    ]


def test_our_own_faults_are_told_as_ours():
    ours = incorrect("acme")
    ours = type(ours)(**{**vars(ours), "verdict": type(ours.verdict)("HARNESS_ERROR", "engine")})
    assert "counts against nobody" in headline(Report("1", (CHECK,), (ours,)))


def test_marks_are_on_the_line_that_fell_short_once_for_all_targets():
    other = Check("acme", "chunk_fwd_h", "chunk_fwd_h", "h200")
    report = Report("1", (CHECK, other), (incorrect("acme"), incorrect("acme", target="h200")))
    (mark,) = list_marks(report)
    assert (mark.path, mark.line) == ("submissions/acme/chunk_fwd_h/submission.py", 41)
    assert mark.title == "INCORRECT (b200, h200)"
    assert mark.message.startswith("Output h differs from the second chunk on")
    assert list_marks(Report("1", (CHECK,), (checked("acme"),))) == ()
