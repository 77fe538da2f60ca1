"""Tools that live in the host: `@tool` and `create_sdk_mcp_server`."""

import asyncio
from typing import Annotated, Any

from claude_agent_sdk import (
    ClaudeSDKClient,
    PermissionResultAllow,
    ToolAnnotations,
    create_sdk_mcp_server,
    tool,
)
from driving import ask, call, init_of, result_of, run, script, text_of, tool_results_of

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "YPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


@tool("add", "Adds two numbers", {"a": float, "b": float})
async def add(arguments: dict[str, Any]) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": str(arguments["a"] + arguments["b"])}]}


@tool("draw", "Draws", {})
async def draw(arguments: dict[str, Any]) -> dict[str, Any]:
    return {
        "content": [
            {"type": "text", "text": "a picture"},
            {"type": "image", "data": PIXEL, "mimeType": "image/png"},
        ]
    }


@tool("refuse", "Refuses", {})
async def refuse(arguments: dict[str, Any]) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": "I will not"}], "is_error": True}


@tool("crash", "Crashes", {})
async def crash(arguments: dict[str, Any]) -> dict[str, Any]:
    raise RuntimeError("out of paper")


@tool(
    "look",
    "Looks",
    {"where": Annotated[str, "which way"]},
    annotations=ToolAnnotations(readOnlyHint=True),
)
async def look(arguments: dict[str, Any]) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": f"nothing in the {arguments['where']}"}]}


def desk(**fields):
    """Options with a server of these tools that may be used without asking."""
    server = create_sdk_mcp_server("desk", tools=[add, draw, refuse, crash, look])
    return {"mcp_servers": {"desk": server}, "allowed_tools": ["mcp__desk"], **fields}


async def test_tools_are_on_offer_under_the_servers_name(options):
    init = init_of(await run("SAY hi", options(**desk())))
    assert {f"mcp__desk__{name}" for name in ("add", "draw", "refuse", "crash", "look")} <= set(
        init["tools"]
    )
    (server,) = init["mcp_servers"]
    assert (server["name"], server["status"]) == ("desk", "connected")


async def test_description_and_schema_reach_the_model(api, api_options):
    await run("SAY hi", api_options(**desk()))
    offered = {one["name"]: one for one in api.requests[0].body["tools"]}
    assert offered["mcp__desk__add"]["description"] == "Adds two numbers"
    schema = offered["mcp__desk__add"]["input_schema"]
    assert schema["properties"]["a"]["type"] == "number"
    assert set(schema["required"]) == {"a", "b"}
    look_schema = offered["mcp__desk__look"]["input_schema"]
    assert look_schema["properties"]["where"]["description"] == "which way"


async def test_text_result(options):
    prompt = script(call("mcp__desk__add", a=2, b=2.5), "NEXT", "ECHORESULT")
    messages = await run(prompt, options(**desk()))
    assert text_of(tool_results_of(messages)[0]) == "4.5"
    assert result_of(messages).result == "result was: 4.5"


async def test_image_result_is_an_image_for_the_model(api, api_options):
    prompt = script(call("mcp__desk__draw"), "NEXT", "SAY nice")
    messages = await run(prompt, api_options(**desk()))
    text, image, *_ = tool_results_of(messages)[0].content
    assert text["text"] == "a picture"
    source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    assert image["type"] == "image" and image["source"] == source
    assert PIXEL in api.requests[-1].conversation


async def test_error_result(options):
    prompt = script(call("mcp__desk__refuse"), "NEXT", "SAY oh")
    (answer,) = tool_results_of(await run(prompt, options(**desk())))
    assert answer.is_error and "I will not" in text_of(answer)


async def test_exception_in_a_tool_is_an_error_result(options):
    prompt = script(call("mcp__desk__crash"), "NEXT", "SAY oh")
    messages = await run(prompt, options(**desk()))
    (answer,) = tool_results_of(messages)
    assert answer.is_error and "out of paper" in text_of(answer)
    assert result_of(messages).result == "oh"


async def test_wrong_input_is_an_error_result(options):
    prompt = script(call("mcp__desk__add", a="two"), "NEXT", "SAY oh")
    (answer,) = tool_results_of(await run(prompt, options(**desk())))
    assert answer.is_error


async def test_unknown_tool_of_a_known_server(options):
    prompt = script(call("mcp__desk__multiply", a=1), "NEXT", "SAY oh")
    (answer,) = tool_results_of(await run(prompt, options(**desk())))
    assert answer.is_error and "mcp__desk__multiply" in text_of(answer)


async def test_tools_are_asked_about_like_others(options):
    questions = []

    async def host(name, arguments, context):
        questions.append((name, arguments))
        return PermissionResultAllow(updated_input={"a": 10, "b": 1})

    prompt = script(call("mcp__desk__add", a=1, b=1), "NEXT", "SAY x")
    messages = await run(prompt, options(**desk(allowed_tools=[], can_use_tool=host)))
    assert questions == [("mcp__desk__add", {"a": 1, "b": 1})]
    assert text_of(tool_results_of(messages)[0]) == "11"


async def test_calls_of_one_answer_run_at_the_same_time(options):
    """Each call waits for the others, so running them one by one would never end."""
    everyone = asyncio.Barrier(3)

    @tool("meet", "Waits for the others", {}, annotations=ToolAnnotations(readOnlyHint=True))
    async def meet(arguments):
        await asyncio.wait_for(everyone.wait(), 20)
        return {"content": [{"type": "text", "text": "met"}]}

    server = create_sdk_mcp_server("room", tools=[meet])
    prompt = script(*[call("mcp__room__meet")] * 3, "NEXT", "SAY done")
    messages = await run(
        prompt, options(mcp_servers={"room": server}, allowed_tools=["mcp__room__meet"])
    )
    assert [text_of(answer) for answer in tool_results_of(messages)] == ["met"] * 3


async def test_several_servers_and_many_calls(options):
    servers = {name: create_sdk_mcp_server(name, tools=[add]) for name in ("east", "west")}
    calls = [call(f"mcp__{name}__add", a=n, b=n) for n in range(20) for name in servers]
    async with ClaudeSDKClient(
        options(mcp_servers=servers, allowed_tools=["mcp__east", "mcp__west"])
    ) as client:
        messages = await ask(client, script(*calls, "NEXT", "SAY done"))
    assert [float(text_of(answer)) for answer in tool_results_of(messages)] == [
        2 * n for n in range(20) for _ in servers
    ]


async def test_large_result(options):
    @tool("read_all", "Reads all", {})
    async def read_all(arguments):
        return {"content": [{"type": "text", "text": "line of text\n" * 1000}]}

    server = create_sdk_mcp_server("big", tools=[read_all])
    messages = await run(
        script(call("mcp__big__read_all"), "NEXT", "SAY done"),
        options(mcp_servers={"big": server}, allowed_tools=["mcp__big"]),
    )
    assert text_of(tool_results_of(messages)[0]).count("line of text") == 1000
