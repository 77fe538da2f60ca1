"""`query()`: one string, many prompts, and the messages returned."""

import asyncio

import pytest
from claude_agent_sdk import (
    AssistantMessage,
    CLIConnectionError,
    CLINotFoundError,
    ProcessError,
    ResultError,
    ResultMessage,
    SystemMessage,
    ThinkingBlock,
    UserMessage,
    query,
)
from driving import (
    call,
    calls_of,
    init_of,
    prompt_message,
    prompts,
    result_of,
    results_of,
    run,
    script,
    text_of,
    texts_of,
    tool_results_of,
)


async def test_string_prompt_is_answered(options, place):
    messages = await run("SAY hello there", options())
    shown = (SystemMessage, AssistantMessage, ResultMessage)
    kinds = [type(message) for message in messages if isinstance(message, shown)]
    assert kinds[0] is SystemMessage and kinds[-1] is ResultMessage
    assert texts_of(messages) == ["hello there"]
    init = init_of(messages)
    assert init["cwd"] == str(place.project)
    result = result_of(messages)
    assert result.subtype == "success" and not result.is_error
    assert result.result == "hello there"
    assert result.num_turns == 1
    assert result.stop_reason == "end_turn"
    assert result.terminal_reason == "completed"
    assert result.session_id == init["session_id"]
    assert result.usage["output_tokens"] == 2
    assert result.model_usage[init["model"]]["outputTokens"] == 2
    assert result.permission_denials == []


async def test_prompt_without_directives_is_echoed(options):
    assert result_of(await run("just words", options())).result == "just words"


async def test_iterable_prompts_are_turns_of_one_session(options):
    answered = asyncio.Queue()

    async def conversation():
        for text in ("SAY first", "SAY second", "SAY third"):
            yield prompt_message(text)
            await answered.get()

    results = []
    async for message in query(prompt=conversation(), options=options()):
        if isinstance(message, ResultMessage):
            results.append(message)
            answered.put_nowait(None)
    assert [result.result for result in results] == ["first", "second", "third"]
    assert len({result.session_id for result in results}) == 1


async def test_prompts_that_come_together_all_reach_the_model(api, api_options):
    messages = await run(prompts("SAY first", "SAY second", "SAY third"), api_options())
    assert result_of(messages).result == "third"
    for text in ("SAY first", "SAY second", "SAY third"):
        assert text in api.requests[-1].conversation


async def test_iterable_without_prompts_ends(options):
    assert results_of(await run(prompts(), options())) == []


async def test_prompt_of_blocks(options):
    blocks = [{"type": "text", "text": "look"}, {"type": "text", "text": "SAY from a block"}]
    assert texts_of(await run(prompts(blocks), options())) == ["from a block"]


async def test_image_in_a_prompt_reaches_the_model(api, api_options):
    pixel = (
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
        "YPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
    )
    source = {"type": "base64", "media_type": "image/png", "data": pixel}
    blocks = [{"type": "image", "source": source}, {"type": "text", "text": "SAY seen"}]
    assert texts_of(await run(prompts(blocks), api_options())) == ["seen"]
    assert pixel in api.requests[0].conversation


async def test_tool_is_run_and_answered(options):
    prompt = script("SAY looking", call("Bash", command="echo yo"), "NEXT", "ECHORESULT")
    messages = await run(prompt, options(allowed_tools=["Bash"]))
    assert [(use.name, use.input["command"]) for use in calls_of(messages)] == [("Bash", "echo yo")]
    (answer,) = tool_results_of(messages)
    assert text_of(answer) == "yo"
    assert answer.tool_use_id == calls_of(messages)[0].id
    assert not answer.is_error
    assert result_of(messages).result == "result was: yo"
    assert result_of(messages).num_turns == 2
    (user,) = [message for message in messages if isinstance(message, UserMessage)]
    assert user.tool_use_result["stdout"] == "yo"


async def test_parallel_tools_are_all_answered(options):
    prompt = script(
        call("Bash", command="echo one"),
        call("Bash", command="echo two"),
        call("Bash", command="echo three"),
        "NEXT",
        "SAY done",
    )
    messages = await run(prompt, options(allowed_tools=["Bash"]))
    answers = {answer.tool_use_id: text_of(answer) for answer in tool_results_of(messages)}
    assert [answers[use.id] for use in calls_of(messages)] == ["one", "two", "three"]


async def test_failed_tool_is_an_error_result(options):
    prompt = script(call("Bash", command="echo out; exit 3"), "NEXT", "SAY after")
    messages = await run(prompt, options(allowed_tools=["Bash"]))
    (answer,) = tool_results_of(messages)
    assert answer.is_error
    assert text_of(answer) == "Exit code 3\nout"
    assert result_of(messages).result == "after"


async def test_files_are_read_written_and_edited(options, place):
    poem = place.file("poem.txt", "roses are red\n")
    prompt = script(
        call("Read", file_path=str(poem)),
        "NEXT",
        call("Edit", file_path=str(poem), old_string="red", new_string="blue"),
        "NEXT",
        call("Write", file_path=str(place.project / "new.txt"), content="fresh\n"),
        "NEXT",
        "SAY done",
    )
    messages = await run(prompt, options(permission_mode="acceptEdits"))
    assert "1\troses are red" in text_of(tool_results_of(messages)[0])
    assert poem.read_text() == "roses are blue\n"
    assert (place.project / "new.txt").read_text() == "fresh\n"


async def test_thinking_is_a_block_of_its_own(options):
    messages = await run(script("THINK hard about it", "SAY so"), options())
    (thought,) = [
        block
        for message in messages
        if isinstance(message, AssistantMessage)
        for block in message.content
        if isinstance(block, ThinkingBlock)
    ]
    assert thought.thinking == "hard about it"
    assert thought.signature
    assert texts_of(messages) == ["so"]


async def test_error_of_the_model_is_a_result_and_an_exception(options):
    messages = []
    with pytest.raises(ResultError) as raised:
        async for message in query(
            prompt=script("ERRORS 400 -1", "ERRMSG that is no prompt"), options=options()
        ):
            messages.append(message)
    result = result_of(messages)
    assert result.is_error
    assert result.api_error_status == 400
    assert "that is no prompt" in result.result
    assert raised.value.exit_code == 1
    assert raised.value.session_id == result.session_id


async def test_overloaded_model_is_asked_again(options):
    messages = await run(script("ERRORS 529 1", "SAY at last"), options())
    assert result_of(messages).result == "at last"
    retries = [
        message.data
        for message in messages
        if isinstance(message, SystemMessage) and message.subtype == "api_retry"
    ]
    assert [(retry["attempt"], retry["error_status"]) for retry in retries] == [(1, 529)]


async def test_missing_program_and_folder_are_named(options, place):
    with pytest.raises(CLINotFoundError):
        await run("SAY x", options(cli_path=place.project / "nothing"))
    with pytest.raises(CLIConnectionError, match="nowhere"):
        await run("SAY x", options(cwd=place.project / "nowhere"))


async def test_unknown_flag_ends_the_program(options):
    said = []
    with pytest.raises(ProcessError) as raised:
        await run("SAY x", options(extra_args={"no-such-flag": None}, stderr=said.append))
    assert raised.value.exit_code == 1
    assert "--no-such-flag" in "\n".join(said)


async def test_prompt_with_its_own_id_is_taken_once(options):
    identity = "6f1c1a52-53a5-4b7f-9d55-0a9d5f7a4c11"

    async def twice():
        yield prompt_message("SAY once", uuid=identity)
        yield prompt_message("SAY once", uuid=identity)

    assert len(results_of(await run(twice(), options()))) == 1
