"""Control characters of the model, of tools and of a project: none reaches a terminal raw."""

import json
import os
import pty
import select
import signal
import subprocess
import time
from collections.abc import Callable

from case import Case, table
from world import World


def shown(world: World, *words: str, variables: dict[str, str] | None = None) -> bytes:
    """What a terminal gets to see of a run, stdout and stderr."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([world.bowline, *words], cwd=world.project, env={**world.environment, "TERM": "xterm", **(variables or {})},
                               stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, start_new_session=True)
    os.close(theirs)
    heard, end = b"", time.monotonic() + 20
    try:
        while time.monotonic() < end:
            if not select.select([ours], [], [], 0.1)[0]:
                if process.poll() is not None:
                    break
                continue
            try:
                piece = os.read(ours, 65536)
            except OSError:
                break
            if not piece:
                break
            heard += piece
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(ours)
    return heard


def raw(heard: bytes, mark: bytes) -> str | None:
    """How a control character got through, if one did. Colors of our own are no harm."""
    text = heard.replace(b"\r\n", b"\n")
    return f"{mark!r} reached the terminal: {text[max(0, text.find(mark) - 20):][:80]!r}" if mark in text else None


def said(text: str, mark: bytes) -> Callable[[World], str | None]:
    """The attack: the model says it."""
    def attack(world: World) -> str | None:
        return raw(shown(world, "-p", "--model", "script", "SAY " + text), mark)

    return attack


def plain(text: str) -> Callable[[World], str | None]:
    """The twin: what people write comes through."""
    def twin(world: World) -> str | None:
        heard = shown(world, "-p", "--model", "script", "SAY " + text)
        return None if text.encode() in heard else f"{text!r} is not in {heard[-200:]!r}"

    return twin


def printed(text: str, mark: bytes, *words: str) -> Callable[[World], str | None]:
    """The attack: a tool prints it, and the model repeats it."""
    def attack(world: World) -> str | None:
        world.write({"odd": text})
        script = "TOOL Bash " + json.dumps({"command": "cat odd"}) + "\nNEXT\nECHORESULT"
        return raw(shown(world, "-p", "--model", "script", *words, script), mark)

    return attack


def doctored(name: str, content: str, mark: bytes, *words: str) -> Callable[[World], str | None]:
    """The attack: a file of the project says it, and we repeat it in a message."""
    def attack(world: World) -> str | None:
        world.write({name: content})
        return raw(shown(world, *words), mark)

    return attack


ESC = "\u001b"
CLIP = ESC + "]52;c;cHduZWQ=\u0007"
RULE = json.dumps({"permissions": {"allow": [f"Write(x{CLIP})", f"Nonsense({CLIP})"], "deny": [f"Read(!{CLIP})"]}, "env": {f"X{ESC}[31m": "y"}})
SERVERS = json.dumps({"mcpServers": {f"evil{CLIP}": {"command": f"/nothing{CLIP}"}, "other": {"type": f"odd{CLIP}"}}})
GO = ("-p", "--model", "script", "SAY hi")

CASES = table(
    "terminal",
    Case("osc52", said(f"x{CLIP}y", b"\x1b]52"), twin=plain("plain words")),
    Case("osc52-st", said(f"x{ESC}]52;c;cHduZWQ={ESC}\\y", b"\x1b]52"), twin=plain("tabs\tstay")),
    Case("osc-title", said(f"{ESC}]0;owned\u0007", b"\x1b]0"), twin=plain("grüße — naïve ✓")),
    Case("osc-link", said(f"{ESC}]8;;file:///etc/passwd{ESC}\\click{ESC}]8;;{ESC}\\", b"\x1b]8"), twin=plain("日本語")),
    Case("c1-osc", said("x\u009d52;c;cHduZWQ=\u009cy", "\u009d".encode()), twin=plain("emoji 🎉")),
    Case("c1-csi", said("x\u009b2Jy", "\u009b".encode())),
    Case("csi-clear", said(f"{ESC}[2J{ESC}[H fake prompt $", b"\x1b[2J")),
    Case("csi-report", said(f"{ESC}[6n", b"\x1b[6n")),
    Case("csi-scroll", said(f"{ESC}[1;1r", b"\x1b[1;1r")),
    Case("csi-alternate", said(f"{ESC}[?1049h", b"\x1b[?1049h")),
    Case("csi-paste", said(f"{ESC}[?2004l", b"\x1b[?2004l")),
    Case("csi-window", said(f"{ESC}[21t", b"\x1b[21t")),
    Case("dcs", said(f"{ESC}P$q\"p{ESC}\\", b"\x1bP")),
    Case("apc", said(f"{ESC}_Gi=1;x{ESC}\\", b"\x1b_")),
    Case("pm", said(f"{ESC}^x{ESC}\\", b"\x1b^")),
    Case("reset", said(f"{ESC}c", b"\x1bc")),
    Case("bell", said("x\u0007y", b"\x07")),
    Case("backspace", said("rm -rf\u0008\u0008\u0008\u0008\u0008\u0008ls", b"\x08")),
    Case("carriage-return", said("evil command\rharmless    ", b"evil command\rharmless")),
    Case("shift-out", said("x\u000ey", b"\x0e")),
    Case("delete", said("x\u007fy", b"\x7f")),
    Case("nul", said("x\u0001y", b"\x01")),
    Case("tool-osc52", printed(f"x{CLIP}y", b"\x1b]52"), twin="cat a.txt"),
    Case("tool-osc52-verbose", printed(f"x{CLIP}y", b"\x1b]52", "--verbose")),
    Case("tool-json", printed(f"x{CLIP}y", b"\x1b]52", "--output-format", "json")),
    Case("tool-c1-json", printed("x\u009d52;c;cHduZWQ=\u009c", "\u009d".encode(), "--output-format", "stream-json", "--verbose")),
    Case("settings-rule", doctored(".claude/settings.json", RULE, b"\x1b]52", *GO)),
    Case("settings-rule-trusted", doctored(".claude/settings.json", RULE, b"\x1b]52", "--setting-sources", "project", *GO)),
    Case("settings-broken", doctored(".claude/settings.json", '{"model": "' + CLIP.replace(ESC, "\\u001b").replace("\u0007", "\\u0007") + '", "permissions": 3}', b"\x1b]52", *GO)),
    Case("settings-raw", doctored(".claude/settings.json", "{" + CLIP, b"\x1b]52", *GO)),
    Case("servers", doctored(".mcp.json", SERVERS, b"\x1b]52", "--setting-sources", "project", *GO)),
    Case("hook-name", doctored(".claude/settings.json", json.dumps({"hooks": {f"Odd{CLIP}": [], "SessionStart": [{"hooks": [{"type": "command", "command": f"exit 2 #{CLIP}"}]}]}}), b"\x1b]52", *GO)),
    Case("hook-output", doctored(".claude/settings.json", json.dumps({"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "printf '\\033]52;c;x\\007' >&2; exit 1"}]}]}}), b"\x1b]52", "--setting-sources", "project", "--verbose", *GO)),
    Case("agent-name", doctored(".claude/agents/x.md", f"---\nname: x{CLIP}\ndescription: y\ntools: [{CLIP}]\npermissionMode: odd{CLIP}\n---\n", b"\x1b]52", "--setting-sources", "project", *GO)),
    Case("doctor-settings", doctored(".claude/settings.json", RULE, b"\x1b]52", "doctor")),
    Case("doctor-servers", doctored(".mcp.json", SERVERS, b"\x1b]52", "doctor")),
    Case("doctor-hooks", doctored(".claude/settings.json", json.dumps({"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": f"x{CLIP}"}]}]}}), b"\x1b]52", "doctor")),
    Case("debug", said(f"x{CLIP}y", b"\x1b]52"), arguments=("--debug",)),
    Case("folder-name", lambda world: _folder(world)),
    twin=plain("plain words"),
)


def _folder(world: World) -> str | None:
    """The attack: the project's own folder has such a name."""
    place = world.root / f"x{CLIP}"
    (place / ".claude").mkdir(parents=True)
    (place / ".claude/settings.json").write_text("{broken")
    world.project = place
    return raw(shown(world, "doctor") + shown(world, *GO), b"\x1b]52")
