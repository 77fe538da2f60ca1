"""Interrupts, concurrent sessions, and programs that die."""

import asyncio
import os
import signal

import pytest
from claude_agent_sdk import (
    ClaudeSDKClient,
    ProcessError,
    ResultMessage,
    StreamEvent,
    SystemMessage,
    get_session_messages,
    query,
)
from driving import ask, call, init_of, result_of, run, script, texts_of


async def first_delta(client: ClaudeSDKClient) -> None:
    """Waits until the model has begun to speak."""
    async for message in client.receive_messages():
        if isinstance(message, StreamEvent) and message.event["type"] == "content_block_delta":
            return


async def test_interrupt_while_the_model_speaks(options):
    async with ClaudeSDKClient(options(include_partial_messages=True)) as client:
        await client.query(script("SAY words that never end", "HANG"))
        await first_delta(client)
        await client.interrupt()
        stopped = result_of([message async for message in client.receive_response()])
        after = await ask(client, "SAY alive")
    assert stopped.subtype == "error_during_execution" and stopped.is_error
    assert stopped.terminal_reason == "aborted_streaming"
    assert result_of(after).result == "alive"


async def test_interrupt_kills_the_running_command(options, place):
    fifo = place.project / "fifo"
    os.mkfifo(fifo)
    command = f"echo $$ > {fifo}; sleep 600"
    async with ClaudeSDKClient(options(allowed_tools=["Bash"])) as client:
        await client.query(script(call("Bash", command=command), "NEXT", "SAY not reached"))
        pid = int(await asyncio.to_thread(fifo.read_text))
        await client.interrupt()
        messages = [message async for message in client.receive_response()]
        after = await ask(client, "SAY alive")
    assert result_of(messages).terminal_reason == "aborted_tools"
    assert "not reached" not in texts_of(messages)
    assert result_of(after).result == "alive"
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_interrupt_when_nothing_runs(options):
    async with ClaudeSDKClient(options()) as client:
        await ask(client, "SAY one")
        await client.interrupt()
        assert result_of(await ask(client, "SAY two")).result == "two"


async def test_eight_sessions_side_by_side(options, place):
    """Every command waits until all eight run, so one after another would never end."""
    meeting = place.project / "meeting"
    meeting.mkdir()
    wait = 'touch "meeting/{n}"; until [ $(ls meeting | wc -l) = 8 ]; do :; done; echo {n}'

    async def one(n: int) -> str:
        prompt = script(call("Bash", command=wait.format(n=n)), "NEXT", "ECHORESULT")
        messages = await run(prompt, options(allowed_tools=["Bash"]))
        return result_of(messages).session_id, result_of(messages).result

    answers = await asyncio.gather(*(one(n) for n in range(8)))
    assert [text for _, text in answers] == [f"result was: {n}" for n in range(8)]
    assert len({session for session, _ in answers}) == 8


async def test_program_that_is_killed_is_an_error_and_can_be_resumed(options, place):
    client = ClaudeSDKClient(options(include_partial_messages=True))
    await client.connect()
    first = await ask(client, "SAY safely kept")
    session = result_of(first).session_id
    pid = (await client.get_server_info())["pid"]
    await client.query(script("SAY words that never end", "HANG"))
    await first_delta(client)
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(ProcessError) as raised:
        async for message in client.receive_messages():
            assert not isinstance(message, ResultMessage)
    await client.disconnect()
    assert raised.value.exit_code == -signal.SIGKILL
    kept = get_session_messages(session, directory=str(place.project))
    assert kept[1].message["content"][0]["text"] == "safely kept"
    messages = await run("SAY back", options(resume=session))
    assert result_of(messages).result == "back"
    assert result_of(messages).session_id == session


async def test_terminated_program_leaves_no_command_behind(options, place):
    fifo = place.project / "fifo"
    os.mkfifo(fifo)
    command = f"echo $$ > {fifo}; sleep 600"
    client = ClaudeSDKClient(options(allowed_tools=["Bash"]))
    await client.connect()
    pid = (await client.get_server_info())["pid"]
    await client.query(script(call("Bash", command=command), "NEXT", "SAY x"))
    child = int(await asyncio.to_thread(fifo.read_text))
    os.kill(pid, signal.SIGTERM)
    with pytest.raises(ProcessError) as raised:
        async for _ in client.receive_messages():
            pass
    await client.disconnect()
    assert raised.value.exit_code == 143
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


async def test_leaving_in_the_middle_ends_the_program(options):
    async with ClaudeSDKClient(options(include_partial_messages=True)) as client:
        pid = (await client.get_server_info())["pid"]
        await client.query(script("SAY words that never end", "HANG"))
        await first_delta(client)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_breaking_out_of_a_query_is_fine(options):
    async for message in query(prompt=script("SAY a", "HANG"), options=options()):
        if isinstance(message, SystemMessage):
            session = init_of([message])["session_id"]
            break
    assert session
