"""Separate folders for every test: a project folder, a home, and an environment without keys."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import ClaudeAgentOptions
from recorder import Recorder, Recording

PRIVATE = ("ANTHROPIC_", "CLAUDE", "OPENAI_")


@dataclass
class Place:
    """Where one test happens."""

    project: Path
    home: Path
    config: Path

    def file(self, name: str, text: str = "") -> Path:
        """Writes a file of the project."""
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


@pytest.fixture(scope="session")
def bowline() -> str:
    """The program under test."""
    path = os.environ.get("BOWLINE")
    assert path, "BOWLINE must name the program; interop/run sets it"
    return path


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Folders that are empty, and an environment that points there."""
    place = Place(tmp_path / "project", tmp_path / "home", tmp_path / "config")
    for folder in (place.project, place.home, place.config):
        folder.mkdir()
    for name in list(os.environ):
        if name.startswith(PRIVATE):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(place.home))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(place.config))
    return place


@pytest.fixture
def options(
    bowline: str, place: Place, request: pytest.FixtureRequest
) -> Callable[..., ClaudeAgentOptions]:
    """Makes options for a session with the script model in the test's project.

    With INTEROP_PEER another program is driven, which has the same model over HTTP:
    that is how the tests themselves are tested.
    """
    peer = os.environ.get("INTEROP_PEER")

    def make(**fields: Any) -> ClaudeAgentOptions:
        chosen = {"cli_path": bowline, "cwd": place.project, "model": "script", **fields}
        if peer:
            recorder = request.getfixturevalue("api")
            chosen["env"] = {**recorder.environment, **fields.get("env", {})}
            chosen["cli_path"] = fields.get("cli_path", peer)
            chosen["model"] = fields.get("model", "claude-sonnet-5-5")
        return ClaudeAgentOptions(**chosen)

    return make


@pytest.fixture
def api(bowline: str, place: Place) -> Iterator[Recorder]:
    """A model API on loopback that remembers its requests."""
    with Recording(bowline) as recorder:
        yield recorder


@pytest.fixture
def api_options(
    api: Recorder, options: Callable[..., ClaudeAgentOptions]
) -> Callable[..., ClaudeAgentOptions]:
    """Makes options for a session with the recorded API."""

    def make(**fields: Any) -> ClaudeAgentOptions:
        environment = {**api.environment, **fields.pop("env", {})}
        return options(**{"model": "claude-sonnet-5-5", "env": environment, **fields})

    return make
