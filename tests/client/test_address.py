"""Where a service may be, and where a token may come from."""

from __future__ import annotations

import keyring
import pytest
from keyring.backends import null

from harness.client.address import parse_address
from harness.client.tokens import find_token, token_file
from harness.errors import UsageError


@pytest.mark.parametrize(
    ("text", "url", "name", "local"),
    [
        ("https://board.example.org", "https://board.example.org", "board.example.org", False),
        (" https://Board.example.org/ ", "https://board.example.org", "board.example.org", False),
        ("https://example.org:8443/kernels/", "https://example.org:8443/kernels", "example.org:8443", False),
        ("http://localhost:8765", "http://localhost:8765", "localhost:8765", True),
        ("http://127.0.0.1", "http://127.0.0.1", "127.0.0.1", True),
        ("http://[::1]:80/", "http://[::1]:80", "[::1]:80", True),
    ],
)
def test_an_address(text, url, name, local):
    address = parse_address(text)
    assert (address.url, address.name, address.local) == (url, name, local)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("http://board.example.org", "http://board.example.org is not encrypted: everybody on the way could read your "
         "token, and change what you are shown. Use https://board.example.org"),
        ("http://127.0.0.1.example.org", "is not encrypted"),
        ("http://10.0.0.1:80", "is not encrypted"),
        ("board.example.org", "is not an address: an address is https://HOST, or http://localhost:PORT"),
        ("ftp://board.example.org", "'ftp://board.example.org' is not an address"),
        ("https://", "is not an address"),
        ("https://host:port", "is not an address"),
        ("https://[::1", "is not an address"),
        ("https://ho st", "is not an address"),
        ("https://host\x1b[31m/", "is not an address"),
        ("https://host/?token=hel_x", "leave what follows ? or # out of the address"),
    ],
)  # fmt: skip
def test_what_is_no_address(text, told):
    with pytest.raises(UsageError) as refused:
        parse_address(text)
    assert told in str(refused.value)
    assert "\x1b" not in str(refused.value)


def test_a_secret_in_an_address_is_refused_and_not_repeated():
    with pytest.raises(UsageError) as refused:
        parse_address("https://acme:hel_secret@board.example.org")
    assert "a token belongs in a file" in str(refused.value)
    assert "hel_secret" not in str(refused.value)


ADDRESS = parse_address("https://board.example.org")


@pytest.fixture
def environ(tmp_path):
    return {"XDG_CONFIG_HOME": str(tmp_path)}


def keep(path, text, mode=0o600):
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


def test_a_token_is_in_the_servers_file_or_in_the_one_that_is_named(environ, tmp_path):
    keep(token_file(ADDRESS, environ), "hel_of_the_server\n")
    found = find_token(ADDRESS, environ)
    assert (found.text, found.place) == ("hel_of_the_server", str(tmp_path / "helion-harness/board.example.org.token"))
    assert "hel_of" not in repr(found)
    keep(tmp_path / "mine", "hel_named")
    assert find_token(ADDRESS, {**environ, "HARNESS_TOKEN_FILE": str(tmp_path / "mine")}).text == "hel_named"


def test_a_token_for_one_server_is_not_for_another(environ):
    keep(token_file(ADDRESS, environ), "hel_of_the_server")
    with pytest.raises(UsageError) as refused:
        find_token(parse_address("https://evil.example.org"), environ)
    told = str(refused.value)
    assert "there is no token for evil.example.org" in told
    assert "umask 077; cat > " in told
    assert "HARNESS_TOKEN_FILE" in told
    assert "keyring set helion-harness evil.example.org" in told


def test_a_token_in_the_keyring(environ):
    kept = {("helion-harness", "board.example.org"): "hel_in_the_keyring"}

    class Kept(null.Keyring):
        def get_password(self, service, username):
            return kept.get((service, username))

    keyring.set_keyring(Kept())  # the fixture of every test here takes it out again
    found = find_token(ADDRESS, environ)
    assert (found.text, found.place) == ("hel_in_the_keyring", "the keyring")


@pytest.mark.parametrize(
    ("text", "mode", "told"),
    [
        ("hel_token", 0o644, "others can read the token in {path}: chmod 600 {path}"),
        ("hel_token", 0o640, "others can read the token in {path}"),
        ("", 0o600, "{path} holds no token: it is one word"),
        ("hel_one\nhel_two", 0o600, "{path} holds no token, but more than one word: keep the one that"),
        ("hel_x\r\nX-Evil: 1", 0o600, "{path} holds no token"),
        ("hel_" + "x" * 5000, 0o600, "{path} holds no token"),
    ],
)
def test_a_file_that_is_not_used(environ, text, mode, told):
    path = token_file(ADDRESS, environ)
    keep(path, text, mode)
    with pytest.raises(UsageError) as refused:
        find_token(ADDRESS, environ)
    assert told.format(path=path) in str(refused.value)


def test_a_file_that_is_not_there(environ, tmp_path):
    with pytest.raises(UsageError, match="cannot read the token in .*gone: No such file"):
        find_token(ADDRESS, {**environ, "HARNESS_TOKEN_FILE": str(tmp_path / "gone")})
    with pytest.raises(UsageError, match="cannot read the token in .*: Is a directory"):
        find_token(ADDRESS, {**environ, "HARNESS_TOKEN_FILE": str(tmp_path)})
