"""The judge as an object of this process: makes inputs, and compares what a runner made of them.

It holds the samples of the last few requests. What a runner leaves is read as hostile (`received`). The problem's
reference.py is imported here: where that must not happen, `judge_client` has the same questions for another process.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path

from harness.replay.asked import Problem
from harness.replay.inputs import Request, Sample, make_sample
from harness.replay.judgement import Judgement, MadeInputs
from harness.replay.received import OutputError, read_received
from harness.replay.reference import load_reference
from harness.replay.ruling import rule
from harness.replay.sent import write_tensors

KEPT_SAMPLES = 4


class LocalJudge:
    """Answers questions about one problem.

    Raises:
        SpecError: its reference.py cannot be loaded.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem, self._reference = problem, load_reference(problem)
        self._samples: OrderedDict[Request, Sample] = OrderedDict()

    def make_inputs(self, shape: Mapping[str, int], distribution: str, seed: int, file: Path) -> MadeInputs:
        """Make a sample, keep it, and write its inputs to a file for the runner; see `JudgeProcess.make_inputs`."""
        sample = self._sample(shape, distribution, seed)
        return MadeInputs(file, len(sample.inputs), write_tensors(file, sample.inputs))

    def compare(
        self, shape: Mapping[str, int], distribution: str, seed: int, file: Path, *, sampled: bool = False
    ) -> Judgement:
        """Judge a runner's file against the sample of the same request; see `JudgeProcess.compare`."""
        sample = self._sample(shape, distribution, seed)
        try:
            received = read_received(file, self._problem, sample, sampled=sampled)
        except OutputError as error:
            return error.judgement
        return rule(self._problem, sample, received, self._reference.not_finite)

    def _sample(self, shape: Mapping[str, int], distribution: str, seed: int) -> Sample:
        """Return a sample from memory, or make it (again): it depends on the request only."""
        request = Request(tuple(sorted(shape.items())), distribution, seed)
        if request not in self._samples:
            while len(self._samples) >= KEPT_SAMPLES:
                self._samples.popitem(last=False)
            self._samples[request] = make_sample(self._reference, request)
        self._samples.move_to_end(request)
        return self._samples[request]
