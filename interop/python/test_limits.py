"""Limits of turns and cost, and the cost of a session."""

import pytest
from claude_agent_sdk import ClaudeSDKClient
from driving import ask, call, result_of, run, script, texts_of, tool_results_of


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
    prompt = script(usage, call("Bash", command="echo 1"), "NEXT", usage, "SAY not reached")
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
