"""Options about the model and its prompt, as the model API sees them."""

import pytest
from claude_agent_sdk import ClaudeSDKClient
from driving import ask, init_of, result_of, run, script, system_of, texts_of


async def test_system_prompt_is_replaced(api, api_options):
    await run("SAY x", api_options(system_prompt="You are a lighthouse."))
    assert "You are a lighthouse." in api.requests[0].system


async def test_without_a_system_prompt_there_is_no_preset(api, api_options):
    await run("SAY x", api_options())
    await run("SAY x", api_options(system_prompt={"type": "preset", "preset": "claude_code"}))
    empty, preset = (request.system for request in api.requests)
    assert len(preset) > 1000
    assert len(empty) < len(preset) / 4


async def test_preset_with_an_addition(api, api_options):
    preset = {"type": "preset", "preset": "claude_code", "append": "Speak like a sailor."}
    await run("SAY x", api_options(system_prompt=preset))
    assert "Speak like a sailor." in api.requests[0].system
    assert len(api.requests[0].system) > 1000


async def test_preset_without_what_changes_from_place_to_place(api, api_options, place):
    preset = {"type": "preset", "preset": "claude_code", "exclude_dynamic_sections": True}
    await run("SAY x", api_options(system_prompt=preset))
    assert str(place.project) not in api.requests[0].system
    assert str(place.project) in api.requests[0].conversation


async def test_system_prompt_from_a_file(api, api_options, place):
    file = place.file("prompt.md", "You are a well kept garden.")
    await run("SAY x", api_options(system_prompt={"type": "file", "path": str(file)}))
    assert "You are a well kept garden." in api.requests[0].system


async def test_custom_system_prompt(api, api_options):
    custom = {"type": "custom", "prompt": "You are a door.", "snapshot": True}
    await run("SAY x", api_options(system_prompt=custom))
    assert "You are a door." in api.requests[0].system


async def test_project_instructions_reach_the_model(api, api_options, place):
    place.file("CLAUDE.md", "Always measure twice.\n")
    await run("SAY x", api_options(setting_sources=["project"]))
    await run("SAY x", api_options(setting_sources=[]))
    with_them, without = (request.system + request.conversation for request in api.requests)
    assert "Always measure twice." in with_them
    assert "Always measure twice." not in without


async def test_model(api, api_options):
    messages = await run("SAY x", api_options(model="claude-haiku-5-5"))
    assert api.requests[0].body["model"] == "claude-haiku-5-5"
    assert init_of(messages)["model"] == "claude-haiku-5-5"
    assert list(result_of(messages).model_usage) == ["claude-haiku-5-5"]


async def test_set_model_and_back(api, api_options):
    async with ClaudeSDKClient(api_options()) as client:
        await ask(client, "SAY x")
        await client.set_model("claude-haiku-5-5")
        changed = await ask(client, "SAY x")
        assert api.requests[-1].body["model"] == "claude-haiku-5-5"
        await client.set_model(None)
        await ask(client, "SAY x")
    assert api.requests[0].body["model"] == "claude-sonnet-5-5"
    assert init_of(changed)["model"] == "claude-haiku-5-5"
    assert api.requests[-1].body["model"] != "claude-haiku-5-5"


async def test_fallback_model_takes_over(api, api_options):
    messages = await run(
        script("ERRORS 529 3", "SAY from the other"),
        api_options(fallback_model="claude-haiku-5-5", env={"CLAUDE_CODE_MAX_RETRIES": "4"}),
    )
    assert result_of(messages).result == "from the other"
    assert api.requests[-1].body["model"] == "claude-haiku-5-5"
    (switch,) = system_of(messages, "model_fallback")
    assert switch["original_model"] == "claude-sonnet-5-5"
    assert switch["fallback_model"] == "claude-haiku-5-5"


async def test_betas(api, api_options):
    await run("SAY x", api_options(betas=["context-1m-2025-08-07"]))
    assert "context-1m-2025-08-07" in api.requests[0].headers["anthropic-beta"]


@pytest.mark.parametrize(
    ("thinking", "sent"),
    [
        ({"type": "adaptive"}, {"type": "adaptive"}),
        ({"type": "disabled"}, {"type": "disabled"}),
    ],
)
async def test_thinking(api, api_options, thinking, sent):
    await run("SAY x", api_options(thinking=thinking))
    body = api.requests[0].body.get("thinking", {"type": "disabled"})
    assert body["type"] == sent["type"]


async def test_thinking_with_a_budget(api, api_options):
    thinking = {"type": "enabled", "budget_tokens": 4321}
    await run("SAY x", api_options(model="claude-haiku-4-5", thinking=thinking))
    assert api.requests[0].body["thinking"]["type"] == "enabled"
    assert api.requests[0].body["thinking"]["budget_tokens"] == 4321


async def test_max_thinking_tokens(api, api_options):
    await run("SAY x", api_options(model="claude-haiku-4-5", max_thinking_tokens=2345))
    assert api.requests[0].body["thinking"]["budget_tokens"] == 2345


async def test_thinking_display(api, api_options):
    await run("SAY x", api_options(thinking={"type": "adaptive", "display": "omitted"}))
    assert api.requests[0].body["thinking"]["display"] == "omitted"


@pytest.mark.parametrize("effort", ["low", "medium", "high", "max"])
async def test_effort(api, api_options, effort):
    await run("SAY x", api_options(effort=effort))
    assert api.requests[0].body["output_config"]["effort"] == effort


async def test_task_budget(api, api_options):
    await run("SAY x", api_options(task_budget={"total": 50000}))
    budget = api.requests[0].body["output_config"]["task_budget"]
    assert budget["total"] == 50000


async def test_client_app_is_in_the_user_agent(api, api_options):
    await run("SAY x", api_options(client_app="interop/1.2"))
    agent = api.requests[0].headers["user-agent"]
    assert "interop/1.2" in agent
    assert "sdk-py" in agent


async def test_tools_list_is_what_the_model_is_offered(api, api_options):
    messages = await run("SAY x", api_options(tools=["Bash", "Read"]))
    assert sorted(init_of(messages)["tools"]) == ["Bash", "Read"]
    assert sorted(api.requests[0].tools) == ["Bash", "Read"]


async def test_no_tools(api, api_options):
    messages = await run("SAY x", api_options(tools=[]))
    assert init_of(messages)["tools"] == []
    assert api.requests[0].tools == []


async def test_tools_preset(options):
    preset = {"type": "preset", "preset": "claude_code"}
    named = init_of(await run("SAY x", options(tools=preset)))["tools"]
    default = init_of(await run("SAY x", options()))["tools"]
    assert named == default
    assert {"Task", "Bash", "Edit", "Read", "Write"} <= set(named)


async def test_verbatim_prompt_is_no_command(api, api_options):
    messages = await run("/compact is a word here", api_options(verbatim_prompts=True))
    assert "/compact is a word here" in api.requests[0].conversation
    assert texts_of(messages) == ["/compact is a word here"]
    assert system_of(messages, "compact_boundary") == []
