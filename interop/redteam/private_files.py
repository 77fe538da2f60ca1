"""Private files: modes regardless of the umask, and folders that another user has prepared."""

import json
import os
from collections.abc import Callable

from case import Case, table
from world import World

BACKGROUND = "TOOL Bash " + json.dumps({"command": "sleep 0.7; echo out", "run_in_background": True})
UNPRIVILEGED = 65534
LISTING = "TOOL Bash " + json.dumps({"command": "find @TMP@ @HOME@/.bowline @OUT@/foreign -printf '%m %y %p\\n' > @OUT@/listing"})


def session(world: World, umask: int, *words: str, script: str = "") -> str:
    """A session with a command in the background; what its files look like while it runs."""
    text = world.text(script or f"{BACKGROUND}\nNEXT\n{LISTING}\nNEXT\nSAY over")
    done = world.run(world.bowline, "-p", "--model", "script", "--allowedTools", "Bash", *words, "--", text, umask=umask)
    listing = world.outside / "listing"
    return listing.read_text() if listing.exists() else f"nothing: {done.stderr[-300:]}"


def open_to_others(lines: str, part: str) -> list[str]:
    """Entries with any right for group or others, links aside."""
    rows = [line.split(" ", 2) for line in lines.splitlines() if line.count(" ") >= 2]
    return [path for mode, kind, path in rows if part in path and kind != "l" and int(mode, 8) & 0o077]


def readable(umask: int, part: str) -> Callable[[World], str | None]:
    def attack(world: World) -> str | None:
        lines = session(world, umask)
        assert "nothing" not in lines, lines
        found = open_to_others(lines, part)
        return f"open to others: {found[:3]}" if found else None

    return attack


def works(world: World) -> str | None:
    """The twin: the output is there for its owner."""
    lines = session(world, 0o022)
    return None if ".output" in lines else f"no output file: {lines[-300:]}"


def folder(world: World) -> str:
    return str(world.temporary / f"claude-{os.getuid()}")


def foreign(prepare: Callable[[World], None]) -> Callable[[World], str | None]:
    """The attack: the folder for output is there before us, and lets others in."""
    def attack(world: World) -> str | None:
        prepare(world)
        lines = session(world, 0o022)
        assert "nothing" not in lines, lines
        outputs = [line.split(" ", 2)[2] for line in lines.splitlines() if line.endswith(".output")]
        if any(path.startswith(str(world.outside)) for path in outputs):
            return f"output goes to a foreign folder: {outputs}"
        loose = open_to_others(lines, f"claude-{os.getuid()}")
        used = [path for path in outputs if any(path.startswith(it + "/") for it in loose)]
        return f"output in a folder that is open to others: {used}" if used else None

    return attack


def linked(world: World) -> None:
    (world.outside / "foreign").mkdir()
    os.symlink(world.outside / "foreign", folder(world))


def writable(world: World) -> None:
    os.mkdir(folder(world))
    os.chmod(folder(world), 0o777)


def readable_by_group(world: World) -> None:
    os.mkdir(folder(world))
    os.chmod(folder(world), 0o755)


def owned_by_other(world: World) -> None:
    os.mkdir(folder(world), 0o700)
    if os.getuid() == 0:
        os.chown(folder(world), 12345, 12345)


def plain_file(world: World) -> None:
    with open(folder(world), "w") as file:
        file.write("in the way\n")


def named(option: str, umask: int) -> Callable[[World], str | None]:
    """The attack: a file that an option names is made readable for others."""
    def attack(world: World) -> str | None:
        path = world.root / "named"
        world.run(world.bowline, "-p", "--model", "script", option, str(path), "SAY hi", umask=umask)
        assert path.exists(), f"{option} made no file"
        mode = path.stat().st_mode & 0o777
        return f"{option} makes a file with mode {mode:o}" if mode & 0o077 else None

    return attack


def config(umask: int) -> Callable[[World], str | None]:
    def attack(world: World) -> str | None:
        world.run(world.bowline, "-p", "--model", "script", "SAY hi", umask=umask)
        loose = [str(path) for path in [world.home / ".bowline", *(world.home / ".bowline").rglob("*")]
                 if path.lstat().st_mode & 0o077 and not path.is_symlink()]
        return f"open to others: {loose[:3]}" if loose else None

    return attack


def planted(world: World) -> str | None:
    """The attack: where `--debug-file` is to be, another user has put a link elsewhere."""
    path = world.temporary / "debug.log"
    path.symlink_to(world.home / ".bashrc")
    world.temporary.chmod(0o777)
    if os.getuid() != 0:
        # Only root can make a link that another user owns.
        return None
    os.lchown(path, 12345, 12345)
    before = (world.home / ".bashrc").read_text()
    world.run(world.bowline, "-p", "--model", "script", "--debug-file", str(path), "SAY hi")
    return None if (world.home / ".bashrc").read_text() == before else "the log went through a link into ~/.bashrc"


def token(world: World) -> str | None:
    """The attack: a command reads a token of ours from its parent's environment."""
    script = "TOOL Bash " + json.dumps({"command": "cat /proc/$PPID/environ | tr '\\0' '\\n' > @OUT@/seen; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n' >> @OUT@/seen"})
    # Root may look at everything; an ordinary user may not, and can be had by root only.
    user = UNPRIVILEGED if os.getuid() == 0 else None
    if user:
        for folder, _, names in os.walk(world.root):
            for path in [folder, *(os.path.join(folder, name) for name in names)]:
                os.chown(path, user, user, follow_symlinks=False)
    variables = {"CLAUDE_CODE_SESSION_ACCESS_TOKEN": "session-" + world.variable_token, "BOWLINE_MCP_TOKEN": "mcp-" + world.variable_token}
    try:
        world.run(world.bowline, "-p", "--model", "script", "--allowedTools", "Bash", "--", world.text(script + "\nNEXT\nSAY over"),
                  variables=variables, user=user)
    except PermissionError:
        # The program is where no other user can start it.
        return None
    seen = (world.outside / "seen").read_text()
    return "a token that is kept from children is in /proc" if "-" + world.variable_token in seen else None


CASES = table(
    "private",
    Case("output-022", readable(0o022, ".output"), twin=works),
    Case("output-000", readable(0o000, ".output"), twin=works),
    Case("output-folder-022", readable(0o022, "claude-"), twin=works),
    Case("output-folder-000", readable(0o000, "claude-"), twin=works),
    Case("output-002", readable(0o002, "claude-")),
    Case("config-022", config(0o022)),
    Case("config-000", config(0o000)),
    Case("config-session-000", readable(0o000, ".bowline")),
    Case("foreign-link", foreign(linked), twin=works),
    Case("foreign-link-dangling", foreign(lambda world: os.symlink(world.outside / "foreign", folder(world)))),
    Case("foreign-writable", foreign(writable)),
    Case("foreign-readable", foreign(readable_by_group)),
    Case("foreign-owner", foreign(owned_by_other)),
    Case("foreign-file", foreign(plain_file)),
    Case("debug-022", named("--debug-file", 0o022)),
    Case("debug-000", named("--debug-file", 0o000)),
    Case("record-000", named("--record", 0o000)),
    Case("debug-link", planted),
    Case("token-environ", token),
    twin=works,
)
