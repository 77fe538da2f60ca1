"""Subagents: their input, their messages to the host, and their reports."""

from claude_agent_sdk import (
    AgentDefinition,
    AssistantMessage,
    TaskNotificationMessage,
    TaskStartedMessage,
    UserMessage,
)
from driving import (
    call,
    calls_of,
    init_of,
    result_of,
    run,
    script,
    text_of,
    texts_of,
    tool_results_of,
)


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
    report = [answer for answer in tool_results_of(messages) if answer.tool_use_id == main.id]
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
