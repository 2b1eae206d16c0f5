"""A harness and leaderboard for GPU-kernel competitions in Helion."""

__version__ = "0.1.0"
