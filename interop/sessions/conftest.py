"""Both programs and the SDKs' functions, on one session folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import claude_agent_sdk
import pytest
from functions import PythonFunctions, TypeScriptFunctions
from programs import Program
from recorder import Recorder

if TYPE_CHECKING:
    from places import Place

pytest_plugins = ["places"]

OFFICIAL = Path(claude_agent_sdk.__file__).parent / "_bundled" / "claude"


@pytest.fixture
def ours(bowline: str, place: Place, api: Recorder) -> Program:
    """Bowline."""
    return Program(bowline, place.project, api)


@pytest.fixture
def theirs(place: Place, api: Recorder) -> Program:
    """The official CLI."""
    if not OFFICIAL.exists():
        pytest.skip("this platform's package has no CLI in it")
    return Program(str(OFFICIAL), place.project, api)


@pytest.fixture(params=[PythonFunctions, TypeScriptFunctions])
def functions(
    request: pytest.FixtureRequest, place: Place
) -> PythonFunctions | TypeScriptFunctions:
    """The session functions of an SDK."""
    return request.param(place.project)


@pytest.fixture(params=["ours, theirs", "theirs, ours"])
def pair(request: pytest.FixtureRequest, ours: Program, theirs: Program) -> tuple[Program, Program]:
    """Who begins a session, and who goes on with it."""
    return (ours, theirs) if request.param == "ours, theirs" else (theirs, ours)
