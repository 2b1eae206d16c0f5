"""The honest kernel itself: what attacks that change nothing must come down to."""
# expected: CHECKED checked

from forging import custom_kernel  # noqa: F401
