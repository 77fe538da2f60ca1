"""The MCP inspector's command line."""

import json
import os
from typing import Any

import pytest
from conftest import TOKEN, Place, script


@pytest.fixture
def inspect(place: Place) -> Any:
    """Asks a server one thing with the inspector and returns what it prints."""
    inspector = os.environ.get("MCP_INSPECTOR")
    if not inspector:
        pytest.skip("MCP_INSPECTOR is not set; interop/run sets it")
    node = os.environ.get("NODE", "node")

    def inspect(target: list[str], *args: str) -> Any:
        ran = place.run(node, inspector, "--cli", *target, *args)
        assert ran.returncode == 0, ran.stderr or ran.stdout
        return json.loads(ran.stdout)

    return inspect


def pipes(place: Place, *args: str) -> list[str]:
    """A server that the inspector starts itself."""
    return [place.bowline, "mcp", "serve", "--model", "script", *args]


def test_lists_tools(place: Place, inspect: Any) -> None:
    listed = inspect(pipes(place), "--method", "tools/list")
    names = [tool["name"] for tool in listed["tools"]]
    assert "Bash" in names and names[-1] == "agent"


def test_calls_a_tool(place: Place, inspect: Any) -> None:
    path = place.file("a.txt", "seen by the inspector\n")
    args = ["--method", "tools/call", "--tool-name", "Read", "--tool-arg", f"file_path={path}"]
    result = inspect(pipes(place), *args)
    assert "seen by the inspector" in result["content"][0]["text"]
    assert result["structuredContent"]["file"]["filePath"] == str(path)


def test_over_http(place: Place, inspect: Any, http_server: Any) -> None:
    prompt = script("SAY hello inspector")
    with http_server() as address:
        args = ["--method", "tools/call", "--tool-name", "agent", "--tool-arg", f"prompt={prompt}"]
        header = ["--header", f"Authorization: Bearer {TOKEN}"]
        result = inspect([address], *args, *header)
    assert result["structuredContent"]["result"] == "hello inspector"


def test_finds_nothing_wrong_with_the_schemas(place: Place, inspect: Any) -> None:
    inspect(pipes(place), "--method", "tools/list", "--strict")
