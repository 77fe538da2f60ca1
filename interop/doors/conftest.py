"""Separate folders for every test, and the servers that third-party clients connect to."""

import json
import os
import re
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

PRIVATE = ("ANTHROPIC_", "CLAUDE", "OPENAI_", "BOWLINE_")


@dataclass
class Place:
    """Where one test happens."""

    project: Path
    home: Path
    bowline: str

    @property
    def environment(self) -> dict[str, str]:
        """What programs find in their environment: a home of their own, and nobody's keys."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(PRIVATE)}
        return {**kept, "HOME": str(self.home), "BOWLINE_CONFIG_DIR": str(self.home / "config")}

    def file(self, name: str, text: str = "") -> Path:
        """Writes a file of the project."""
        path = self.project / name
        path.write_text(text)
        return path

    def run(self, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Runs a program in the project to its end."""
        return subprocess.run(
            command,
            cwd=self.project,
            env={**self.environment, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=80,
            check=False,
        )


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Folders that are empty."""
    bowline = os.environ.get("BOWLINE")
    assert bowline, "BOWLINE must name the program; interop/run sets it"
    place = Place(tmp_path / "project", tmp_path / "home", bowline)
    place.project.mkdir()
    place.home.mkdir()
    return place


# What clients of a server over HTTP have to send.
TOKEN = "a token of the tests"


@contextmanager
def listening(place: Place, *args: str, **environment: str) -> Iterator[str]:
    """A program of ours that says on which address it listens."""
    process = subprocess.Popen(
        [place.bowline, *args],
        cwd=place.project,
        env={**place.environment, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        address = re.search(r"http://\S+", line)
        assert address, f"no address in {line!r}"
        # What follows is for people, and must not fill the pipe.
        threading.Thread(target=process.stdout.read, daemon=True).start()
        yield address.group()
    finally:
        process.terminate()
        process.wait(timeout=20)


@pytest.fixture
def http_server(place: Place) -> Callable[..., Any]:
    """`bowline mcp serve` over HTTP, with more arguments. Its token is `TOKEN` unless it has none."""

    def serve(*args: str) -> Any:
        command = ["mcp", "serve", "--http", "127.0.0.1:0", "--model", "script", *args]
        return listening(place, *command, BOWLINE_MCP_TOKEN=TOKEN)

    return serve


@pytest.fixture
def model_server(place: Place) -> Iterator[str]:
    """The script model as an API, for CLIs that others wrote."""
    with listening(place, "script-server", "--listen", "127.0.0.1:0") as address:
        yield address


def script(*lines: str) -> str:
    """A prompt that tells the model what to do."""
    return "\n".join(lines)


def call(tool: str, **arguments: Any) -> str:
    """The line with which the model calls a tool."""
    return f"TOOL {tool} {json.dumps(arguments)}"
