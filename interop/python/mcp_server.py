"""A stdio MCP server made with the official `mcp` package."""

import json
import os

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("shelf")


@server.tool(structured_output=False)
def shout(text: str) -> str:
    """Says it louder."""
    return text.upper()


@server.tool(structured_output=False)
def environment(name: str) -> str:
    """Reads a variable of the server's environment."""
    return os.environ.get(name, "unset")


@server.tool()
def fail() -> str:
    """Never works."""
    raise ToolError("the shelf fell down")


@server.tool()
def count(text: str) -> dict[str, int]:
    """Counts letters and words, as data."""
    return {"letters": len(text), "words": len(text.split())}


@server.tool(structured_output=False)
def decide(tool_name: str, input: dict, tool_use_id: str = "") -> str:
    """Answers permission questions: everything but `rm` may run."""
    if "rm" in input.get("command", ""):
        return json.dumps({"behavior": "deny", "message": f"no {tool_name} with rm"})
    return json.dumps({"behavior": "allow", "updatedInput": input})


if __name__ == "__main__":
    server.run()
