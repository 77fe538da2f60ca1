"""`ClaudeSDKClient`: sessions with many turns."""

import asyncio
import os

import pytest
from claude_agent_sdk import (
    ClaudeSDKClient,
    CLIConnectionError,
    ResultMessage,
    StreamEvent,
    UserMessage,
)
from driving import (
    ask,
    call,
    init_of,
    prompts,
    result_of,
    script,
    system_of,
    text_of,
    texts_of,
    tool_results_of,
)


async def test_turns_share_a_session_and_its_memory(options):
    async with ClaudeSDKClient(options(allowed_tools=["Bash"])) as client:
        first = await ask(client, script(call("Bash", command="echo 41"), "NEXT", "SAY noted"))
        second = await ask(client, "ECHORESULT")
    assert result_of(first).result == "noted"
    assert result_of(second).result == "result was: 41"
    assert result_of(first).session_id == result_of(second).session_id
    assert init_of(second)["session_id"] == init_of(first)["session_id"]


async def test_the_model_sees_all_earlier_turns(api, api_options):
    async with ClaudeSDKClient(api_options()) as client:
        for text in ("SAY one", "SAY two", "SAY three"):
            await ask(client, text)
    roles = [message["role"] for message in api.requests[-1].body["messages"]]
    assert [role for role in roles if role != "system"] == [
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
    ]


async def test_connect_with_a_prompt(options):
    client = ClaudeSDKClient(options())
    await client.connect("SAY at once")
    messages = [message async for message in client.receive_response()]
    await client.disconnect()
    assert texts_of(messages) == ["at once"]


async def test_connect_with_an_iterable(options):
    client = ClaudeSDKClient(options())
    await client.connect(prompts("SAY one", "SAY two"))
    answers = []
    async for message in client.receive_messages():
        if isinstance(message, ResultMessage):
            answers.append(message.result)
            if len(answers) == 2:
                break
    await client.disconnect()
    assert answers == ["one", "two"]


async def test_query_takes_an_iterable(options):
    async with ClaudeSDKClient(options()) as client:
        await client.query(prompts("SAY streamed"))
        messages = [message async for message in client.receive_response()]
    assert texts_of(messages) == ["streamed"]


async def test_prompts_sent_during_a_turn_wait_for_their_own(options):
    async with ClaudeSDKClient(options(include_partial_messages=True)) as client:
        await client.query(script("SLOW 20", "SAY first of two answers"))
        answers = []
        asked = False
        async for message in client.receive_messages():
            if isinstance(message, StreamEvent) and not asked:
                asked = True
                await client.query("SAY second")
            if isinstance(message, ResultMessage):
                answers.append(message.result)
                if len(answers) == 2:
                    break
    assert answers == ["first of two answers", "second"]


async def test_server_info(options):
    async with ClaudeSDKClient(options()) as client:
        info = await client.get_server_info()
    assert {"compact", "clear", "context"} <= {command["name"] for command in info["commands"]}
    assert all(model["value"] and model["displayName"] for model in info["models"])
    assert {"general-purpose"} <= {agent["name"] for agent in info["agents"]}
    assert info["output_style"] == "default"
    assert info["pid"] > 0


async def test_context_usage(options):
    async with ClaudeSDKClient(options()) as client:
        messages = await ask(client, "SAY hello")
        usage = await client.get_context_usage()
    assert usage["model"] == init_of(messages)["model"]
    assert 0 < usage["totalTokens"] < usage["maxTokens"]
    assert usage["percentage"] == pytest.approx(
        100 * usage["totalTokens"] / usage["maxTokens"], abs=1
    )
    assert sum(category["tokens"] for category in usage["categories"]) == pytest.approx(
        usage["maxTokens"], rel=0.05
    )


async def test_slash_commands(options):
    async with ClaudeSDKClient(options()) as client:
        await ask(client, script("SUMMARY of the past", "SAY one"))
        await ask(client, "SAY two")
        compacted = await ask(client, "/compact")
        after = await ask(client, "SAY still here")
    (boundary,) = system_of(compacted, "compact_boundary")
    assert boundary["compact_metadata"]["trigger"] == "manual"
    assert result_of(compacted).is_error is False
    assert result_of(after).result == "still here"


async def test_background_command_ends_in_a_turn_of_its_own(options):
    prompt = script(
        call("Bash", command="echo from behind", run_in_background=True),
        "NEXT",
        "SAY started",
    )
    async with ClaudeSDKClient(options(allowed_tools=["Bash"])) as client:
        await client.query(prompt)
        messages = []
        async for message in client.receive_messages():
            messages.append(message)
            if sum(isinstance(seen, ResultMessage) for seen in messages) == 2:
                break
    (started,) = system_of(messages, "task_started")
    (ended,) = system_of(messages, "task_notification")
    assert started["task_id"] == ended["task_id"]
    assert ended["status"] == "completed"
    assert result_of(messages).origin["kind"] == "task-notification"


async def test_stop_task_ends_a_background_command(options):
    prompt = script(
        call("Bash", command="sleep 600", run_in_background=True), "NEXT", "SAY started"
    )
    async with ClaudeSDKClient(options(allowed_tools=["Bash"])) as client:
        first = await ask(client, prompt)
        (started,) = system_of(first, "task_started")
        await client.stop_task(started["task_id"])
        async for message in client.receive_messages():
            stopped = system_of([message], "task_notification")
            if stopped:
                break
        await client.stop_task("no-such-task")
    assert stopped[0]["task_id"] == started["task_id"]
    assert stopped[0]["status"] == "stopped"


async def test_files_are_rewound(options, place):
    kept = place.file("a.txt", "alpha\n")
    prompt = script(
        call("Read", file_path=str(kept)),
        "NEXT",
        call("Edit", file_path=str(kept), old_string="alpha", new_string="beta"),
        "NEXT",
        call("Write", file_path=str(place.project / "new.txt"), content="n\n"),
        "NEXT",
        "SAY done",
    )
    async with ClaudeSDKClient(
        options(
            permission_mode="acceptEdits",
            enable_file_checkpointing=True,
            extra_args={"replay-user-messages": None},
        )
    ) as client:
        messages = await ask(client, prompt)
        assert kept.read_text() == "beta\n"
        replayed = next(
            message
            for message in messages
            if isinstance(message, UserMessage) and isinstance(message.content, str)
        )
        await client.rewind_files(replayed.uuid)
        with pytest.raises(Exception, match="No file checkpoint"):
            await client.rewind_files("33333333-3333-4333-8333-333333333333")
    assert kept.read_text() == "alpha\n"
    assert not (place.project / "new.txt").exists()


async def test_methods_need_a_connection(options):
    client = ClaudeSDKClient(options())
    with pytest.raises(CLIConnectionError, match="Not connected"):
        await client.query("SAY x")


async def test_disconnect_ends_the_program(options):
    client = ClaudeSDKClient(options())
    await client.connect()
    pid = (await client.get_server_info())["pid"]
    await asyncio.wait_for(client.disconnect(), 5)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_tool_keeps_its_folder_between_turns(options, place):
    (place.project / "sub").mkdir()
    async with ClaudeSDKClient(options(allowed_tools=["Bash"])) as client:
        await ask(client, script(call("Bash", command="cd sub"), "NEXT", "SAY moved"))
        messages = await ask(client, script(call("Bash", command="pwd"), "NEXT", "SAY there"))
    assert text_of(tool_results_of(messages)[0]) == str(place.project / "sub")
