"""Names of teams that could be mistaken for one another, and the file that names their people."""

import itertools
import shutil

import pytest

from harness.cli.verbs import cli
from harness.errors import SpecError, UsageError
from harness.spec.team import (
    RESERVED,
    describe_letters,
    find_name_fault,
    fold_name,
    load_team,
    look_alike,
    parse_team,
    team_document,
)
from harness.submission import check_team_name
from tests.ci.repository import TEMPLATE


@pytest.mark.parametrize(
    ("name", "like"),
    [
        ("ACME", "acme"),
        ("acrne", "acme"),
        ("\u0430\u0441me", "acme"),  # Cyrillic a and es
        ("\uff41cme", "acme"),  # full width
        ("\u00e0cm\u00e9", "acme"),
        ("ac\u200bme", "acme"),
        ("ac_me", "ac-me"),
        ("ac--me", "ac-me"),
        ("-acme-", "acme"),
        ("vvarp", "warp"),
        ("clog", "dog"),
        ("a1pha", "alpha"),
        ("g0", "go"),
        ("\u03bf\u0440en", "open"),  # Greek omicron, Cyrillic er
        ("5tream", "stream"),
        ("acm3", "acme"),
        ("7e4m", "team"),
        ("c1og", "dog"),
        ("8yte", "byte"),
    ],
)
def test_look_alikes_fold_into_one(name, like):
    assert fold_name(name) == fold_name(like)
    assert (
        find_name_fault(name, [like, "other"]) == f"the name {name!r} looks like that of team {like!r}: choose another"
    )


@pytest.mark.parametrize(("name", "like"), [("1nk", "ink"), ("11m1t", "limit"), ("te1m", "teim"), ("ink", "1nk")])
def test_a_one_is_an_i_too(name, like):
    assert find_name_fault(name, [like]) == f"the name {name!r} looks like that of team {like!r}: choose another"


def test_letters_that_are_not_ascii_are_named():
    assert describe_letters("acme-2") == ""
    assert describe_letters("\u0430c\u0430") == "U+0430 CYRILLIC SMALL LETTER A, which looks like 'a'"
    assert describe_letters("a\u200bb\udc80") == "U+200B ZERO WIDTH SPACE"
    assert describe_letters("\u6838\uff4d") == (
        "U+6838 CJK UNIFIED IDEOGRAPH-6838 and U+FF4D FULLWIDTH LATIN SMALL LETTER M, which looks like 'm'"
    )
    assert describe_letters("".join(map(chr, range(0x4E00, 0x4E10)))).endswith("IDEOGRAPH-4E03 and more")
    with pytest.raises(UsageError, match="or digit; it has U\\+0430 CYRILLIC SMALL LETTER A, which looks like 'a'"):
        check_team_name("\u0430cme")


def test_names_that_differ_stay_apart():
    names = ["acme", "acme2", "ac-me", "name", "nome", "all", "ail", "a", "b", "go", "gone", "warp", "wrap"]
    assert not any(look_alike(a, b) for a, b in itertools.combinations(names, 2))
    assert len({fold_name(name) for name in names}) == len(names)
    assert find_name_fault("acme", ["acme", "acme2"]) is None


@pytest.mark.parametrize("name", RESERVED)
def test_names_of_the_harnesss_own_are_kept(name):
    assert f"the name {name!r} is kept for the harness's own use" in find_name_fault(name, [])


def test_logins_have_no_case(tmp_path):
    team = parse_team(b"logins: [Ada, grace-h]\ntitle: The Analysts\n", "team.yml")
    assert team.has("ADA")
    assert team.has("Grace-H")
    assert not team.has("ad")
    assert load_team(tmp_path, "acme") is None
    assert parse_team(team_document("no").encode(), "team.yml").logins == ("no",)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"logins: [a--b]", "logins.0: a GitHub login is letters and digits"),
        (b"logins: ['-a']", "logins.0: a GitHub login is letters and digits"),
        (b"logins: [a, A]", "logins: a stands twice"),
        (b"logins: ['github-actions[bot]']", "logins.0: a GitHub login is letters and digits"),
        (b"logins: [" + b"a," * 20 + b"b]", "may have 20 entries at most (found 21)"),
        (b"logins: [" + b"a" * 40 + b"]", "may have 39 characters at most"),
        (b"logins: [no]", "logins.0: text is expected (found false)"),
        (b"&a [*a]", "team.yml"),
        (b"logins: 2020-13-45", "team.yml: not valid YAML"),
        (b"!!python/object/apply:os.system [id]", "not valid YAML"),
        (b"logins: !!bool x", "team.yml: not valid YAML: x: this is no bool"),
        (b"logins: !!timestamp x", "this is no timestamp"),
        (b"logins: !!int ''", "this is no int"),
        (b"logins: !!float ''", "this is no float"),
        (b"logins: !!set [1]", "set is not taken: write text, numbers, lists and mappings"),
        (b"logins: !!set {a, b}", "set is not taken"),
        (b"logins: !!omap [a: 1]", "omap is not taken"),
        (b"\xff", "team.yml: not UTF-8 text"),
        (b" " * 5000, "team.yml: has 5,000 bytes; 4,096 are allowed"),
    ],
)
def test_what_is_no_team_file(content, told):
    with pytest.raises(SpecError) as error:
        parse_team(content, "team.yml")
    assert told in str(error.value)


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    shutil.copytree(TEMPLATE, tmp_path / "w")
    monkeypatch.chdir(tmp_path / "w")
    return tmp_path / "w"


def new(*arguments):
    return cli.main(["new", "scale", "--team", *arguments], standalone_mode=False)


def test_new_writes_a_teams_people_when_asked(workspace, capsys):
    assert new("acme") == 0
    assert (
        "A pull request needs submissions/acme/team.yml too, with a line such as `logins: [" in capsys.readouterr().out
    )
    assert load_team(workspace, "acme") is None
    assert new("zeta", "--login", "Zoe-1") == 0
    assert "team.yml" not in capsys.readouterr().out
    assert load_team(workspace, "zeta").logins == ("Zoe-1",)
    with pytest.raises(UsageError, match="the name 'acrne' looks like that of team 'acme'"):
        new("acrne")
    with pytest.raises(UsageError, match="--login a b: logins.0: a GitHub login is letters"):
        new("other", "--login", "a b")
    assert not (workspace / "submissions" / "other").exists()
