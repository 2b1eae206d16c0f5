"""Measurements of what the README promises. `make bench` runs them and writes bench/last.json."""
