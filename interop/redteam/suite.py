"""Runs the attacks and their twins: `python3 suite.py [-v] [-j N] [--list] [WORD …]`.

A word selects the cases whose id contains it. Every attack must fail and every twin must run unasked.
The last line has the numbers; the exit code is 1 if anything did not hold.
"""

import argparse
import importlib
import itertools
import os
import shutil
import sys
import tempfile
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from case import Case, Outcome, play
from world import World

CLASSES = (
    "arithmetic", "directories", "options", "patterns", "repositories", "environment", "edits",
    "deny_files", "deny_commands", "trust", "private_files", "doors", "limits", "terminal", "ordinary",
)

# How many twins share a session, which then forgets where each has gone.
BATCH = 20
TOGETHER = {"CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR": "1"}

# A case, `attack` or `twin`, what is wrong if anything is, and how an attack was held up.
Row = tuple[Case, str, str | None, str]


def world_for(case: Case, folder: Path, name: str) -> World:
    """The place of one run."""
    world = World(folder / name, os.environ["BOWLINE"])
    if case.denied:
        world.write({
            ".env": f"KEY=BEGIN-SECRET {world.denied_token}\n",
            "secrets/key": f"BEGIN-SECRET {world.denied_token}\n",
            "secrets/deep/other": f"BEGIN-SECRET {world.denied_token}\n",
        })
    world.write(case.files)
    if case.setup:
        case.setup(world)
    return world


def attacked(case: Case, world: World) -> tuple[str | None, str]:
    """How the attack succeeded, if it did, and what held it up otherwise."""
    if callable(case.attack):
        return case.attack(world), "held"
    before = world.state()
    outcome = play(world, case, case.attack)
    if not outcome.ended:
        return f"the run broke: {outcome.results}", ""
    tokens = [world.outside_token, world.home_token, world.variable_token]
    if case.denied:
        tokens.append(world.denied_token)
    if token := world.seen_in(outcome.results, tokens):
        return f"read {token}", ""
    after = world.state()
    changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    if changed:
        return f"changed {', '.join(changed[:3])}", ""
    missing = [name for name in case.needs if not shutil.which(name)]
    if (case.must_ask or missing) and not outcome.asked:
        return "ran unasked", ""
    return None, "asked" if outcome.asked else "unasked, no effect"


def refused(case: Case, world: World) -> str | None:
    """Why the twin did not run, if it did not."""
    if case.twin is None:
        return None
    if callable(case.twin):
        return case.twin(world)
    outcome: Outcome = play(world, case, case.twin)
    if not outcome.ended:
        return f"the run broke: {outcome.results}"
    if outcome.asked:
        return f"asked: {outcome.results[-300:]}"
    if case.twin_says and world.text(case.twin_says) not in outcome.results:
        return f"{case.twin_says!r} is not in {outcome.results[-300:]}"
    return None


def for_twin(case: Case) -> Case:
    """The case as its twin needs it."""
    return replace(case, files={}, setup=case.twin_setup) if case.twin_setup else case


def alone(case: Case, kind: str, folder: Path) -> Row:
    """The outcome of an attack, or of a twin, in a world of its own."""
    world, held = None, ""
    try:
        world = world_for(for_twin(case) if kind == "twin" else case, folder, f"{case.id}.{kind[0]}")
        if kind == "attack":
            wrong, held = attacked(case, world)
        else:
            wrong = refused(case, world)
    except Exception:  # noqa: BLE001 - whatever breaks a case is that case's failure
        wrong = "the case broke: " + traceback.format_exc(limit=-3)
    finally:
        if world:
            world.remove()
    return case, kind, wrong, held


def batches(cases: list[Case], kind: str) -> list[list[Case]]:
    """Cases that can share a session: a start costs more than all they do."""
    found: dict[object, list[list[Case]]] = {}
    for case in cases:
        calls = case.attack if kind == "attack" else case.twin
        if calls is None:
            continue
        key = case.id
        if isinstance(calls, str) and not case.variables and "acceptEdits" not in case.arguments:
            if kind == "attack":
                # What is on the disk may decide: it has to be the same for all of them.
                key = (case.arguments, case.setup, case.denied, str(case.files))
            elif "--allowedTools" not in case.arguments:
                key = (case.arguments, case.twin_setup or case.setup, case.denied)
        groups = found.setdefault(key, [[]])
        if len(groups[-1]) == BATCH:
            groups.append([])
        groups[-1].append(case)
    return [group for groups in found.values() for group in groups]


def together(group: list[Case], kind: str, folder: Path) -> list[Row]:
    """The outcomes of cases in one session. What is not as it should be in company is tried again by itself."""
    if len(group) == 1:
        return [alone(group[0], kind, folder)]
    calls = [case.attack if kind == "attack" else case.twin for case in group]
    files = group[0].files if kind == "attack" else {}
    setup = kind == "twin" and group[0].twin_setup or group[0].setup
    shared = replace(group[0], id=f"{group[0].id}.batch-{kind[0]}", files=files, setup=setup, variables=TOGETHER)
    world = world_for(shared, folder, shared.id)
    try:
        outcome = play(world, shared, calls)
        asked = [denial["tool_input"].get("command") for denial in outcome.denials]
        given = [world.text(call) for call in calls]
        said = [world.text(case.twin_says) for case in group]
    finally:
        world.remove()
    if len(outcome.each) != len(group):
        return [alone(case, kind, folder) for case in group]
    rows = []
    for case, call, words, result in zip(group, given, said, outcome.each, strict=True):
        if kind == "attack":
            # Only a question is certain: an effect might be that of another.
            good = call in asked
        else:
            good = call not in asked and words in result
        rows.append((case, kind, None, "asked" if kind == "attack" else "") if good else alone(case, kind, folder))
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*")
    parser.add_argument("-v", action="store_true", help="say how each attack was held up")
    parser.add_argument("-j", type=int, default=2 * (os.cpu_count() or 2))
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    cases = [case for name in CLASSES for case in importlib.import_module(name).CASES]
    ids = [case.id for case in cases]
    assert len(ids) == len(set(ids)), f"ids occur twice: {sorted({it for it in ids if ids.count(it) > 1})}"
    if options.words:
        cases = [case for case in cases if any(word in case.id for word in options.words)]
    if options.list:
        for case in cases:
            print(f"{case.id:36} {case.attack if not callable(case.attack) else (case.attack.__doc__ or '')}")
        return 0
    start, passed, failed, soft = time.monotonic(), 0, 0, []
    folder = Path(tempfile.mkdtemp(prefix="rt-", dir=os.environ.get("REDTEAM_TMP")))
    folder.chmod(0o755)
    try:
        with ThreadPoolExecutor(options.j) as pool:
            work = [(group, kind) for kind in ("attack", "twin") for group in batches(cases, kind)]
            for case, kind, wrong, held in itertools.chain.from_iterable(pool.map(lambda it: together(*it, folder), work)):
                passed, failed = passed + (wrong is None), failed + (wrong is not None)
                if held.startswith("unasked"):
                    soft.append(case.id)
                if wrong is not None:
                    print(f"FAILED {case.id} ({kind}): {wrong}")
                elif options.v:
                    print(f"ok     {case.id} ({kind}){': ' + held if held else ''}")
                sys.stdout.flush()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if soft:
        print(f"{len(soft)} attacks were not asked about and had no effect: {' '.join(soft)}")
    print(f"{failed} failed, {passed} passed in {time.monotonic() - start:.1f}s ({len(cases)} cases)")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
