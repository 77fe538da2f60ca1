"""Unbounded input: pages, responses, lines, and a foreign transcript that names files."""

import http.server
import json
import os
import signal
import socketserver
import subprocess
import threading
import time
from collections.abc import Callable
from typing import Any

from case import Case, table
from world import World


def measured(world: World, *words: str, variables: dict[str, str] | None = None, seconds: float = 20) -> tuple[float, int, str]:
    """How long a run took, how many megabytes it had at most, and what it printed."""
    start = time.monotonic()
    process = subprocess.Popen([world.bowline, *words], cwd=world.project, env={**world.environment, **(variables or {})},
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    most = 0
    heard: list[bytes] = []
    assert process.stdout
    reader = threading.Thread(target=lambda: heard.extend(iter(lambda: os.read(process.stdout.fileno(), 1 << 16), b"")), daemon=True)
    reader.start()
    while process.poll() is None and time.monotonic() - start < seconds:
        try:
            with open(f"/proc/{process.pid}/status") as status:
                most = max(most, *(int(line.split()[1]) // 1024 for line in status if line.startswith("VmHWM")), 0)
        except (OSError, TypeError):
            pass
        time.sleep(0.05)
    took = time.monotonic() - start
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    reader.join(2)
    return took, most, b"".join(heard)[-65536:].decode(errors="replace")


class Quiet(http.server.BaseHTTPRequestHandler):
    """A server that says nothing of itself."""

    def log_message(self, *_words: object) -> None:
        pass


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True

    def handle_error(self, *_words: object) -> None:
        """Clients go away in the middle; that is what is tried here."""


def fetched(page: Callable[[], bytes], seconds: float, megabytes: int, kind: str = "text/html") -> Callable[[World], str | None]:
    """The attack: a page keeps WebFetch busy, or takes its memory."""
    def attack(world: World) -> str | None:
        text = page()

        class Page(Quiet):
            def do_GET(self) -> None:  # noqa: N802
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

        world.write({"@HOME@/.bowline/settings.json": '{"bowline":{"allowPrivateAddresses":true}}'})
        with Server(("127.0.0.1", 0), Page) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            call = json.dumps({"url": f"http://127.0.0.1:{server.server_port}/", "prompt": "SAY read"})
            took, most, said = measured(world, "-p", "--model", "script", "--allowedTools", "WebFetch", "--",
                                        f"TOOL WebFetch {call}\nNEXT\nECHORESULT", seconds=seconds)
            server.shutdown()
        assert "private network" not in said and "needs approval" not in said, said[-300:]
        if took >= seconds:
            return f"it had not ended after {took:.0f} s"
        return f"{most} MB" if most > megabytes else None

    return attack


def reads_page(world: World) -> str | None:
    """The twin: an ordinary page is read."""
    class Page(Quiet):
        def do_GET(self) -> None:  # noqa: N802
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<html><body><h1>Title</h1><p>ORDINARY-WORDS</p></body></html>")

    world.write({"@HOME@/.bowline/settings.json": '{"bowline":{"allowPrivateAddresses":true}}'})
    record = world.root / "record"
    with Server(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        call = json.dumps({"url": f"http://127.0.0.1:{server.server_port}/", "prompt": "SAY read"})
        _, _, said = measured(world, "-p", "--model", "script", "--allowedTools", "WebFetch", "--record", str(record), "--",
                              f"TOOL WebFetch {call}\nNEXT\nECHORESULT")
        server.shutdown()
    return None if "ORDINARY-WORDS" in record.read_text() else f"the page was not read: {said[-200:]}"


def answered(piece: bytes, megabytes: int, start: bytes = b"") -> Callable[[World], str | None]:
    """The attack: an answer of the API that does not end."""
    def attack(world: World) -> str | None:
        class Api(Quiet):
            protocol_version = "HTTP/1.0"

            def do_POST(self) -> None:  # noqa: N802
                self.rfile.read(int(self.headers.get("Content-Length", "0")))
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                self.wfile.write(start)
                end = time.monotonic() + 15
                while time.monotonic() < end:
                    self.wfile.write(piece)

        with Server(("127.0.0.1", 0), Api) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            took, most, said = measured(world, "-p", "--model", "claude-made-up", "hi", seconds=12, variables={
                "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{server.server_port}", "ANTHROPIC_API_KEY": "made-up", "CLAUDE_CODE_MAX_RETRIES": "0"})
            server.shutdown()
        return f"{most} MB after {took:.0f} s: {said[-100:]}" if most > megabytes else None

    return attack


def event(kind: str, **more: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **more})}\n\n".encode()


BEGIN = event("message_start", message={"id": "m", "type": "message", "role": "assistant", "model": "x", "content": [], "stop_reason": None,
                                        "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}})
TEXT = BEGIN + event("content_block_start", index=0, content_block={"type": "text", "text": ""})
TOOL = BEGIN + event("content_block_start", index=0, content_block={"type": "tool_use", "id": "t", "name": "Bash", "input": {}})


def long_line(world: World) -> str | None:
    """The attack: one line of 200 MB is held in memory by Grep."""
    with (world.project / "long").open("w") as file:
        for _ in range(200):
            file.write("a" * (1 << 20))
    call = json.dumps({"pattern": "b", "path": str(world.project / "long"), "output_mode": "content"})
    _, most, _ = measured(world, "-p", "--model", "script", f"TOOL Grep {call}\nNEXT\nECHORESULT")
    return f"{most} MB" if most > 200 else None


def short_line(world: World) -> str | None:
    """The twin: lines that people write are found."""
    call = json.dumps({"pattern": "alpha", "path": str(world.project), "output_mode": "content"})
    _, _, said = measured(world, "-p", "--model", "script", f"TOOL Grep {call}\nNEXT\nECHORESULT")
    return None if "alpha" in said else said[-200:]


def output_flood(world: World) -> str | None:
    """The attack: a command that prints without end."""
    call = json.dumps({"command": "seq 1 100000000", "timeout": 4000})
    took, most, _ = measured(world, "-p", "--model", "script", f"TOOL Bash {call}\nNEXT\nSAY over", seconds=20)
    size = sum(path.stat().st_size for path in world.temporary.rglob("*") if path.is_file()) >> 20
    return f"{most} MB, {took:.0f} s, {size} MB left" if most > 300 or took >= 20 or size > 512 else None


def line(value: Any) -> str:
    return json.dumps(value) + "\n"


def _session(world: World) -> tuple[str, Any]:
    """A session with a checkpoint: its name and its transcript."""
    call = {"file_path": str(world.project / "made.txt"), "content": "made\n"}
    done = world.run(world.bowline, "-p", "--model", "script", "--permission-mode", "acceptEdits", "--output-format", "stream-json", "--verbose",
                     "--", f"TOOL Write {json.dumps(call)}\nNEXT\nTOOL Write {json.dumps({**call, 'content': 'again'})}\nNEXT\nSAY over",
                     variables={"CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING": "1"})
    name = next(json.loads(it)["session_id"] for it in done.stdout.splitlines())
    found = list((world.home / ".bowline").rglob(f"{name}.jsonl"))
    assert found, "no transcript"
    return name, found[0]


def _rewound(world: World, name: str, transcript: Any) -> str:
    prompt = next(it["messageId"] for it in map(json.loads, transcript.read_text().splitlines()) if it.get("type") == "file-history-snapshot")
    lines = line({"type": "control_request", "request_id": "i", "request": {"subtype": "initialize"}})
    lines += line({"type": "control_request", "request_id": "r", "request": {"subtype": "rewind_files", "user_message_id": prompt}})
    done = world.run(world.bowline, "-p", "--model", "script", "--resume", name, "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
                     stdin=lines, variables={"CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING": "1"})
    return done.stdout + done.stderr


def checkpoint(file: str, copy: str | None) -> Callable[[World], str | None]:
    """The attack: a transcript names a file of the user's to be rewound to its own contents."""
    def attack(world: World) -> str | None:
        name, transcript = _session(world)
        world.write({"evil": "@TOUCH@\n"})
        before = world.state()
        text = ""
        for entry in map(json.loads, transcript.read_text().splitlines()):
            if entry.get("type") == "file-history-snapshot":
                entry["snapshot"]["trackedFileBackups"] = {
                    world.text(file): {"backupFileName": copy and world.text(copy), "version": 1, "backupTime": "2026-01-01T00:00:00.000Z"}}
            text += line(entry)
        transcript.write_text(text)
        said = _rewound(world, name, transcript)
        changed = [it for it, was in world.state().items() if before.get(it) != was] + [it for it in before if it not in world.state()]
        assert "control_response" in said, said[-300:]
        return f"changed {changed}" if changed else None

    return attack


def rewinds(world: World) -> str | None:
    """The twin: a session's own checkpoint is gone back to."""
    name, transcript = _session(world)
    said = _rewound(world, name, transcript)
    return f"the file is still there: {said[-300:]}" if (world.project / "made.txt").exists() else None


UP = "../" * 12
CASES = table(
    "limit",
    Case("html-nested", fetched(lambda: b"<div>" * 1_900_000, 15, 500), twin=reads_page),
    Case("html-attributes", fetched(lambda: b"<a " + b" ".join(b"x%d=1" % number for number in range(300_000)) + b">", 15, 500), twin=reads_page),
    Case("html-quotes", fetched(lambda: b"<blockquote>" * 240 + b"x<br>" * 600_000, 15, 500), twin=reads_page),
    Case("html-lists", fetched(lambda: b"<ul><li>" * 400_000, 15, 500)),
    Case("html-tables", fetched(lambda: b"<table><tr><td>" * 200_000, 15, 500)),
    Case("html-formatting", fetched(lambda: b"<b><i><a>" * 200_000 + b"x", 15, 500)),
    Case("html-entities", fetched(lambda: b"&NotEqualTilde;" * 600_000, 15, 500)),
    Case("html-comment", fetched(lambda: b"<!--" + b"-" * 8_000_000, 15, 500)),
    Case("html-nesting-wide", fetched(lambda: (b"<span>" * 500 + b"x" + b"</span>" * 500) * 400, 15, 500)),
    Case("api-text", answered(event("content_block_delta", index=0, delta={"type": "text_delta", "text": "x" * 60000}), 400, TEXT)),
    Case("api-input", answered(event("content_block_delta", index=0, delta={"type": "input_json_delta", "partial_json": "x" * 60000}), 400, TOOL)),
    Case("api-line", answered(b"x" * 65536, 400, b"data: ")),
    Case("api-blocks", answered(b"".join(event("content_block_start", index=number, content_block={"type": "text", "text": "x" * 50}) for number in range(500)), 400, BEGIN)),
    Case("grep-line", long_line, twin=short_line),
    Case("output", output_flood, twin="seq 1 1000"),
    Case("checkpoint-copy", checkpoint("@HOME@/.bashrc", UP + "..@PROJECT@/evil"), twin=rewinds),
    Case("checkpoint-absolute", checkpoint("@HOME@/.bashrc", "@PROJECT@/evil")),
    Case("checkpoint-delete", checkpoint("@HOME@/.bashrc", None)),
    Case("checkpoint-relative", checkpoint("../home/.bashrc", "@PROJECT@/evil")),
    Case("checkpoint-sensitive", checkpoint("@PROJECT@/.git/config", "@PROJECT@/evil"), setup=lambda world: world.repository()),
    Case("checkpoint-new", checkpoint("@OUT@/pwned", "@PROJECT@/evil")),
    twin=short_line,
)
