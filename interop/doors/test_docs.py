"""Every snippet of docs/doors.md that a user would copy, run unchanged."""

import os
import re
import subprocess
import sys
from http.client import HTTPConnection
from pathlib import Path

import pytest
from conftest import Place, listening

DOCS = Path(__file__).parents[2] / "docs" / "doors.md"


def snippets(language: str) -> list[str]:
    """The blocks in a language, in their order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", DOCS.read_text(), re.MULTILINE | re.DOTALL)


def snippet(language: str, part: str) -> str:
    """The one block that says this."""
    [found] = [block for block in snippets(language) if part in block]
    return found


@pytest.fixture
def shell(place: Place, tmp_path: Path) -> dict[str, str]:
    """An environment in which `bowline` is the program under test."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "bowline").symlink_to(place.bowline)
    return {**place.environment, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}


def run(place: Place, environment: dict[str, str], *command: str) -> str:
    """What a command prints."""
    ran = subprocess.run(
        command,
        cwd=place.project,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_a_run_from_a_shell(place: Place, shell: dict[str, str]) -> None:
    assert run(place, shell, "bash", "-c", snippet("sh", "bowline rpc")) == "hello\n"


def test_bowline_as_the_client(place: Place, shell: dict[str, str]) -> None:
    place.file("found.md")
    assert "found.md" in run(place, shell, "bash", "-c", snippet("sh", "mcp__bowline__Glob"))


def test_the_inspector(place: Place, shell: dict[str, str]) -> None:
    inspector = os.environ.get("MCP_INSPECTOR")
    if not inspector:
        pytest.skip("MCP_INSPECTOR is not set; interop/run sets it")
    command = snippet("sh", "npx @modelcontextprotocol/inspector").split()
    assert command[:2] == ["npx", "@modelcontextprotocol/inspector"]
    listed = run(place, shell, os.environ.get("NODE", "node"), inspector, *command[2:])
    assert '"name": "agent"' in listed


def test_the_python_client(place: Place, shell: dict[str, str]) -> None:
    program = snippet("python", "from mcp import Client")
    assert run(place, shell, sys.executable, "-c", program) == "hello\n"


def test_a_host_in_python(place: Place, shell: dict[str, str]) -> None:
    pytest.importorskip("websockets")
    program = snippet("python", "websockets.serve")
    command = snippet("sh", "--sdk-url ws://127.0.0.1:8765/\n")
    host = subprocess.Popen(
        [sys.executable, "-u", "-c", program],
        env=shell,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        run(place, shell, "bash", "-c", f"{command.strip()} --sdk-attempts 6")
        assert host.stdout is not None
        assert host.stdout.readline() == "done\n"
        assert (place.project / "made").exists()
    finally:
        host.kill()
        host.wait()


def test_over_http(place: Place, shell: dict[str, str]) -> None:
    """The token is made as shown; the server gets the rest of the line unchanged."""
    make_token, serve = snippet("sh", "--token-file").strip().splitlines()
    run(place, shell, "bash", "-c", make_token)
    arguments = serve.split()[1:]
    arguments[arguments.index("0.0.0.0:8765")] = "0.0.0.0:0"
    token = (place.project / "token").read_text().strip()
    with listening(place, *arguments) as address:
        port = int(address.split(":")[2].split("/")[0])

        def status(**headers: str) -> int:
            connection = HTTPConnection("127.0.0.1", port, timeout=20)
            connection.request("DELETE", "/mcp", headers={"Host": "build.example.org", **headers})
            return connection.getresponse().status

        assert status() == 401
        assert status(Authorization=f"Bearer {token}") == 400, "there is no session to end"


def test_the_configuration_is_json(place: Place, shell: dict[str, str]) -> None:
    (place.project / ".mcp.json").write_text(snippet("json", '"command": "bowline"'))
    prompt = 'TOOL mcp__bowline__Bash {"command": "git --version"}\nNEXT\nECHORESULT'
    said = run(
        place,
        shell,
        *("bowline", "-p", "--model", "script", "--mcp-config", ".mcp.json"),
        *("--allowedTools", "mcp__bowline", "--", prompt),
    )
    assert "git version" in said
