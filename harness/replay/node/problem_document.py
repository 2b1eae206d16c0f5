"""A problem as it travels to a GPU machine: plain JSON beside reference.py, read without pydantic or YAML.

The parent writes what the judge asks (`replay.asked`), sizes already worked out for the shapes of the request; the node
evaluates no expression. Standard library only.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import SpecError
from harness.replay.asked import Problem, TensorSpec

FORMAT = 1
FILE = "problem.json"

Sizes = tuple[int, ...]


@dataclass(frozen=True)
class DocumentAxis:
    """One axis that a shape gives a size to."""

    description: str
    multiple_of: int


@dataclass(frozen=True)
class DocumentTensor:
    """A tensor of the interface, with its sizes for the shapes of the request."""

    name: str
    shape: tuple[str | int, ...]
    dtype: str
    buffer: bool
    known: Mapping[tuple[tuple[str, int], ...], Sizes]

    def sizes(self, values: Mapping[str, int]) -> Sizes:
        """Return its sizes for axis values (constants included).

        Raises:
            SpecError: the shape is not one of the request's.
        """
        found = self.known.get(tuple(sorted(values.items())))
        if found is None:
            raise SpecError(f"{FILE}: no sizes of {self.name} for {dict(values)}")
        return found


@dataclass(frozen=True)
class DocumentTolerance:
    """How far an output may be from the reference."""

    rtol: float
    atol: float
    relative_l2: float | None


@dataclass(frozen=True)
class ProblemDocument:
    """What the judge asks of a problem."""

    name: str
    folder: Path
    axes: Mapping[str, DocumentAxis]
    constants: Mapping[str, int]
    inputs: tuple[DocumentTensor, ...]
    outputs: tuple[DocumentTensor, ...]
    distribution_names: tuple[str, ...]
    tolerance: Mapping[str, DocumentTolerance]

    def values(self, shape: Mapping[str, int]) -> dict[str, int]:
        """Return axis sizes and constants together."""
        return {**self.constants, **shape}

    def input_sizes(self, shape: Mapping[str, int]) -> tuple[Sizes, ...]:
        """Return the sizes of every input for a shape."""
        return tuple(tensor.sizes(self.values(shape)) for tensor in self.inputs)

    def output_sizes(self, shape: Mapping[str, int]) -> tuple[Sizes, ...]:
        """Return the sizes of every output for a shape."""
        return tuple(tensor.sizes(self.values(shape)) for tensor in self.outputs)

    def tolerance_of(self, output: str) -> DocumentTolerance:
        """Return the tolerance of an output."""
        return self.tolerance[output]


def write_problem_document(problem: Problem, shapes: Iterable[Mapping[str, int]], folder: Path) -> None:
    """Write the document and a copy of reference.py to a folder.

    Args:
        problem: the problem as loaded from task.yml.
        shapes: the shapes of the cases that will be replayed.
        folder: where to; it is made.
    """
    folder.mkdir(parents=True, exist_ok=True)
    known = [problem.values(shape) for shape in shapes]
    document = {
        "format": FORMAT,
        "name": problem.name,
        "axes": {name: [axis.description, axis.multiple_of] for name, axis in problem.axes.items()},
        "constants": dict(problem.constants),
        "inputs": [_encode_tensor(tensor, known) for tensor in problem.inputs],
        "outputs": [_encode_tensor(tensor, known) for tensor in problem.outputs],
        "distributions": list(problem.distribution_names),
        "tolerance": {tensor.name: _encode_tolerance(problem, tensor.name) for tensor in problem.outputs},
    }
    (folder / FILE).write_text(json.dumps(document), encoding="utf-8")
    shutil.copyfile(problem.folder / "reference.py", folder / "reference.py")


def load_problem_document(folder: Path) -> ProblemDocument:
    """Read the document in a folder.

    Raises:
        SpecError: it is missing, or not of this form.
    """
    try:
        document = json.loads((folder / FILE).read_text(encoding="utf-8"))
        if document["format"] != FORMAT:
            raise SpecError(f"{folder / FILE}: format {document['format']} is not {FORMAT}; export the problem again")
        return ProblemDocument(
            name=document["name"],
            folder=folder,
            axes={name: DocumentAxis(*fields) for name, fields in document["axes"].items()},
            constants=document["constants"],
            inputs=tuple(_parse_tensor(fields) for fields in document["inputs"]),
            outputs=tuple(_parse_tensor(fields) for fields in document["outputs"]),
            distribution_names=tuple(document["distributions"]),
            tolerance={name: DocumentTolerance(*fields) for name, fields in document["tolerance"].items()},
        )
    except OSError as error:
        raise SpecError(f"{folder / FILE}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SpecError(f"{folder / FILE}: not a problem document: {type(error).__name__} {error}") from None


def _encode_tensor(tensor: TensorSpec, known: list[dict[str, int]]) -> dict[str, Any]:
    sizes = [[sorted(values.items()), tensor.sizes(values)] for values in known]
    fields = {"name": tensor.name, "shape": list(tensor.shape), "dtype": tensor.dtype, "buffer": tensor.buffer}
    return {**fields, "sizes": sizes}


def _parse_tensor(fields: dict[str, Any]) -> DocumentTensor:
    known = {tuple((str(n), int(v)) for n, v in values): tuple(sizes) for values, sizes in fields["sizes"]}
    return DocumentTensor(fields["name"], tuple(fields["shape"]), fields["dtype"], fields["buffer"], known)


def _encode_tolerance(problem: Problem, output: str) -> list[float | None]:
    tolerance = problem.tolerance_of(output)
    return [tolerance.rtol, tolerance.atol, tolerance.relative_l2]
