"""What is asked: problems (`problems/<name>/task.yml`) and the season (`shapes.yaml`), checked on load."""

from harness.spec.catalogue import choose_problems, find_problem, find_season_problems, survey_season_problems
from harness.spec.problem import Problem, TensorSpec, Tolerance, load_problem, problem_names
from harness.spec.season import Season, load_season

__all__ = [
    "Problem",
    "Season",
    "TensorSpec",
    "Tolerance",
    "choose_problems",
    "find_problem",
    "find_season_problems",
    "load_problem",
    "load_season",
    "problem_names",
    "survey_season_problems",
]
