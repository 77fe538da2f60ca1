"""What the tests are given is in `places.py`, which other suites use too."""

pytest_plugins = ["places"]
