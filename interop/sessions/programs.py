"""The two programs that share a session folder, and their requests to the model."""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recorder import Recorder, Request


@dataclass
class Program:
    """One of the two, with the folders and the model that both use."""

    path: str
    project: Path
    api: Recorder

    def ask(self, prompt: str, *arguments: str) -> dict[str, Any]:
        """The result of one prompt."""
        tools = ["--allowedTools", "Bash", "Agent", "Task"]
        words = [self.path, "-p", "--model", "claude-sonnet-5-5", "--output-format", "json"]
        done = subprocess.run(
            [*words, *arguments, *tools, "--", prompt],
            cwd=self.project,
            env={**os.environ, **self.api.environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.stdout, (done.returncode, done.stderr)
        result = json.loads(done.stdout)
        assert not result["is_error"], result
        return result


def valid_history(request: Request) -> str | None:
    """What the API would refuse about a conversation, if anything."""
    open_calls: set[str] = set()
    last = None
    for message in request.body["messages"]:
        # Official sessions may end in lines of one side, which the API joins.
        role, content = message["role"], message["content"]
        if last is None and role != "user":
            return "it does not begin with the user"
        blocks = content if isinstance(content, list) else []
        results = {it["tool_use_id"] for it in blocks if it["type"] == "tool_result"}
        calls = {it["id"] for it in blocks if it["type"] == "tool_use"}
        if not results <= open_calls:
            return f"{results - open_calls} were not asked for"
        open_calls -= results
        if open_calls and role != last:
            return f"{open_calls} were not answered"
        open_calls |= calls
        last = role
    return None
