"""MCP servers that are processes: configuration, status, control, and calls."""

import json
import sys
from pathlib import Path

import pytest
from claude_agent_sdk import ClaudeSDKClient, create_sdk_mcp_server, tool
from driving import ask, call, init_of, run, script, text_of, tool_results_of

SERVER = str(Path(__file__).with_name("mcp_server.py"))


def shelf(**fields):
    """How to start the server of this folder."""
    return {"type": "stdio", "command": sys.executable, "args": [SERVER], **fields}


def shout(name="shelf"):
    return script(call(f"mcp__{name}__shout", text="hey"), "NEXT", "SAY done")


@pytest.mark.parametrize("form", ["dict", "json", "file"])
async def test_configuration_forms(options, place, form):
    config = json.dumps({"mcpServers": {"shelf": shelf()}})
    servers = {
        "dict": {"shelf": shelf()},
        "json": config,
        "file": str(place.file("servers.json", config)),
    }[form]
    messages = await run(shout(), options(mcp_servers=servers, allowed_tools=["mcp__shelf"]))
    assert text_of(tool_results_of(messages)[0]) == "HEY"


async def test_environment_of_a_server(options):
    prompt = script(call("mcp__shelf__environment", name="PLANET"), "NEXT", "SAY done")
    messages = await run(
        prompt,
        options(mcp_servers={"shelf": shelf(env={"PLANET": "mars"})}, allowed_tools=["mcp__shelf"]),
    )
    assert text_of(tool_results_of(messages)[0]) == "mars"


async def test_structured_content_is_data_for_the_model(options):
    prompt = script(call("mcp__shelf__count", text="two words"), "NEXT", "SAY done")
    messages = await run(
        prompt, options(mcp_servers={"shelf": shelf()}, allowed_tools=["mcp__shelf"])
    )
    assert json.loads(text_of(tool_results_of(messages)[0])) == {"letters": 9, "words": 2}


async def test_error_of_a_server(options):
    prompt = script(call("mcp__shelf__fail"), "NEXT", "SAY done")
    messages = await run(
        prompt, options(mcp_servers={"shelf": shelf()}, allowed_tools=["mcp__shelf"])
    )
    (answer,) = tool_results_of(messages)
    assert answer.is_error and "the shelf fell down" in text_of(answer)


async def test_server_that_does_not_start(options):
    broken = {"type": "stdio", "command": "/no/such/program"}
    async with ClaudeSDKClient(options(mcp_servers={"broken": broken})) as client:
        messages = await ask(client, "SAY still here")
        (status,) = (await client.get_mcp_status())["mcpServers"]
    (server,) = init_of(messages)["mcp_servers"]
    assert (server["name"], server["status"]) == ("broken", "failed")
    assert status["status"] == "failed" and status["error"]


async def test_project_servers_and_strictness(options, place):
    place.file(".mcp.json", json.dumps({"mcpServers": {"shelf": shelf()}}))
    settings = '{"enableAllProjectMcpServers": true}'
    found = await run("SAY x", options(settings=settings))
    assert [one["name"] for one in init_of(found)["mcp_servers"]] == ["shelf"]
    strict = await run("SAY x", options(settings=settings, strict_mcp_config=True))
    assert init_of(strict)["mcp_servers"] == []


async def test_status(options):
    @tool("nod", "Nods", {})
    async def nod(arguments):
        return {"content": [{"type": "text", "text": "yes"}]}

    servers = {"shelf": shelf(), "desk": create_sdk_mcp_server("desk", "2.0", tools=[nod])}
    async with ClaudeSDKClient(options(mcp_servers=servers)) as client:
        await ask(client, "SAY x")
        status = (await client.get_mcp_status())["mcpServers"]
    by_name = {one["name"]: one for one in status}
    assert {one["status"] for one in status} == {"connected"}
    assert by_name["shelf"]["serverInfo"]["name"] == "shelf"
    assert by_name["shelf"]["config"]["type"] == "stdio"
    assert {one["name"] for one in by_name["shelf"]["tools"]} == {
        "shout",
        "environment",
        "fail",
        "count",
        "decide",
    }
    assert [one["name"] for one in by_name["desk"]["tools"]] == ["nod"]
    assert by_name["desk"]["serverInfo"] == {"name": "desk", "version": "2.0"}


async def test_toggle_takes_the_tools_away_and_back(options):
    async with ClaudeSDKClient(
        options(mcp_servers={"shelf": shelf()}, allowed_tools=["mcp__shelf"])
    ) as client:
        assert text_of(tool_results_of(await ask(client, shout()))[0]) == "HEY"
        await client.toggle_mcp_server("shelf", enabled=False)
        (status,) = (await client.get_mcp_status())["mcpServers"]
        assert status["status"] == "disabled"
        assert tool_results_of(await ask(client, shout()))[0].is_error
        await client.toggle_mcp_server("shelf", enabled=True)
        assert text_of(tool_results_of(await ask(client, shout()))[0]) == "HEY"


async def test_reconnect(options):
    async with ClaudeSDKClient(
        options(mcp_servers={"shelf": shelf()}, allowed_tools=["mcp__shelf"])
    ) as client:
        await ask(client, "SAY x")
        await client.reconnect_mcp_server("shelf")
        assert text_of(tool_results_of(await ask(client, shout()))[0]) == "HEY"
        with pytest.raises(Exception, match="nobody"):
            await client.reconnect_mcp_server("nobody")


async def test_permission_prompt_tool(options, place):
    fields = {
        "mcp_servers": {"shelf": shelf()},
        "permission_prompt_tool_name": "mcp__shelf__decide",
    }
    made = script(call("Bash", command="touch made"), "NEXT", "SAY done")
    await run(made, options(**fields))
    assert (place.project / "made").exists()
    gone = script(call("Bash", command="rm made"), "NEXT", "SAY done")
    messages = await run(gone, options(**fields))
    assert (place.project / "made").exists()
    assert "no Bash with rm" in text_of(tool_results_of(messages)[0])
