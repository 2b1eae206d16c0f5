"""Runs a job of a workflow file on this machine, step by step, as a GitHub runner would.

`run:` steps go to bash with the environment that they declare and nothing else of GitHub's; the few actions that the
workflows use are stood in for by what they do: a clone, a zip file that is kept, one that is unpacked.
"""

import fnmatch
import io
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import yaml

from tests.ci.repository import git

WRAPPER = f'#!/bin/sh\nexec {sys.executable} -m harness "$@"\n'


def load_workflow(path):
    """Return a workflow's document; YAML takes the key `on` for a truth value."""
    document = yaml.safe_load(Path(path).read_text())
    document["on"] = document.pop(True, document.get("on"))
    return document


class Expressions:
    """The part of GitHub's expressions that our workflows use."""

    def __init__(self, context, failed=False):
        self.context, self.failed = context, failed

    def fill(self, text):
        """Return a text with its `${{ }}` evaluated; a text that is one expression keeps its type."""
        if not isinstance(text, str):
            return text
        if whole := re.fullmatch(r"\$\{\{(.*?)\}\}", text.strip()):
            return self.evaluate(whole[1])
        return re.sub(r"\$\{\{(.*?)\}\}", lambda m: str(self.evaluate(m[1]) or ""), text)

    def evaluate(self, expression):
        """Return what an expression comes to."""
        python = re.sub(
            r"'[^']*'|\b(?:github|steps|needs|inputs|vars|matrix|runner|env)(?:\.[\w-]+)+",
            lambda m: m[0] if m[0].startswith("'") else f"look({m[0]!r})", expression.strip(),
        )  # fmt: skip
        python = python.replace("&&", " and ").replace("||", " or ")
        functions = {
            "look": self._look, "always": lambda: True, "fromJSON": json.loads, "contains": lambda a, b: b in a,
            "hashFiles": lambda *_: "hash",
        }  # fmt: skip
        return eval(python, {"__builtins__": {}}, functions)

    def holds(self, condition):
        """Tell whether a step or job runs: by default only while nothing has failed."""
        if condition is None:
            return not self.failed
        text = re.sub(r"^\$\{\{(.*)\}\}$", r"\1", str(condition).strip())
        return bool(self.evaluate(text)) and ("always()" in text or not self.failed)

    def _look(self, name):
        value = self.context
        for part in name.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        return "" if value is None else value


class Runner:
    """One machine: a folder for the job, what earlier jobs have kept, and what the job says."""

    def __init__(self, competition, event, *, folder="runner", **context):
        self.folder = competition.folder / folder
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "temp").mkdir(parents=True)
        self.competition, self.event = competition, event
        self.workspace = self.folder / "work"
        self.artifacts = {}
        self.results = {}
        self.outputs = {}
        self.log = ""
        self.context = context
        (self.folder / "event.json").write_text(json.dumps(event))

    @property
    def summary(self):
        path = self.folder / "summary.md"
        return path.read_text() if path.exists() else ""

    def run(self, workflow, job, **environment):
        """Run a job; return whether it succeeded.

        Args:
            workflow: a workflow's document.
            job: its name in it.
            environment: variables that the machine has, such as where the API is.
        """
        definition = workflow["jobs"][job]
        self.results, self.failed = {}, False
        for step in definition["steps"]:
            expressions = self._expressions(definition)
            if not expressions.holds(step.get("if")):
                self.results[step.get("name") or step["uses"]] = "skipped"
                continue
            done = self._run_step(step, expressions, environment) if "run" in step else self._use(step, expressions)
            self.results[step.get("name") or step["uses"]] = "success" if done else "failure"
            self.failed = self.failed or not done
        filled = {name: self._expressions(definition).fill(v) for name, v in definition.get("outputs", {}).items()}
        self.context.setdefault("needs", {})[job] = {
            "outputs": filled,
            "result": "failure" if self.failed else "success",
        }
        return not self.failed

    def wants(self, workflow, job):
        """Tell whether a job would be started, after those that ran here."""
        return self._expressions(workflow["jobs"][job]).holds(workflow["jobs"][job].get("if"))

    def _expressions(self, definition):
        github = {"event": self.event, "token": self.context.get("token", ""), "event_name": "", "ref": "",
                  "run_attempt": "1"}  # fmt: skip
        steps = {name: {"outputs": values} for name, values in self.outputs.items()}
        inputs = self.event.get("inputs", {})
        runner = {"temp": str(self.folder / "temp"), "os": "Linux", "arch": "X64"}
        context = {**self.context, "github": github, "steps": steps, "inputs": inputs, "runner": runner}
        return Expressions(context, getattr(self, "failed", False))

    def _run_step(self, step, expressions, environment):
        assert "${{" not in step["run"], "an expression in a script is an injection"
        if step["run"] == "make environment":
            self._make_environment({})
            return True
        output = self.folder / "output"
        output.write_text("")
        variables = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_EVENT_PATH": str(self.folder / "event.json"),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary.md"),
            "RUNNER_TEMP": str(self.folder / "temp"),
            "GIT_CONFIG_NOSYSTEM": "1",
            **environment,
            **{name: str(expressions.fill(value)) for name, value in step.get("env", {}).items()},
        }
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        done = subprocess.run(command, cwd=self.workspace, env=variables, capture_output=True, text=True)
        self.log += done.stdout + done.stderr
        lines = [line.partition("=") for line in output.read_text().splitlines()]
        self.outputs[step.get("id", "")] = {name: value for name, _, value in lines}
        return done.returncode == 0

    def _use(self, step, expressions):
        action = step["uses"].partition("@")[0]
        options = {name: expressions.fill(value) for name, value in step.get("with", {}).items()}
        stand_in = {
            "actions/checkout": self._checkout,
            "./.github/actions/environment": self._make_environment,
            "actions/upload-artifact": self._upload,
            "actions/download-artifact": self._download,
            "actions/upload-pages-artifact": self._upload,
            "actions/deploy-pages": self._deploy,
        }[action]
        stand_in(options)
        return True

    def _checkout(self, options):
        """A clone of the origin; of a pull request's outcome where no ref is given."""
        assert options["persist-credentials"] is False
        shutil.rmtree(self.workspace, ignore_errors=True)
        origin = f"file://{self.competition.origin}"
        git(self.folder, "clone", "-q", "--no-tags", "--single-branch", "--no-checkout", origin, str(self.workspace))
        ref = options.get("ref") or self.event.get("after") or "main"
        if "pull_request" in self.event and "ref" not in options:
            ref = self.event["pull_request"]["head"]["sha"]
            git(self.workspace, "fetch", "-q", "origin", ref)
        if "sparse-checkout" in options:
            git(self.workspace, "sparse-checkout", "set", "--no-cone", *options["sparse-checkout"].split())
        git(self.workspace, "checkout", "-q", "--detach", ref if re.fullmatch("[0-9a-f]{40}", ref) else f"origin/{ref}")

    def _make_environment(self, options):
        wrapper = self.workspace / ".venv" / "bin" / "harness"
        wrapper.parent.mkdir(parents=True)
        wrapper.write_text(WRAPPER)
        wrapper.chmod(0o755)

    def _upload(self, options):
        path = Path(options["path"])
        files = [path] if path.is_file() else [p for p in sorted(path.rglob("*")) if p.is_file()]
        if not files:
            assert options.get("if-no-files-found") == "ignore"
            return
        root = path.parent if path.is_file() else path
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in files:
                archive.write(file, file.relative_to(root).as_posix())
        self.artifacts[options["name"]] = buffer.getvalue()

    def _deploy(self, options):
        self.deployed = self.artifacts[options["artifact_name"]]

    def _download(self, options):
        pattern = options.get("name") or options["pattern"]
        for name in fnmatch.filter(self.artifacts, pattern):
            place = Path(options["path"]) / (name if "pattern" in options else "")
            with zipfile.ZipFile(io.BytesIO(self.artifacts[name])) as archive:
                archive.extractall(place)
