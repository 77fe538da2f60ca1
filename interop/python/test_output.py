"""Structured output, partial messages, subagents, limits."""

import pytest
from claude_agent_sdk import (
    AgentDefinition,
    AssistantMessage,
    ClaudeSDKClient,
    StreamEvent,
    TaskNotificationMessage,
    TaskStartedMessage,
    UserMessage,
)
from driving import (
    ask,
    call,
    calls_of,
    deltas_of,
    init_of,
    result_of,
    run,
    script,
    text_of,
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
    messages = await run(
        prompt, options(output_format={"type": "json_schema", "schema": SCHEMA})
    )
    assert "StructuredOutput" in init_of(messages)["tools"]
    assert result_of(messages).structured_output == {"name": "ada", "n": 1}
    assert result_of(messages).subtype == "success"


async def test_structured_output_of_the_wrong_shape_is_tried_again(options):
    prompt = script(
        call("StructuredOutput", name="ada"), "NEXT", call("StructuredOutput", name="ada", n=2)
    )
    messages = await run(
        prompt, options(output_format={"type": "json_schema", "schema": SCHEMA})
    )
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
    messages = await run(
        prompt, options(include_partial_messages=True, allowed_tools=["Bash"])
    )
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


def send(agent: str, prompt: str, **fields) -> str:
    return call(
        "Agent",
        **{
            "description": "sub work",
            "prompt": prompt,
            "subagent_type": agent,
            "run_in_background": False,
            **fields,
        },
    )


HELPER = {
    "helper": AgentDefinition(
        description="helps with things", prompt="You help.", tools=["Bash", "Read"]
    )
}
WORK = script("SAY sub start", call("Bash", command="echo in sub"), "NEXT", "SAY sub end")


async def test_agent_works_and_reports(options):
    prompt = script(send("helper", WORK), "NEXT", "SAY main end")
    messages = await run(prompt, options(agents=HELPER, allowed_tools=["Bash"]))
    assert "helper" in init_of(messages)["agents"]
    main, inner = calls_of(messages)
    assert (main.name, inner.name) == ("Agent", "Bash")
    inside = [
        message
        for message in messages
        if isinstance(message, AssistantMessage | UserMessage)
        and message.parent_tool_use_id == main.id
    ]
    assert inner in calls_of(inside)
    assert text_of(tool_results_of(inside)[0]) == "in sub"
    report = [
        answer for answer in tool_results_of(messages) if answer.tool_use_id == main.id
    ]
    assert "sub end" in text_of(report[0])
    assert result_of(messages).result == "main end"
    (started,) = [one for one in messages if isinstance(one, TaskStartedMessage)]
    (ended,) = [one for one in messages if isinstance(one, TaskNotificationMessage)]
    assert started.tool_use_id == main.id and started.task_type == "local_agent"
    assert (ended.task_id, ended.status) == (started.task_id, "completed")
    assert ended.usage["tool_uses"] == 1


async def test_agents_have_their_own_prompt_and_tools(api, api_options):
    prompt = script(send("helper", "SAY sub"), "NEXT", "SAY main")
    await run(prompt, api_options(agents=HELPER, system_prompt="You are in charge."))
    (sub,) = [request for request in api.requests if "You help." in request.system]
    main = next(request for request in api.requests if "You are in charge." in request.system)
    assert main is not sub and "You are in charge." not in sub.system
    assert {"Bash", "Read"} == set(sub.tools)
    assert "helps with things" in str(main.body)


async def test_words_of_agents_are_forwarded_on_request(options):
    prompt = script(send("helper", WORK), "NEXT", "SAY main end")
    quiet = await run(prompt, options(agents=HELPER, allowed_tools=["Bash"]))
    assert "sub start" not in texts_of(quiet)
    loud = await run(
        prompt, options(agents=HELPER, allowed_tools=["Bash"], forward_subagent_text=True)
    )
    assert "sub start" in texts_of(loud)


async def test_unknown_agent_is_an_error_result(options):
    messages = await run(script(send("nobody", "SAY x"), "NEXT", "SAY after"), options())
    (answer,) = tool_results_of(messages)
    assert answer.is_error and "nobody" in text_of(answer)
    assert result_of(messages).result == "after"


async def test_background_agent_reports_later(options):
    prompt = script(send("helper", "SAY sub end", run_in_background=True), "NEXT", "SAY main end")
    messages = await run(prompt, options(agents=HELPER))
    (ended,) = [one for one in messages if isinstance(one, TaskNotificationMessage)]
    assert ended.status == "completed"
    assert result_of(messages).origin["kind"] == "task-notification"


async def test_max_turns(options):
    prompt = script(
        *(line for n in range(3) for line in (call("Bash", command=f"echo {n}"), "NEXT")),
        "SAY not reached",
    )
    async with ClaudeSDKClient(options(max_turns=2, allowed_tools=["Bash"])) as client:
        stopped = await ask(client, prompt)
        after = await ask(client, "SAY next turn")
    result = result_of(stopped)
    assert result.subtype == "error_max_turns" and result.is_error
    assert result.terminal_reason == "max_turns"
    assert result.errors == ["Reached maximum number of turns (2)"]
    assert len(tool_results_of(stopped)) == 2
    assert result_of(after).result == "next turn"


async def test_max_budget(api_options):
    usage = 'USAGE {"input_tokens": 1000000, "output_tokens": 100000}'
    prompt = script(
        usage, call("Bash", command="echo 1"), "NEXT", usage, "SAY not reached"
    )
    messages = await run(prompt, api_options(max_budget_usd=0.5, allowed_tools=["Bash"]))
    result = result_of(messages)
    assert result.subtype == "error_max_budget_usd" and result.is_error
    assert result.total_cost_usd > 0.5
    assert "not reached" not in texts_of(messages)


async def test_cost_adds_up_over_the_session(api_options):
    async with ClaudeSDKClient(api_options()) as client:
        first = result_of(await ask(client, script('USAGE {"output_tokens": 1000}', "SAY x")))
        second = result_of(await ask(client, script('USAGE {"output_tokens": 1000}', "SAY x")))
    assert first.total_cost_usd > 0
    assert second.total_cost_usd == pytest.approx(2 * first.total_cost_usd, rel=0.2)
    counts = [one.model_usage["claude-sonnet-5-5"]["outputTokens"] for one in (first, second)]
    assert counts[0] >= 1000 and counts[1] == 2 * counts[0]
