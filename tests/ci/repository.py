"""A competition's repository and the pull requests that people make to it: real git, on a tiny workspace."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEMPLATE = ROOT / "tests" / "workspace"
EVENTS = Path(__file__).parent / "events"
OWNER = "ada"
STARTER = (TEMPLATE / "submissions" / "starter" / "scale" / "submission.py").read_text()


def git(folder, *arguments, stdin=None, date="2026-01-01T00:00:00Z"):
    """Run git and return what it printed."""
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_LITERAL_PATHSPECS": "1"}
    who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in
           (("NAME", "A"), ("EMAIL", "a@example.org"), ("DATE", date))}  # fmt: skip
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], input=stdin, capture_output=True, env={**os.environ, **quiet, **who}
    )
    assert done.returncode == 0, (arguments, done.stderr)
    return done.stdout


def make_origin(folder):
    """Make the organisers' repository: the workspace, the workflows, two teams, and a harness that is this one."""
    shutil.copytree(TEMPLATE, folder, ignore=shutil.ignore_patterns("__pycache__", ".harness"))
    shutil.copytree(ROOT / ".github", folder / ".github")
    (folder / ".github" / "maintainers.yml").write_text("logins: [Grace]\n")
    (folder / ".gitignore").write_text(".harness/\n.venv/\n")
    for team, login in (("acme", "Alan"), ("zeta", "zoe")):
        write(folder, f"submissions/{team}/team.yml", f"logins: [{login}]\n")
        write(folder, f"submissions/{team}/scale/submission.py", STARTER)
    git(folder, "init", "-q", "-b", "main", "--template=")
    git(folder, "config", "uploadpack.allowAnySHA1InWant", "true")
    git(folder, "config", "receive.denyCurrentBranch", "ignore")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "Season")
    return folder


def write(folder, name, content):
    """Write a file in a checkout."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


class Competition:
    """The origin, a contributor's clone of it, and the gate's checkout of the base."""

    def __init__(self, origin, folder):
        self.origin, self.folder = origin, folder
        self.fork = folder / "fork"
        shutil.copytree(origin, self.fork, ignore=lambda path, _: {"objects"} if path.endswith(".git") else set())
        (self.fork / ".git" / "objects").symlink_to(origin / ".git" / "objects")  # as GitHub does for forks

    @property
    def base(self):
        return git(self.origin, "rev-parse", "main").decode().strip()

    def write(self, name, content=STARTER):
        """Write a file in the fork."""
        write(self.fork, name, content)

    def commit(self):
        """Commit the fork's files and return the hash."""
        git(self.fork, "add", "-A", "--force")
        return self._keep(git(self.fork, "commit-tree", git(self.fork, "write-tree").decode().strip(), "-p", self.base,
                              "-m", "Submission").decode().strip())  # fmt: skip

    def commit_entries(self, *entries):
        """Commit entries that no file system would hold: (mode, sha or content, path)."""
        index = {"GIT_INDEX_FILE": str(self.folder / "index")}
        os.environ.update(index)
        try:
            git(self.fork, "read-tree", self.base)
            for mode, content, path in entries:
                sha = content
                if not isinstance(content, str):
                    sha = git(self.fork, "hash-object", "-w", "--stdin", stdin=content).decode().strip()
                raw = path if isinstance(path, bytes) else path.encode()
                git(self.fork, "update-index", "-z", "--index-info", stdin=f"{mode} {sha}\t".encode() + raw + b"\0")
            tree = git(self.fork, "write-tree").decode().strip()
        finally:
            del os.environ["GIT_INDEX_FILE"]
        return self._keep(git(self.fork, "commit-tree", tree, "-p", self.base, "-m", "Odd").decode().strip())

    def _keep(self, sha):
        git(self.origin, "update-ref", "refs/pull/7/head", sha)
        return sha

    def checkout(self, name="base"):
        """Return a fresh checkout of the base as `actions/checkout` makes it."""
        place = self.folder / name
        shutil.rmtree(place, ignore_errors=True)
        git(self.folder, "clone", "-q", "--no-tags", "--single-branch", f"file://{self.origin}", str(place))
        return place

    def event(self, head, author="Alan", name="pull_request"):
        """Return a recorded event with this repository's commits and an author's login in it."""
        document = json.loads((EVENTS / f"{name}.json").read_text())
        pull_request = document["pull_request"]
        pull_request["user"]["login"] = author
        pull_request["head"]["sha"], pull_request["base"]["sha"] = head, self.base
        return document


def run_harness(folder, *arguments, **environment):
    """Run the command as a workflow does."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GITHUB_")}
    command = [sys.executable, "-m", "harness", *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env={**clean, **environment})
