"""Fixtures of the tests, from `places.py`, which other suites use too."""

pytest_plugins = ["places"]
