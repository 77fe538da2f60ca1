"""`can_use_tool`, permission modes and rules."""

import asyncio

import pytest
from claude_agent_sdk import (
    ClaudeSDKClient,
    PermissionResultAllow,
    PermissionResultDeny,
    PermissionUpdate,
    ToolAnnotations,
    create_sdk_mcp_server,
    tool,
)
from claude_agent_sdk.types import PermissionRuleValue
from driving import (
    ask,
    call,
    calls_of,
    init_of,
    result_of,
    run,
    script,
    system_of,
    text_of,
    tool_results_of,
)

TOUCH = script(
    call("Bash", command="touch made.txt", description="make a file"), "NEXT", "SAY done"
)


class Host:
    """Answers every permission question the same way, and remembers the questions."""

    def __init__(self, answer):
        self.answer = answer
        self.questions = []

    async def __call__(self, tool, arguments, context):
        self.questions.append((tool, arguments, context))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


async def test_allow_runs_the_tool(options, place):
    host = Host(PermissionResultAllow())
    messages = await run(TOUCH, options(can_use_tool=host))
    ((tool, arguments, context),) = host.questions
    assert tool == "Bash"
    assert arguments == {"command": "touch made.txt", "description": "make a file"}
    assert context.tool_use_id == calls_of(messages)[0].id
    assert context.display_name == "Bash"
    assert context.description == "make a file"
    assert (place.project / "made.txt").exists()
    assert result_of(messages).result == "done"
    assert result_of(messages).permission_denials == []


async def test_allow_with_other_input_runs_that(options, place):
    host = Host(PermissionResultAllow(updated_input={"command": "touch other.txt"}))
    messages = await run(TOUCH, options(can_use_tool=host))
    assert (place.project / "other.txt").exists()
    assert not (place.project / "made.txt").exists()
    assert calls_of(messages)[0].input["command"] == "touch made.txt"


async def test_denial_is_sent_to_the_model(options, place):
    host = Host(PermissionResultDeny(message="not today"))
    messages = await run(TOUCH, options(can_use_tool=host))
    assert not (place.project / "made.txt").exists()
    (answer,) = tool_results_of(messages)
    assert answer.is_error and text_of(answer) == "not today"
    result = result_of(messages)
    assert result.result == "done" and not result.is_error
    (denial,) = result.permission_denials
    assert denial["tool_name"] == "Bash"
    assert denial["tool_use_id"] == calls_of(messages)[0].id
    assert denial["tool_input"]["command"] == "touch made.txt"


async def test_deny_with_interrupt_ends_the_turn_but_not_the_session(options, place):
    host = Host(PermissionResultDeny(message="stop it", interrupt=True))
    async with ClaudeSDKClient(options(can_use_tool=host)) as client:
        stopped = await ask(client, TOUCH)
        after = await ask(client, "SAY still alive")
    result = result_of(stopped)
    assert result.subtype == "error_during_execution" and result.is_error
    assert result.terminal_reason == "aborted_tools"
    assert not (place.project / "made.txt").exists()
    assert result_of(after).result == "still alive"


async def test_callback_that_fails_denies(options, place):
    messages = await run(TOUCH, options(can_use_tool=Host(RuntimeError("host failed"))))
    (answer,) = tool_results_of(messages)
    assert answer.is_error and "host failed" in text_of(answer)
    assert not (place.project / "made.txt").exists()
    assert result_of(messages).result == "done"


async def test_suggestion_that_is_accepted_stops_the_questions(options, place):
    questions = []

    async def host(tool, arguments, context):
        questions.append(arguments["command"])
        rules = [one for one in context.suggestions if one.type == "addRules"]
        assert rules and rules[0].rules[0].tool_name == "Bash"
        rules[0].destination = "session"
        return PermissionResultAllow(updated_permissions=rules)

    async with ClaudeSDKClient(options(can_use_tool=host)) as client:
        await ask(client, TOUCH)
        (place.project / "made.txt").unlink()
        await ask(client, TOUCH)
    assert questions == ["touch made.txt"]
    assert (place.project / "made.txt").exists()


async def test_host_can_change_the_mode_with_its_answer(options, place):
    update = PermissionUpdate(type="setMode", mode="acceptEdits", destination="session")
    host = Host(PermissionResultAllow(updated_permissions=[update]))
    write = [call("Write", file_path=str(place.project / name), content="x") for name in ("a", "b")]
    await run(script(write[0], "NEXT", write[1], "NEXT", "SAY x"), options(can_use_tool=host))
    assert len(host.questions) == 1
    assert (place.project / "b").exists()


async def test_host_can_add_its_own_rule(options, place):
    update = PermissionUpdate(
        type="addRules",
        rules=[PermissionRuleValue("Bash", "touch:*")],
        behavior="allow",
        destination="session",
    )
    host = Host(PermissionResultAllow(updated_permissions=[update]))
    prompt = script(
        call("Bash", command="touch one"),
        "NEXT",
        call("Bash", command="touch two"),
        "NEXT",
        "SAY x",
    )
    await run(prompt, options(can_use_tool=host))
    assert len(host.questions) == 1
    assert (place.project / "two").exists()


async def test_questions_of_parallel_calls_are_asked_together(options):
    """Each answer waits for all questions, so asking one by one would never end."""
    everyone = asyncio.Barrier(3)

    async def host(name, arguments, context):
        await asyncio.wait_for(everyone.wait(), 20)
        return PermissionResultAllow()

    @tool("peek", "Peeks", {}, annotations=ToolAnnotations(readOnlyHint=True))
    async def peek(arguments):
        return {"content": [{"type": "text", "text": "seen"}]}

    server = create_sdk_mcp_server("box", tools=[peek])
    messages = await run(
        script(*[call("mcp__box__peek")] * 3, "NEXT", "SAY done"),
        options(can_use_tool=host, mcp_servers={"box": server}),
    )
    assert [text_of(answer) for answer in tool_results_of(messages)] == ["seen"] * 3


async def test_reading_is_not_asked_about(options, place):
    host = Host(PermissionResultDeny(message="no"))
    file = place.file("a.txt", "words\n")
    prompt = script(
        call("Read", file_path=str(file)), call("Bash", command="cat a.txt"), "NEXT", "SAY x"
    )
    messages = await run(prompt, options(can_use_tool=host))
    assert host.questions == []
    assert all("words" in text_of(answer) for answer in tool_results_of(messages))


async def test_tool_does_not_run_without_an_approver(options, place):
    messages = await run(TOUCH, options())
    assert not (place.project / "made.txt").exists()
    (denied,) = system_of(messages, "permission_denied")
    assert denied["tool_name"] == "Bash"
    assert tool_results_of(messages)[0].is_error
    assert len(result_of(messages).permission_denials) == 1


@pytest.mark.parametrize(
    ("mode", "wrote", "touched"),
    [
        ("default", False, False),
        ("acceptEdits", True, True),
        ("plan", False, False),
        ("dontAsk", False, False),
        ("bypassPermissions", True, True),
    ],
)
async def test_modes(options, place, mode, wrote, touched):
    prompt = script(
        call("Write", file_path=str(place.project / "w.txt"), content="w\n"),
        "NEXT",
        call("Bash", command="touch made.txt"),
        "NEXT",
        "SAY done",
    )
    messages = await run(prompt, options(permission_mode=mode, env={"IS_SANDBOX": "1"}))
    assert init_of(messages)["permissionMode"] == mode
    assert (place.project / "w.txt").exists() == wrote
    assert (place.project / "made.txt").exists() == touched


async def test_set_permission_mode(options, place):
    host = Host(PermissionResultDeny(message="no"))
    write = call("Write", file_path=str(place.project / "w.txt"), content="w\n")
    async with ClaudeSDKClient(options(can_use_tool=host)) as client:
        await ask(client, script(write, "NEXT", "SAY done"))
        assert not (place.project / "w.txt").exists()
        await client.set_permission_mode("acceptEdits")
        messages = await ask(client, script(write, "NEXT", "SAY done"))
        with pytest.raises(Exception, match="(?i)mode"):
            await client.set_permission_mode("whatever")
    assert init_of(messages)["permissionMode"] == "acceptEdits"
    assert (place.project / "w.txt").exists()
    assert len(host.questions) == 1


async def test_allowed_rules(options, place):
    prompt = script(
        call("Bash", command="touch a"), "NEXT", call("Bash", command="mkdir b"), "NEXT", "SAY x"
    )
    messages = await run(prompt, options(allowed_tools=["Bash(touch:*)"]))
    assert (place.project / "a").exists()
    assert not (place.project / "b").exists()
    assert [answer.is_error for answer in tool_results_of(messages)] == [False, True]


async def test_disallowed_tool_is_not_on_offer(options):
    messages = await run(TOUCH, options(disallowed_tools=["Bash"]))
    assert "Bash" not in init_of(messages)["tools"]
    assert "Read" in init_of(messages)["tools"]
    assert tool_results_of(messages)[0].is_error


async def test_disallowed_rule_beats_the_allowed_tool(options, place):
    messages = await run(TOUCH, options(allowed_tools=["Bash"], disallowed_tools=["Bash(touch:*)"]))
    assert "Bash" in init_of(messages)["tools"]
    assert tool_results_of(messages)[0].is_error
    assert not (place.project / "made.txt").exists()


async def test_deny_rule_of_settings_beats_the_callback(options, place):
    host = Host(PermissionResultAllow())
    settings = '{"permissions": {"deny": ["Bash(touch:*)"]}}'
    messages = await run(TOUCH, options(can_use_tool=host, settings=settings))
    assert host.questions == []
    assert tool_results_of(messages)[0].is_error
