"""As much of GitHub's API as an answer needs, on a free port: it reads the pull request out of a real repository.

What is sent to it is kept, and held against the published schema. It refuses what GitHub refuses: no token, a token
that is sent where files lie, and a body that is too long.
"""

import base64
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import jsonschema

from tests.ci.repository import git

TOKEN = "a-token-that-may-write"
SCHEMAS = json.loads((Path(__file__).parent / "github_schema.json").read_text())
REPOSITORY = "/repos/ada/competition"
WRITES = {
    ("POST", r"check-runs"): "checks/create",
    ("POST", r"issues/\d+/comments"): "issues/create-comment",
    ("PATCH", r"issues/comments/\d+"): "issues/update-comment",
}


class FakeGitHub:
    """A repository, its open pull request 7, and the artifacts of run 4711."""

    def __init__(self, origin, head, author):
        self.origin, self.head, self.author = origin, head, author
        self.artifacts = {}
        self.comments = []
        self.checks = []
        self.requests = []
        self.open = True
        self.moved_to = None
        self.failures = 0
        self.cut_trees = False
        self.mergeable = True
        self.merges_after = 0  # so many answers say that the trial merge is not made yet
        self.elsewhere = False  # whether the same head is proposed for another branch too, by pull request 6
        self.lost_files = 0  # so many downloads break off
        self.merge = None
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

    @property
    def written(self):
        return [(method, path) for method, path, _ in self.requests if method != "GET"]

    def answer(self, method, path, query, body, token):
        """Return (status, document or bytes or a place to go)."""
        self.requests.append((method, path, body))
        if path.startswith("/files/") and self.lost_files:
            self.lost_files -= 1
            return None, None
        if path.startswith("/files/"):
            return (403, {}) if token else (200, self.artifacts[int(path.rsplit("/", 1)[1])][1])
        if token != f"Bearer {TOKEN}" or not path.startswith(f"{REPOSITORY}/"):
            return 401, {"message": "Bad credentials"}
        if self.failures:
            self.failures -= 1
            return 502, {}
        rest = path[len(REPOSITORY) + 1 :]
        for (verb, pattern), name in WRITES.items():
            if method == verb and re.fullmatch(pattern, rest):
                return self._write(name, rest, body)
        return self._read(rest, query) if method == "GET" else (404, {})

    def _write(self, name, rest, body):
        jsonschema.validate(body, SCHEMAS[name])
        if len(body.get("body", "")) > 65_536:
            return 422, {"message": "Body is too long"}
        if name == "checks/create":
            self.checks.append(body)
            return 201, {"id": len(self.checks)}
        if name == "issues/update-comment":
            comment = next(c for c in self.comments if c["id"] == int(rest.rsplit("/", 1)[1]))
            comment["body"] = body["body"]
            return 200, comment
        self.add_comment(body["body"])
        return 201, self.comments[-1]

    def add_comment(self, body, login="github-actions[bot]", kind="Bot"):
        self.comments.append({"id": len(self.comments) + 1, "body": body, "user": {"login": login, "type": kind}})

    def _read(self, rest, query):
        page, size = int(query.get("page", "1")), int(query.get("per_page", "30"))

        def cut(items):
            return items[(page - 1) * size : page * size]

        if rest == "pulls":
            mine = self.open and query["head"] == "alan:topic" and query["state"] == "open"
            return 200, cut([{"number": 6}] * self.elsewhere + [self._pull_request()] if mine else [])
        if rest == "pulls/6":
            return 200, {**self._pull_request(), "number": 6, "base": {"ref": "next"}, "changed_files": 0}
        if rest == "pulls/7":
            return 200, {**self._pull_request(), "changed_files": len(self._files())}
        if rest == "pulls/7/files":
            return 200, cut(self._files())
        if rest == "issues/7/comments":
            return 200, cut(self.comments)
        if rest == "actions/runs/4711/artifacts":
            found = [{"id": key, "name": name, "expired": False} for key, (name, _) in self.artifacts.items()]
            found = [item for item in found if item["name"] == query["name"]]
            return 200, {"total_count": len(found), "artifacts": cut(found)}
        if match := re.fullmatch(r"actions/artifacts/(\d+)/zip", rest):
            return 302, f"{self.url}/files/{match[1]}"
        if match := re.fullmatch(r"git/commits/([0-9a-f]{40})", rest):
            parents = git(self.origin, "log", "-1", "--format=%P", match[1]).decode().split()
            return 200, {"sha": match[1], "parents": [{"sha": parent} for parent in parents]}
        if match := re.fullmatch(r"git/trees/([0-9a-f]{40})", rest):
            return self._tree(match[1], recursive="recursive" in query)
        if match := re.fullmatch(r"git/blobs/([0-9a-f]{40})", rest):
            content = git(self.origin, "cat-file", "blob", match[1])
            return 200, {"size": len(content), "encoding": "base64", "content": base64.encodebytes(content).decode()}
        return 404, {"message": "Not Found"}

    def _pull_request(self):
        head = self.moved_to or self.head
        return {"number": 7, "state": "open", "user": {"login": self.author}, "head": {"sha": head},
                "base": {"ref": "main"}, **self._tried()}  # fmt: skip

    def _tried(self):
        """What GitHub says of the trial merge: nothing new, or something old, while it is not made."""
        if self.merges_after:
            self.merges_after -= 1
            return {"merge_commit_sha": None, "mergeable": None}
        return {"merge_commit_sha": self.merge or self._merge(), "mergeable": self.mergeable}

    def _merge(self):
        """The commit of a trial merge."""
        tree = git(self.origin, "merge-tree", "--write-tree", "main", self.head).decode().split()[0]
        parents = ["-p", "main", "-p", self.head]
        return git(self.origin, "commit-tree", tree, *parents, "-m", "Trial").decode().strip()

    def _files(self):
        """As GitHub lists them: renames are found, and told with the name that was."""
        words = {"A": "added", "M": "modified", "D": "removed", "R": "renamed", "T": "changed"}
        start = git(self.origin, "merge-base", "main", self.head).decode().strip()
        listing = git(self.origin, "diff-tree", "-r", "-z", "-M", start, self.head, "--").decode("utf-8", "replace")
        fields = iter(listing.split("\0")[:-1])
        files = []
        for facts in fields:
            status = facts.split()[4][0]
            before = next(fields)
            after = next(fields) if status == "R" else before
            files.append({"filename": after, "status": words[status], "sha": facts.split()[3]})
            if status == "R":
                files[-1]["previous_filename"] = before
        return files

    def _tree(self, sha, recursive):
        options = ["-r", "-t"] if recursive else []
        try:
            listing = git(self.origin, "ls-tree", "-z", "--long", *options, sha).decode("utf-8", "replace")
        except AssertionError:
            return 404, {"message": "Not Found"}
        entries = []
        for line in listing.split("\0")[:-1]:
            facts, path = line.split("\t", 1)
            mode, kind, name, size = facts.split()
            entries.append({"path": path, "mode": mode, "type": kind, "sha": name})
            if size.isdigit():
                entries[-1]["size"] = int(size)
        return 200, {"sha": sha, "tree": entries, "truncated": self.cut_trees}


def _handler(fake):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self):
            parts = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            status, answer = fake.answer(self.command, parts.path, query, body, self.headers.get("Authorization"))
            if status is None:
                self.close_connection = True
                return
            content = answer if isinstance(answer, bytes) else b"" if status == 302 else json.dumps(answer).encode()
            self.send_response(status)
            if status == 302:
                self.send_header("Location", answer)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PATCH = _serve  # noqa: N815

        def log_message(self, *_):
            pass

    return Handler
