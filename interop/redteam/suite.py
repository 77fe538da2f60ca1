"""Runs the attacks and their twins: `python3 suite.py [-v] [-j N] [--list] [WORD …]`.

A word selects the cases whose id contains it. Every attack must fail and every twin must run unasked.
The last line has the numbers; the exit code is 1 if anything did not hold.
"""

import argparse
import importlib
import os
import shutil
import sys
import tempfile
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from case import Case, Outcome, play
from world import World

CLASSES = (
    "arithmetic", "directories", "options", "patterns", "repositories", "environment", "edits",
    "deny_files", "deny_commands", "trust", "private_files", "doors", "limits", "terminal", "ordinary",
)


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
    if outcome.code == 99:
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
    if outcome.code == 99:
        return f"the run broke: {outcome.results}"
    if outcome.asked:
        return f"asked: {outcome.results[-300:]}"
    if case.twin_says and world.text(case.twin_says) not in outcome.results:
        return f"{case.twin_says!r} is not in {outcome.results[-300:]}"
    return None


def both(case: Case, folder: Path) -> list[tuple[str, str | None, str]]:
    """The outcome of an attack and of its twin: what was tried, what is wrong, how it held."""
    rows = []
    for kind in ("attack", "twin"):
        if kind == "twin" and case.twin is None:
            continue
        world = None
        held = ""
        try:
            world = world_for(case, folder, f"{case.id}.{kind[0]}")
            if kind == "attack":
                wrong, held = attacked(case, world)
            else:
                wrong = refused(case, world)
        except Exception:  # noqa: BLE001 - whatever breaks a case is that case's failure
            wrong = "the case broke: " + traceback.format_exc(limit=-3)
        finally:
            if world:
                world.remove()
        rows.append((kind, wrong, held))
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
            for case, rows in zip(cases, pool.map(lambda case: both(case, folder), cases), strict=True):
                for kind, wrong, held in rows:
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
