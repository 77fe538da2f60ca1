"""An attack and its harmless twin, as a row of a table."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from world import Link, World

Call = str | tuple[str, dict[str, Any]]
Calls = Call | list[Call]
Probe = Callable[[World], str | None]


@dataclass(frozen=True)
class Case:
    """One attack. It must fail, and its twin must run unasked."""

    id: str
    # A command, a call of a tool, or several calls one after the other. A function looks for itself,
    # and says how the attack succeeded; None if it did not. Without one there is only the twin.
    attack: Calls | Probe | None
    # The same for what must work. A function says what did not; None is no twin of its own.
    twin: Calls | Probe | None = None
    files: dict[str, str | Link | None] = field(default_factory=dict)
    # Called when the files are there.
    setup: Callable[[World], None] | None = None
    # The same for the twin, where what the attack needs would be a reason to ask.
    twin_setup: Callable[[World], None] | None = None
    arguments: tuple[str, ...] = ()
    variables: dict[str, str] = field(default_factory=dict)
    # Whether a question is all that counts: what an effect would be cannot be seen here.
    must_ask: bool = False
    # Programs without which the effect cannot be seen, so that a question is all that counts.
    needs: tuple[str, ...] = ()
    # Whether the file `.env` and the folder `secrets` must not be read.
    denied: bool = False
    # What the twin's result must contain.
    twin_says: str = ""


def table(group: str, *cases: Case, **common: Any) -> list[Case]:
    """Cases of one group, with what they have in common."""
    return [replace(case, id=f"{group}-{case.id}", **_merged(case, common)) for case in cases]


def _merged(case: Case, common: dict[str, Any]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for name, value in common.items():
        own = getattr(case, name)
        if isinstance(value, dict):
            merged[name] = {**value, **own}
        elif isinstance(value, tuple):
            merged[name] = value + own
        else:
            merged[name] = own or value
    return merged


def script(calls: Calls, world: World) -> str:
    """The prompt that has the script model make these calls, one after the other."""
    lines = []
    for call in calls if isinstance(calls, list) else [calls]:
        name, arguments = ("Bash", {"command": call}) if isinstance(call, str) else call
        text = json.dumps(arguments, ensure_ascii=False)
        lines += [f"TOOL {name} {world.text(text)}", "NEXT"]
    return "\n".join([*lines, "SAY over"])


@dataclass
class Outcome:
    """What came of a run."""

    # What each call brought.
    each: list[str]
    # The calls that needed approval.
    denials: list[Any]
    # Whether the run came to its end.
    ended: bool

    @property
    def results(self) -> str:
        return "\n".join(self.each)

    @property
    def asked(self) -> bool:
        return bool(self.denials)


def play(world: World, case: Case, calls: Calls) -> Outcome:
    """Has the model make these calls."""
    done = world.run(
        world.bowline, "-p", "--model", "script", "--output-format", "stream-json", "--verbose",
        *case.arguments, "--", script(calls, world), variables=case.variables,
    )
    each, denials, ended = [], [], False
    for line in done.stdout.splitlines():
        message = json.loads(line)
        if message.get("type") == "user":
            each.append(json.dumps(message["message"], ensure_ascii=False))
        if message.get("type") == "result":
            denials, ended = message.get("permission_denials", []), True
    if not ended:
        each.append(f"no result: code {done.returncode}: {done.stderr[-400:]}")
    return Outcome(each, denials, ended)
