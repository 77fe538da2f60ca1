"""Prompts that are scripts, and the parts of a run that the tests look at.

The model behind `bowline --model script` does what its prompt says, so every test
writes the whole conversation down in the prompt it sends.
"""

import json
from collections.abc import AsyncIterable, AsyncIterator, Iterable
from typing import Any

from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    Message,
    ResultError,
    ResultMessage,
    StreamEvent,
    SystemMessage,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
    query,
)


def script(*lines: str) -> str:
    """A prompt that tells the model what to do."""
    return "\n".join(lines)


def call(tool: str, **arguments: Any) -> str:
    """The line with which the model calls a tool."""
    return f"TOOL {tool} {json.dumps(arguments)}"


def prompt_message(text: str | list[dict[str, Any]], **fields: Any) -> dict[str, Any]:
    """A prompt as the SDK takes it from an async iterable."""
    message = {"role": "user", "content": text}
    return {"type": "user", "message": message, "parent_tool_use_id": None, **fields}


async def prompts(*texts: str | list[dict[str, Any]]) -> AsyncIterator[dict[str, Any]]:
    """Prompts one after another, the way a streaming host gives them."""
    for text in texts:
        yield prompt_message(text)


async def run(
    prompt: str | AsyncIterable[dict[str, Any]], options: ClaudeAgentOptions
) -> list[Message]:
    """Every message of one `query()`.

    The SDK raises behind a result that is an error; the result is what the tests
    look at, so that exception is dropped if the result came.
    """
    messages: list[Message] = []
    try:
        async for message in query(prompt=prompt, options=options):
            messages.append(message)
    except ResultError:
        if not results_of(messages):
            raise
    return messages


async def ask(client: ClaudeSDKClient, prompt: str) -> list[Message]:
    """Every message that answers one prompt in an open session."""
    await client.query(prompt)
    return [message async for message in client.receive_response()]


def result_of(messages: Iterable[Message]) -> ResultMessage:
    """The last result."""
    results = [message for message in messages if isinstance(message, ResultMessage)]
    assert results, "the run had no result"
    return results[-1]


def results_of(messages: Iterable[Message]) -> list[ResultMessage]:
    """All results, of a run with several turns."""
    return [message for message in messages if isinstance(message, ResultMessage)]


def init_of(messages: Iterable[Message]) -> dict[str, Any]:
    """What the first `init` message says."""
    return system_of(messages, "init")[0]


def system_of(messages: Iterable[Message], subtype: str) -> list[dict[str, Any]]:
    """What all system messages of one kind say."""
    return [
        message.data
        for message in messages
        if isinstance(message, SystemMessage) and message.subtype == subtype
    ]


def texts_of(messages: Iterable[Message]) -> list[str]:
    """The texts that the model said."""
    return [
        block.text
        for message in messages
        if isinstance(message, AssistantMessage)
        for block in message.content
        if isinstance(block, TextBlock)
    ]


def calls_of(messages: Iterable[Message]) -> list[ToolUseBlock]:
    """The tool calls that the model made."""
    return [
        block
        for message in messages
        if isinstance(message, AssistantMessage)
        for block in message.content
        if isinstance(block, ToolUseBlock)
    ]


def tool_results_of(messages: Iterable[Message]) -> list[ToolResultBlock]:
    """What the tools answered, in order."""
    return [
        block
        for message in messages
        if isinstance(message, UserMessage) and isinstance(message.content, list)
        for block in message.content
        if isinstance(block, ToolResultBlock)
    ]


def text_of(result: ToolResultBlock) -> str:
    """The words of a tool's answer."""
    if isinstance(result.content, str):
        return result.content
    return "".join(block.get("text", "") for block in result.content or [])


def deltas_of(messages: Iterable[Message]) -> str:
    """The text that arrived piece by piece."""
    return "".join(
        message.event["delta"].get("text", "")
        for message in messages
        if isinstance(message, StreamEvent) and message.event["type"] == "content_block_delta"
    )
