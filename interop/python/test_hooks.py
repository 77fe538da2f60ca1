"""Every hook event of the Python SDK, and the effect of the hooks' output."""

import asyncio

import pytest
from claude_agent_sdk import (
    AgentDefinition,
    ClaudeSDKClient,
    HookEventMessage,
    HookMatcher,
    PermissionResultAllow,
    PermissionResultDeny,
)
from driving import (
    ask,
    call,
    calls_of,
    result_of,
    run,
    script,
    system_of,
    text_of,
    texts_of,
    tool_results_of,
)

ECHO = script(call("Bash", command="echo yo"), "NEXT", "SAY done")


class Hook:
    """Returns the same output each time, and records its inputs."""

    def __init__(self, answer=None):
        self.answer = answer or {}
        self.inputs = []
        self.tool_use_ids = []

    async def __call__(self, event, tool_use_id, context):
        self.inputs.append(event)
        self.tool_use_ids.append(tool_use_id)
        return self.answer


def on(event, *hooks, **fields):
    """The `hooks` option for one event."""
    return {event: [HookMatcher(hooks=list(hooks), **fields)]}


def answer(event, **fields):
    """What a hook says about its own event."""
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}


async def test_pre_tool_use_receives_the_call(options, place):
    hook = Hook()
    messages = await run(ECHO, options(hooks=on("PreToolUse", hook), allowed_tools=["Bash"]))
    (event,) = hook.inputs
    assert event["hook_event_name"] == "PreToolUse"
    assert event["tool_name"] == "Bash"
    assert event["tool_input"] == {"command": "echo yo"}
    assert event["tool_use_id"] == calls_of(messages)[0].id == hook.tool_use_ids[0]
    assert event["session_id"] == result_of(messages).session_id
    assert event["cwd"] == str(place.project)
    assert event["permission_mode"] == "default"
    assert event["transcript_path"].endswith(f"{event['session_id']}.jsonl")


async def test_pre_tool_use_denies(options, place):
    hook = Hook(
        answer("PreToolUse", permissionDecision="deny", permissionDecisionReason="too loud")
    )
    prompt = script(call("Bash", command="touch made"), "NEXT", "SAY done")
    messages = await run(prompt, options(hooks=on("PreToolUse", hook), allowed_tools=["Bash"]))
    assert not (place.project / "made").exists()
    assert "too loud" in text_of(tool_results_of(messages)[0])
    assert tool_results_of(messages)[0].is_error
    assert len(result_of(messages).permission_denials) == 1


async def test_pre_tool_use_allows_without_asking(options, place):
    asked = Hook()

    async def host(*_):
        asked.inputs.append(_)
        return PermissionResultDeny(message="no")

    hook = Hook(answer("PreToolUse", permissionDecision="allow"))
    prompt = script(call("Bash", command="touch made"), "NEXT", "SAY done")
    await run(prompt, options(hooks=on("PreToolUse", hook), can_use_tool=host))
    assert asked.inputs == []
    assert (place.project / "made").exists()


async def test_pre_tool_use_asks_where_a_rule_would_allow(options):
    asked = []

    async def host(tool, arguments, context):
        asked.append(context.decision_reason)
        return PermissionResultAllow()

    hook = Hook(
        answer("PreToolUse", permissionDecision="ask", permissionDecisionReason="look first")
    )
    await run(
        ECHO,
        options(hooks=on("PreToolUse", hook), can_use_tool=host, allowed_tools=["Bash(echo:*)"]),
    )
    assert asked == ["look first"]


async def test_pre_tool_use_changes_the_input(options):
    hook = Hook(
        answer("PreToolUse", permissionDecision="allow", updatedInput={"command": "echo changed"})
    )
    messages = await run(ECHO, options(hooks=on("PreToolUse", hook)))
    assert text_of(tool_results_of(messages)[0]) == "changed"


async def test_pre_tool_use_defers_to_the_host(options):
    hook = Hook(answer("PreToolUse", permissionDecision="defer"))
    messages = await run(ECHO, options(hooks=on("PreToolUse", hook), allowed_tools=["Bash"]))
    result = result_of(messages)
    assert result.subtype == "success"
    assert result.terminal_reason == "tool_deferred"
    assert result.deferred_tool_use.name == "Bash"
    assert result.deferred_tool_use.input == {"command": "echo yo"}
    assert tool_results_of(messages) == []


async def test_post_tool_use_sees_the_answer(options):
    hook = Hook()
    messages = await run(ECHO, options(hooks=on("PostToolUse", hook), allowed_tools=["Bash"]))
    (event,) = hook.inputs
    assert event["tool_name"] == "Bash"
    assert event["tool_input"] == {"command": "echo yo"}
    assert event["tool_response"]["stdout"] == "yo"
    assert event["tool_use_id"] == calls_of(messages)[0].id


async def test_post_tool_use_adds_context_for_the_model(api, api_options):
    hook = Hook(answer("PostToolUse", additionalContext="the wind has changed"))
    await run(ECHO, api_options(hooks=on("PostToolUse", hook), allowed_tools=["Bash"]))
    assert "the wind has changed" not in api.requests[0].conversation
    assert "the wind has changed" in api.requests[-1].conversation


async def test_post_tool_use_blocks_with_a_reason(api, api_options):
    hook = Hook({"decision": "block", "reason": "that was wrong"})
    await run(ECHO, api_options(hooks=on("PostToolUse", hook), allowed_tools=["Bash"]))
    assert "that was wrong" in api.requests[-1].conversation


async def test_post_tool_use_failure(options):
    hook, success = Hook(), Hook()
    hooks = on("PostToolUseFailure", hook) | on("PostToolUse", success)
    prompt = script(call("Bash", command="exit 7"), "NEXT", "SAY done")
    await run(prompt, options(hooks=hooks, allowed_tools=["Bash"]))
    (event,) = hook.inputs
    assert event["hook_event_name"] == "PostToolUseFailure"
    assert event["tool_name"] == "Bash"
    assert "7" in event["error"]
    assert success.inputs == []


async def test_user_prompt_submit_adds_context(api, api_options):
    hook = Hook(answer("UserPromptSubmit", additionalContext="it is raining"))
    await run("SAY hello", api_options(hooks=on("UserPromptSubmit", hook)))
    assert hook.inputs[0]["prompt"] == "SAY hello"
    assert "it is raining" in api.requests[0].conversation


async def test_user_prompt_submit_blocks_the_prompt(api, api_options):
    hook = Hook({"decision": "block", "reason": "not on Sundays"})
    messages = await run("SAY hello", api_options(hooks=on("UserPromptSubmit", hook)))
    assert api.requests == []
    assert texts_of(messages) == []
    assert "not on Sundays" in str(messages)


async def test_stop_receives_the_last_text(options):
    hook = Hook()
    await run("SAY goodbye", options(hooks=on("Stop", hook)))
    (event,) = hook.inputs
    assert event["hook_event_name"] == "Stop"
    assert event["stop_hook_active"] is False
    assert event["last_assistant_message"] == "goodbye"


async def test_stop_that_blocks_makes_the_model_go_on(options):
    inputs = []

    async def once(event, tool_use_id, context):
        inputs.append(event)
        return {"decision": "block", "reason": "go on"} if len(inputs) == 1 else {}

    messages = await run(script("SAY one", "NEXT", "SAY two"), options(hooks=on("Stop", once)))
    assert texts_of(messages)[0] == "one"
    assert len(texts_of(messages)) == 2
    assert [event["stop_hook_active"] for event in inputs] == [False, True]


async def test_subagents_start_and_stop(options):
    started, stopped = Hook(), Hook()
    prompt = script(
        call(
            "Agent",
            description="sub work",
            prompt="SAY sub end",
            subagent_type="helper",
            run_in_background=False,
        ),
        "NEXT",
        "SAY main end",
    )
    await run(
        prompt,
        options(
            agents={"helper": AgentDefinition(description="helps", prompt="You help.")},
            hooks=on("SubagentStart", started) | on("SubagentStop", stopped),
        ),
    )
    (start,), (stop,) = started.inputs, stopped.inputs
    assert start["agent_type"] == stop["agent_type"] == "helper"
    assert start["agent_id"] == stop["agent_id"]
    assert stop["last_assistant_message"] == "sub end"
    assert stop["agent_transcript_path"].endswith(".jsonl")


async def test_pre_compact(options):
    hook = Hook()
    async with ClaudeSDKClient(options(hooks=on("PreCompact", hook))) as client:
        await ask(client, script("SUMMARY of the past", "SAY one"))
        await ask(client, "/compact keep the numbers")
    (event,) = hook.inputs
    assert event["trigger"] == "manual"
    assert event["custom_instructions"] == "keep the numbers"


async def test_notification_while_a_question_waits(options):
    told = asyncio.Event()
    inputs = []

    async def hook(event, tool_use_id, context):
        inputs.append(event)
        told.set()
        return {}

    async def host(tool, arguments, context):
        await asyncio.wait_for(told.wait(), 20)
        return PermissionResultAllow()

    prompt = script(call("Bash", command="touch made"), "NEXT", "SAY done")
    messages = await run(prompt, options(hooks=on("Notification", hook), can_use_tool=host))
    assert inputs[0]["hook_event_name"] == "Notification"
    assert inputs[0]["notification_type"] == "permission_prompt"
    assert inputs[0]["message"]
    assert result_of(messages).result == "done"


async def test_permission_request_decides(options, place):
    hook = Hook(answer("PermissionRequest", decision={"behavior": "allow"}))
    prompt = script(call("Bash", command="touch made"), "NEXT", "SAY done")

    async def host(*_):
        await asyncio.Event().wait()

    await run(prompt, options(hooks=on("PermissionRequest", hook), can_use_tool=host))
    (event,) = hook.inputs
    assert event["tool_name"] == "Bash"
    assert event["tool_input"] == {"command": "touch made"}
    assert (place.project / "made").exists()


async def test_permission_request_denies(options, place):
    decision = {"behavior": "deny", "message": "the hook says no"}
    hook = Hook(answer("PermissionRequest", decision=decision))
    prompt = script(call("Bash", command="touch made"), "NEXT", "SAY done")

    async def host(*_):
        await asyncio.Event().wait()

    messages = await run(prompt, options(hooks=on("PermissionRequest", hook), can_use_tool=host))
    assert not (place.project / "made").exists()
    assert "the hook says no" in text_of(tool_results_of(messages)[0])


async def test_continue_false_ends_the_turn(options):
    hook = Hook({"continue_": False, "stopReason": "enough"})
    messages = await run(ECHO, options(hooks=on("PostToolUse", hook), allowed_tools=["Bash"]))
    assert "done" not in texts_of(messages)
    assert result_of(messages).terminal_reason == "hook_stopped"


async def test_system_message_is_shown(options):
    hook = Hook({"systemMessage": "mind the gap"})
    messages = await run(ECHO, options(hooks=on("PreToolUse", hook), allowed_tools=["Bash"]))
    (shown,) = system_of(messages, "informational")
    assert "mind the gap" in shown["content"]


async def test_async_hook_does_not_hold_the_turn(options):
    hook = Hook({"async_": True, "asyncTimeout": 1000})
    messages = await run(ECHO, options(hooks=on("PreToolUse", hook), allowed_tools=["Bash"]))
    assert len(hook.inputs) == 1
    assert text_of(tool_results_of(messages)[0]) == "yo"


async def test_hook_that_fails_does_not_stop_the_tool(options):
    async def broken(event, tool_use_id, context):
        raise RuntimeError("the hook broke")

    messages = await run(ECHO, options(hooks=on("PreToolUse", broken), allowed_tools=["Bash"]))
    assert text_of(tool_results_of(messages)[0]) == "yo"
    assert result_of(messages).result == "done"


async def test_hook_that_never_answers_runs_out_of_time(options):
    async def silent(event, tool_use_id, context):
        await asyncio.Event().wait()

    messages = await run(
        ECHO, options(hooks=on("PreToolUse", silent, timeout=1), allowed_tools=["Bash"])
    )
    assert result_of(messages).result == "done"


@pytest.mark.parametrize(
    ("matcher", "fires"),
    [
        (None, True),
        ("", True),
        ("*", True),
        ("Bash", True),
        ("Write|Bash", True),
        ("^Ba", True),
        ("B?sh", True),
        ("Ba", False),
        ("bash", False),
        ("Write", False),
        ("[", False),
    ],
)
async def test_matchers(options, matcher, fires):
    hook = Hook()
    hooks = {"PreToolUse": [HookMatcher(matcher=matcher, hooks=[hook])]}
    await run(ECHO, options(hooks=hooks, allowed_tools=["Bash"]))
    assert bool(hook.inputs) == fires


async def test_all_hooks_of_an_event_are_called(options):
    first, second, third = Hook(), Hook(), Hook()
    hooks = {"PreToolUse": [HookMatcher(hooks=[first, second]), HookMatcher("Bash", hooks=[third])]}
    await run(ECHO, options(hooks=hooks, allowed_tools=["Bash"]))
    assert [len(hook.inputs) for hook in (first, second, third)] == [1, 1, 1]


async def test_include_hook_events(options, place):
    settings = (
        '{"hooks": {"PreToolUse": [{"matcher": "Bash",'
        ' "hooks": [{"type": "command", "command": "echo from the hook"}]}]}}'
    )
    prompt = ECHO
    quiet = await run(prompt, options(settings=settings, allowed_tools=["Bash"]))
    assert not [message for message in quiet if isinstance(message, HookEventMessage)]
    messages = await run(
        prompt, options(settings=settings, allowed_tools=["Bash"], include_hook_events=True)
    )
    events = [message for message in messages if isinstance(message, HookEventMessage)]
    assert [event.subtype for event in events] == ["hook_started", "hook_response"]
    assert {event.hook_event_name for event in events} == {"PreToolUse"}
    assert "from the hook" in events[-1].data["stdout"]
