"""The HTTP door: authentication, approvers, and the cost of a flood."""

import http.client
import json
import os
import re
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from case import Case, table
from world import World

HELLO = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {"elicitation": {}}, "clientInfo": {"name": "x", "version": "1"}},
}


@contextmanager
def serving(world: World, *words: str, **variables: str) -> Iterator[tuple[str, int, str]]:
    """`bowline mcp serve --http`: its address, and what it printed."""
    process = subprocess.Popen(
        [world.bowline, "mcp", "serve", "--http", "127.0.0.1:0", "--model", "script", *words], cwd=world.project,
        env={**world.environment, **variables}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
    )
    try:
        assert process.stdout
        heard, end = b"", time.monotonic() + 15
        while time.monotonic() < end and not re.search(rb"http://[\d.]+:\d+", heard):
            if select.select([process.stdout], [], [], 0.2)[0]:
                piece = os.read(process.stdout.fileno(), 65536)
                heard += piece
                if not piece:
                    break
        time.sleep(0.1)
        while select.select([process.stdout], [], [], 0.05)[0]:
            piece = os.read(process.stdout.fileno(), 65536)
            if not piece:
                break
            heard += piece
        text = heard.decode(errors="replace")
        found = re.search(r"http://([\d.]+):(\d+)", text)
        assert found, f"no address in {text!r}"
        yield found[1], int(found[2]), text
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def ask(place: tuple[str, int, str], message: Any, headers: dict[str, str] | None = None, method: str = "POST", seconds: float = 5) -> tuple[int, str, str]:
    """One request: status, session and the beginning of the answer."""
    connection = http.client.HTTPConnection(place[0], place[1], timeout=seconds)
    body = json.dumps(message)
    given = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **(headers or {})}
    connection.request(method, "/mcp", body, given)
    answer = connection.getresponse()
    heard = b""
    end = time.monotonic() + seconds
    try:
        while time.monotonic() < end and len(heard) < 65536:
            piece = answer.read1(4096)
            if not piece:
                break
            heard += piece
            if b"elicitation/create" in heard or b'"result"' in heard:
                break
    except (TimeoutError, OSError):
        pass
    connection.close()
    return answer.status, answer.getheader("mcp-session-id") or "", heard.decode(errors="replace")


def open_to(*words: str, headers: dict[str, str] | None = None, **variables: str) -> Callable[[World], str | None]:
    """The attack: a client without a token, or a page, is let in."""
    def attack(world: World) -> str | None:
        with serving(world, *words, **variables) as place:
            status, _, text = ask(place, HELLO, headers)
        return f"status {status}: {text[:150]}" if status == 200 else None

    return attack


def lets_in(*words: str, headers: dict[str, str] | None = None, **variables: str) -> Callable[[World], str | None]:
    """The twin: who has a token, or needs none, is let in."""
    def twin(world: World) -> str | None:
        with serving(world, *words, **variables) as place:
            status, _, text = ask(place, HELLO, headers)
        return None if status == 200 else f"status {status}: {text[:150]} {place[2][-200:]}"

    return twin


TOKEN = {"BOWLINE_MCP_TOKEN": "made-up-token-of-some-length"}
BEARER = {"Authorization": "Bearer made-up-token-of-some-length"}


def self_approval(*words: str) -> Callable[[World], str | None]:
    """The attack: a client that has proven nothing is asked whether it may."""
    def attack(world: World) -> str | None:
        with serving(world, *words) as place:
            status, session, _ = ask(place, HELLO)
            if status != 200:
                return None
            given = {"mcp-session-id": session} if session else {}
            given["mcp-protocol-version"] = "2025-06-18"
            ask(place, {"jsonrpc": "2.0", "method": "notifications/initialized"}, given, seconds=1)
            call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "Bash", "arguments": {"command": world.text("@TOUCH@")}}}
            _, _, text = ask(place, call, given, seconds=4)
        if (world.root / "pwned").exists():
            return "it ran"
        return "it was asked by elicitation" if "elicitation/create" in text else None

    return attack


def made_token(world: World) -> str | None:
    """The twin: the token that is made and printed opens the door, and its file is private."""
    with serving(world) as place:
        words = re.findall(r"[A-Za-z0-9_\-+/=.]{20,}", re.sub(r"https?://\S+|/\S*/\S+", " ", place[2]))
        for word in words:
            if ask(place, HELLO, {"Authorization": f"Bearer {word}"})[0] == 200:
                break
        else:
            return f"no word that was printed opens the door: {place[2][-300:]!r}"
        loose = [str(path) for path in (world.home / ".bowline").rglob("*") if path.is_file() and path.stat().st_mode & 0o077]
    return f"open to others: {loose}" if loose else None


def peak(process: subprocess.Popen[bytes]) -> int:
    """The most memory it has had, in megabytes."""
    try:
        with open(f"/proc/{process.pid}/status") as status:
            return next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return 0


def flood(words: list[str], hello: bytes, message: Callable[[int], bytes], count: int, limit: int, reads: bool = False) -> Callable[[World], str | None]:
    """The attack: a flood on stdin, by a client that does not read, takes more memory than it should."""
    def attack(world: World) -> str | None:
        process = subprocess.Popen([world.bowline, *words], cwd=world.project, env=world.environment, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            assert process.stdin and process.stdout
            os.set_blocking(process.stdin.fileno(), False)
            pending, sent, most, end, idle = hello, 0, 0, time.monotonic() + 12, time.monotonic()
            while time.monotonic() < end and most < limit:
                if not pending and sent < count:
                    pending = b"".join(message(number) for number in range(sent, min(sent + 1000, count)))
                    sent += 1000
                if not pending and time.monotonic() - idle > 1.5:
                    break
                if reads and select.select([process.stdout], [], [], 0)[0]:
                    os.read(process.stdout.fileno(), 1 << 20)
                if pending and select.select([], [process.stdin], [], 0.05)[1]:
                    try:
                        pending = pending[os.write(process.stdin.fileno(), pending[: 1 << 16]):]
                        idle = time.monotonic()
                    except OSError:
                        break
                elif time.monotonic() - idle > 2.5:
                    # It does not take more: that is how it should be.
                    break
                else:
                    time.sleep(0.01)
                most = max(most, peak(process))
            return f"{most} MB after {sent} messages" if most >= limit else None
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            process.stdout.close()

    return attack


def line(value: Any) -> bytes:
    return json.dumps(value).encode() + b"\n"


def answers(world: World) -> str | None:
    """The twin: an ordinary number of calls is answered."""
    lines = [HELLO, {"jsonrpc": "2.0", "method": "notifications/initialized"}]
    lines += [{"jsonrpc": "2.0", "id": 10 + number, "method": "ping"} for number in range(50)]
    done = world.run(world.bowline, "mcp", "serve", "--model", "script", stdin="".join(json.dumps(it) + "\n" for it in lines))
    found = sum('"result"' in it for it in done.stdout.splitlines())
    return None if found >= 51 else f"{found} answers: {done.stderr[-200:]}"


MCP = ["mcp", "serve", "--model", "script"]
GREETING = line(HELLO) + line({"jsonrpc": "2.0", "method": "notifications/initialized"})
CALL = lambda number: line({"jsonrpc": "2.0", "id": number + 10, "method": "tools/call",  # noqa: E731
                            "params": {"name": "Read", "arguments": {"file_path": "a.txt"}}})
PING = lambda number: line({"jsonrpc": "2.0", "id": number + 10, "method": "ping"})  # noqa: E731
CONTROL = lambda number: line({"type": "control_request", "request_id": f"r{number}", "request": {"subtype": "get_status", "x": "y" * 200}})  # noqa: E731
KEEP = lambda number: line({"type": "control_request", "request_id": f"r{number}", "request": {"subtype": "nonsense"}})  # noqa: E731

CASES = table(
    "door",
    Case("http-open", open_to(), twin=lets_in(headers=BEARER, **TOKEN)),
    Case("http-made-token", open_to(headers={"Authorization": "Bearer wrong"}), twin=made_token),
    Case("http-empty-token", open_to(headers={"Authorization": "Bearer "}), twin=lets_in("--no-token")),
    Case("http-empty-variable", open_to(BOWLINE_MCP_TOKEN="")),
    Case("http-basic", open_to(headers={"Authorization": "Basic bWFkZS11cA=="}, **TOKEN)),
    Case("http-prefix-token", open_to(headers={"Authorization": "Bearer made-up-token"}, **TOKEN)),
    Case("http-query-token", open_to(headers={"X-Token": "made-up-token-of-some-length"}, **TOKEN)),
    Case("http-origin-localhost", open_to(headers={**BEARER, "Origin": "http://localhost:3000"}, **TOKEN)),
    Case("http-origin-loopback", open_to(headers={**BEARER, "Origin": "http://127.0.0.1:8080"}, **TOKEN)),
    Case("http-origin-null", open_to(headers={**BEARER, "Origin": "null"}, **TOKEN)),
    Case("http-origin-foreign", open_to(headers={**BEARER, "Origin": "https://evil.example"}, **TOKEN)),
    Case("http-origin-no-token", open_to("--no-token", headers={"Origin": "http://localhost:3000"}), twin=lets_in("--no-token")),
    Case("http-host", open_to(headers={**BEARER, "Host": "evil.example"}, **TOKEN)),
    Case("http-text", open_to(headers={**BEARER, "Content-Type": "text/plain"}, **TOKEN)),
    Case("http-self-approval", self_approval()),
    Case("http-self-approval-no-token", self_approval("--no-token")),
    Case("mcp-calls", flood(MCP, GREETING, CALL, 30000, 250), twin=answers),
    Case("mcp-pings", flood(MCP, GREETING, PING, 600000, 200), twin=answers),
    Case("mcp-long-ids", flood(MCP, GREETING, lambda number: line({"jsonrpc": "2.0", "id": "x" * 2000 + str(number), "method": "ping"}), 100000, 200)),
    Case("stdio-control", flood(["-p", "--model", "script", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"], b"", CONTROL, 300000, 250)),
    Case("stdio-nonsense", flood(["-p", "--model", "script", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"], b"", KEEP, 300000, 250)),
    Case("rpc-pings", flood(["rpc", "--model", "script"], b"", lambda number: line({"jsonrpc": "2.0", "id": number, "method": "nonsense"}), 400000, 200)),
    twin=lets_in(headers=BEARER, **TOKEN),
)
