"""Structured output and partial messages."""

from claude_agent_sdk import StreamEvent
from driving import (
    call,
    deltas_of,
    init_of,
    result_of,
    run,
    script,
    texts_of,
    tool_results_of,
)

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "n": {"type": "number"}},
    "required": ["name", "n"],
}


async def test_structured_output(options):
    prompt = script(call("StructuredOutput", name="ada", n=1), "NEXT", "SAY finished")
    messages = await run(prompt, options(output_format={"type": "json_schema", "schema": SCHEMA}))
    assert "StructuredOutput" in init_of(messages)["tools"]
    assert result_of(messages).structured_output == {"name": "ada", "n": 1}
    assert result_of(messages).subtype == "success"


async def test_structured_output_of_the_wrong_shape_is_tried_again(options):
    prompt = script(
        call("StructuredOutput", name="ada"), "NEXT", call("StructuredOutput", name="ada", n=2)
    )
    messages = await run(prompt, options(output_format={"type": "json_schema", "schema": SCHEMA}))
    assert [bool(answer.is_error) for answer in tool_results_of(messages)] == [True, False]
    assert result_of(messages).structured_output == {"name": "ada", "n": 2}


async def test_structured_output_that_does_not_come_is_asked_for(api, api_options):
    messages = await run(
        "SAY I will not", api_options(output_format={"type": "json_schema", "schema": SCHEMA})
    )
    assert "I will not" in texts_of(messages)
    assert "StructuredOutput tool" in api.requests[-1].conversation
    assert result_of(messages).structured_output is None


async def test_partial_messages(options):
    prompt = script("THINK well", "SAY one two three", call("Bash", command="echo hi"))
    messages = await run(prompt, options(include_partial_messages=True, allowed_tools=["Bash"]))
    events = [message.event for message in messages if isinstance(message, StreamEvent)]
    kinds = [event["type"] for event in events]
    assert kinds[0] == "message_start"
    assert kinds.count("message_start") == kinds.count("message_stop") == 2
    assert kinds.count("content_block_start") == kinds.count("content_block_stop") == 4
    deltas = {event["delta"]["type"] for event in events if "delta" in event and "index" in event}
    assert deltas == {"thinking_delta", "signature_delta", "text_delta", "input_json_delta"}
    assert deltas_of(messages) == "".join(texts_of(messages))


async def test_without_the_option_there_are_no_partial_messages(options):
    messages = await run("SAY one two three", options())
    assert not [message for message in messages if isinstance(message, StreamEvent)]


async def test_many_deltas_arrive_in_order(options):
    messages = await run(script("TOKENS 5000"), options(include_partial_messages=True))
    assert deltas_of(messages) == result_of(messages).result
    assert len(result_of(messages).result.split()) == 5000
