"""What a plan may do in a division. Pure: it reads the plan, never the source, and runs nothing."""

from harness.policy.options import check_options
from harness.policy.plan import Limits, check_plan
from harness.policy.violation import Violation

__all__ = ["Limits", "Violation", "check_options", "check_plan"]
