"""Measurements on a GPU machine: prepared and concluded here, run there (README.md)."""
