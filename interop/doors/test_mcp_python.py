"""The official Python client for MCP, over pipes and HTTP, by both ways to open a connection."""

from contextlib import AbstractAsyncContextManager
from typing import Any

import mcp
import pytest
from conftest import TOKEN, Place, call, script
from mcp import Client, StdioServerParameters, types
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

# "legacy" shakes hands and is asked by requests; "auto" finds the newest version, which does
# without a session and is asked by results.
MODES = ["legacy", "auto"]


def over_pipes(place: Place, mode: str, *args: str, **options: Any) -> Any:
    """A client of a server that it starts itself."""
    server = StdioServerParameters(
        command=place.bowline,
        args=["mcp", "serve", "--model", "script", *args],
        cwd=place.project,
        env=place.environment,
    )
    return Client(server, mode=mode, **options)


def over_http(address: str, mode: str, **options: Any) -> AbstractAsyncContextManager[Client]:
    """A client that knows the token."""
    http = create_mcp_http_client(headers={"Authorization": f"Bearer {TOKEN}"})
    return Client(streamable_http_client(address, http_client=http), mode=mode, **options)


async def decide(answer: str) -> Any:
    """An approver that responds to every elicitation like this."""

    async def decide(_context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        assert "May" in params.message
        return types.ElicitResult(action="accept", content={"decision": answer})

    return decide


def text(result: types.CallToolResult) -> str:
    """The words of a result."""
    return "\n".join(block.text for block in result.content if block.type == "text")


@pytest.mark.parametrize("mode", MODES)
async def test_lists_tools_with_their_hints(place: Place, mode: str) -> None:
    async with over_pipes(place, mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert {"Bash", "Read", "Write", "Edit", "Glob", "Grep", "agent"} <= tools.keys()
    assert tools["Read"].annotations.read_only_hint is True
    assert tools["Bash"].annotations.destructive_hint is True
    assert tools["agent"].output_schema["properties"]["session_id"]


@pytest.mark.parametrize("mode", MODES)
async def test_reads_a_file(place: Place, mode: str) -> None:
    path = place.file("a.txt", "from the file\n")
    async with over_pipes(place, mode) as client:
        result = await client.call_tool("Read", {"file_path": str(path)})
    assert not result.is_error
    assert "from the file" in text(result)
    assert result.structured_content["file"]["content"] == "from the file\n"


@pytest.mark.parametrize("mode", MODES)
async def test_call_without_an_approver_is_denied(place: Place, mode: str) -> None:
    async with over_pipes(place, mode) as client:
        result = await client.call_tool("Bash", {"command": "touch made.txt"})
    assert result.is_error
    assert not (place.project / "made.txt").exists()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("answer", ["allow", "deny"])
async def test_a_person_decides(place: Place, mode: str, answer: str) -> None:
    async with over_pipes(place, mode, elicitation_callback=await decide(answer)) as client:
        result = await client.call_tool("Bash", {"command": "touch made.txt"})
    assert result.is_error == (answer == "deny")
    assert (place.project / "made.txt").exists() == (answer == "allow")


@pytest.mark.parametrize("mode", MODES)
async def test_rules_and_selection_of_the_command_line(place: Place, mode: str) -> None:
    args = ["--tools", "Bash", "--allowedTools", "Bash(touch *)"]
    async with over_pipes(place, mode, *args) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["Bash"]
        assert not (await client.call_tool("Bash", {"command": "touch made.txt"})).is_error
        assert (await client.call_tool("Bash", {"command": "mkdir other"})).is_error
        with pytest.raises(mcp.MCPError):
            await client.call_tool("Read", {"file_path": "x"})


@pytest.mark.parametrize("mode", MODES)
async def test_an_agent_works_and_goes_on(place: Place, mode: str) -> None:
    heard: list[str] = []

    async def progress(_done: float, _total: float | None, message: str | None) -> None:
        heard.append(message or "")

    async with over_pipes(place, mode) as client:
        prompt = script("SAY looking", call("Bash", command="echo hi"), "NEXT", "SAY done")
        first = await client.call_tool("agent", {"prompt": prompt}, progress_callback=progress)
        session = first.structured_content["session_id"]
        again = {"prompt": "SAY on", "session_id": session}
        second = await client.call_tool("agent", again)
    assert first.structured_content["result"] == "done"
    assert heard[0] == "looking" and heard[-1] == "done"
    assert second.structured_content["result"] == "on"
    assert second.structured_content["session_id"] == session


@pytest.mark.parametrize("mode", MODES)
async def test_over_http(place: Place, http_server: Any, mode: str) -> None:
    place.file("a.txt", "over the web\n")
    with http_server() as address:
        asked = await decide("allow")
        async with over_http(address, mode, elicitation_callback=asked) as client:
            path = str(place.project / "a.txt")
            assert "over the web" in text(await client.call_tool("Read", {"file_path": path}))
            made = await client.call_tool("Bash", {"command": "touch made.txt"})
            assert not made.is_error
            assert (place.project / "made.txt").exists()
            prompt = script("SAY hello over http")
            said = await client.call_tool("agent", {"prompt": prompt})
            assert said.structured_content["result"] == "hello over http"


async def test_a_token_is_insisted_on(place: Place, http_server: Any) -> None:
    with http_server() as address:
        with pytest.raises(BaseException):  # noqa: B017, PT011  (an exception group)
            async with Client(address):
                pass


@pytest.mark.parametrize("mode", MODES)
async def test_without_a_token_no_client_is_asked(
    place: Place, http_server: Any, mode: str
) -> None:
    """It would approve its own calls, and any user of the machine may run it."""
    with http_server("--no-token", "--allowedTools", "Bash(touch allowed.txt)") as address:
        async with Client(
            address, mode=mode, elicitation_callback=await decide("allow")
        ) as client:
            denied = await client.call_tool("Bash", {"command": "touch made.txt"})
            assert denied.is_error
            assert "asks none of them for permission" in text(denied)
            prompt = script(call("Bash", command="touch made.txt"), "NEXT", "SAY done")
            worked = await client.call_tool("agent", {"prompt": prompt})
            denials = worked.structured_content["permission_denials"]
            assert [denial["tool_name"] for denial in denials] == ["Bash"]
            allowed = await client.call_tool("Bash", {"command": "touch allowed.txt"})
            assert not allowed.is_error
    assert not (place.project / "made.txt").exists()
    assert (place.project / "allowed.txt").exists()
