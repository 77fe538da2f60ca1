"""Agents as clients: the official CLI, and Bowline itself."""

import json
import os
from typing import Any

import pytest
from conftest import Place, call, script


def servers(place: Place, *args: str) -> str:
    """An MCP configuration with our server in it."""
    server = {"command": place.bowline, "args": ["mcp", "serve", "--model", "script", *args]}
    return json.dumps({"mcpServers": {"bowline": server}})


@pytest.fixture(params=["official", "bowline"])
def agent(request: pytest.FixtureRequest, place: Place) -> Any:
    """Gives a prompt to an agent that has our server, and returns its response."""
    environment: dict[str, str] = {}
    if request.param == "official":
        program = os.environ.get("OFFICIAL_CLI")
        if not program:
            pytest.skip("OFFICIAL_CLI is not set; interop/run sets it when it is installed")
        environment = {
            "ANTHROPIC_BASE_URL": request.getfixturevalue("model_server"),
            "ANTHROPIC_API_KEY": "nobody",
            "CLAUDE_CONFIG_DIR": str(place.home / "config"),
            "ENABLE_TOOL_SEARCH": "false",
            "IS_SANDBOX": "1",
        }
        model = "claude-sonnet-5-5"
    else:
        program, model = place.bowline, "script"

    def run(prompt: str, *args: str, server: tuple[str, ...] = ()) -> list[dict[str, Any]]:
        ran = place.run(
            program,
            *("-p", "--output-format", "stream-json", "--verbose", "--model", model),
            *("--strict-mcp-config", "--mcp-config", servers(place, *server), *args),
            *("--", prompt),
            **environment,
        )
        lines = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
        assert lines, ran.stderr
        return lines

    return run


def results(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What tools answered."""
    said = [line["message"]["content"] for line in lines if line["type"] == "user"]
    blocks = [block for content in said if isinstance(content, list) for block in content]
    return [block for block in blocks if block["type"] == "tool_result"]


def test_finds_the_tools(agent: Any) -> None:
    lines = agent("SAY hello")
    init = next(line for line in lines if line.get("subtype") == "init")
    assert init["mcp_servers"][0]["status"] == "connected"
    assert {"mcp__bowline__Bash", "mcp__bowline__agent"} <= set(init["tools"])


def test_calls_a_tool(place: Place, agent: Any) -> None:
    path = place.file("a.txt", "through the other agent\n")
    prompt = script(call("mcp__bowline__Read", file_path=str(path)), "NEXT", "SAY done")
    lines = agent(prompt, "--allowedTools", "mcp__bowline__Read")
    assert "through the other agent" in json.dumps(results(lines)[0]["content"])
    assert lines[-1]["result"] == "done"


def test_our_rules_hold_inside(place: Place, agent: Any) -> None:
    """The other agent allows the call; our server still has nobody to ask."""
    prompt = script(call("mcp__bowline__Bash", command="touch made.txt"), "NEXT", "SAY done")
    lines = agent(prompt, "--allowedTools", "mcp__bowline__Bash")
    assert results(lines)[0]["is_error"] is True
    assert not (place.project / "made.txt").exists()
    agent(
        prompt, "--allowedTools", "mcp__bowline__Bash", server=("--allowedTools", "Bash(touch *)")
    )
    assert (place.project / "made.txt").exists()


def test_an_agent_inside_an_agent(agent: Any) -> None:
    inner = script("SAY from the inner agent")
    prompt = script(call("mcp__bowline__agent", prompt=inner), "NEXT", "SAY done")
    lines = agent(prompt, "--allowedTools", "mcp__bowline__agent")
    assert "from the inner agent" in json.dumps(results(lines)[0]["content"])
