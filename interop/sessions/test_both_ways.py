"""Sessions that one program began and the other resumes."""

import json

import pytest
from driving import call, script
from functions import TypeScriptFunctions
from programs import Program, valid_history

TITLE = "A long voyage"


def said_to_model(program: Program) -> str:
    """The conversation of the last request, which must be one that the API takes."""
    request = program.api.requests[-1]
    problem = valid_history(request)
    assert problem is None, (problem, json.dumps(request.body["messages"], indent=1))
    return request.conversation


def test_words_calls_and_results(pair):
    first, second = pair
    prompt = script(
        "THINK hidden thoughts",
        "SAY Two at once.",
        call("Bash", command="echo north"),
        call("Bash", command="echo south"),
        "NEXT",
        "SAY the first answer",
    )
    session = first.ask(prompt)["session_id"]
    result = second.ask("SAY the second answer", "--resume", session)
    assert (result["result"], result["session_id"]) == ("the second answer", session)
    told = said_to_model(second)
    for words in ("Two at once.", "echo north", "echo south", "the first answer"):
        assert words in told, words
    results = [it for it in told.split('"tool_result"') if "north" in it or "south" in it]
    assert len(results) >= 2, told


def test_back_and_forth(pair):
    first, second = pair
    session = first.ask("SAY one")["session_id"]
    second.ask(script(call("Bash", command="echo two"), "NEXT", "SAY two"), "--resume", session)
    first.ask("SAY three", "--resume", session)
    second.ask("SAY four", "--continue")
    told = said_to_model(second)
    places = [told.index(f"SAY {word}") for word in ("one", "two", "three", "four")]
    assert places == sorted(places)


def test_a_compacted_session(pair):
    first, second = pair
    session = first.ask("SAY long forgotten words")["session_id"]
    first.ask(script("SAY more", "SUMMARY the gist of it"), "--resume", session)
    first.ask("/compact", "--resume", session)
    first.ask("SAY behind the boundary", "--resume", session)
    second.ask("SAY on", "--resume", session)
    told = said_to_model(second)
    assert "the gist of it" in told
    assert "behind the boundary" in told
    assert "SAY long forgotten words" not in told


def test_session_functions_after_a_compaction(pair, functions):
    first, second = pair
    session = first.ask(script("SAY forgotten", "SUMMARY the gist of it"))["session_id"]
    first.ask("/compact", "--resume", session)
    second.ask("SAY behind it", "--resume", session)
    [summary, *_, prompt, answer] = functions.messages(session)
    assert summary["type"] == "user"
    assert "the gist of it" in json.dumps(summary["message"])
    assert "SAY behind it" in json.dumps(prompt["message"])
    assert "behind it" in json.dumps(answer["message"])


def test_a_compaction_of_the_other_one(pair):
    first, second = pair
    session = first.ask(script("SAY old words", "SUMMARY the first gist"))["session_id"]
    second.ask("/compact", "--resume", session)
    first.ask(script("SAY new words", "SUMMARY the second gist"), "--resume", session)
    assert "the first gist" in said_to_model(first)
    first.ask("/compact", "--resume", session)
    second.ask("SAY on", "--resume", session)
    told = said_to_model(second)
    assert "the second gist" in told
    assert "SAY old words" not in told


def test_a_session_with_a_subagent(pair, functions):
    first, second = pair
    agent = call(
        "Agent",
        subagent_type="general-purpose",
        description="Look below",
        prompt=script(call("Bash", command="echo below"), "NEXT", "SAY ten fathoms"),
        run_in_background=False,
    )
    session = first.ask(script(agent, "NEXT", "SAY sounded"))["session_id"]
    [name] = functions.subagents(session)
    said = functions.subagent_messages(session, name)
    assert [it["type"] for it in said] == ["user", "assistant", "user", "assistant"]
    assert "below" in json.dumps(said[2]["message"])
    second.ask("SAY on", "--resume", session)
    told = said_to_model(second)
    assert "ten fathoms" in told
    assert "sounded" in told
    # What the subagent did on the way is its own business.
    assert "SAY ten fathoms" in told
    assert "below\\n" not in told


def test_by_title(pair, functions):
    first, second = pair
    session = first.ask("SAY named", "--name", TITLE)["session_id"]
    assert functions.listed()[session]["title"] == TITLE
    assert second.ask("SAY on", "--resume", TITLE)["session_id"] == session
    assert functions.listed()[session]["title"] == TITLE


def test_names_and_labels_outlive_the_other_one(pair, functions):
    first, second = pair
    session = first.ask("SAY one")["session_id"]
    functions.rename(session, TITLE)
    functions.tag(session, "kept")
    second.ask("SAY two", "--resume", TITLE)
    first.ask("SAY three", "--resume", session)
    assert functions.listed() == {session: {"title": TITLE, "tag": "kept"}}


def test_lines_of_older_versions(pair, functions, place):
    first, second = pair
    session = first.ask("SAY one")["session_id"]
    last = functions.messages(session)[-1]["uuid"]
    [transcript] = place.config.glob(f"projects/*/{session}.jsonl")
    notes = [
        {"type": "summary", "summary": "What it was about", "leafUuid": last},
        {"type": "ai-title", "aiTitle": "A generated title", "sessionId": session},
    ]
    with transcript.open("a") as file:
        file.writelines(json.dumps(note) + "\n" for note in notes)
    second.ask("SAY two", "--resume", session)
    told = said_to_model(second)
    assert "SAY one" in told
    assert "What it was about" not in told
    assert functions.listed()[session]["title"] == "A generated title"


def test_behind_a_message(pair, functions):
    first, second = pair
    session = first.ask("SAY one")["session_id"]
    first.ask("SAY two", "--resume", session)
    kept = functions.messages(session)[1]["uuid"]
    second.ask("SAY three", "--resume", session, "--resume-session-at", kept)
    told = said_to_model(second)
    assert "SAY one" in told
    assert "SAY two" not in told
    # The new branch is the session now, for both.
    first.ask("SAY four", "--resume", session)
    told = said_to_model(first)
    assert "SAY three" in told
    assert "SAY two" not in told


def test_a_fork_of_a_fork(pair, functions):
    first, second = pair
    session = first.ask("SAY one")["session_id"]
    fork = second.ask("SAY two", "--resume", session, "--fork-session")["session_id"]
    last = first.ask("SAY three", "--resume", fork, "--fork-session")["session_id"]
    assert len({session, fork, last}) == 3
    told = said_to_model(first)
    places = [told.index(f"SAY {word}") for word in ("one", "two", "three")]
    assert places == sorted(places)
    assert [len(functions.messages(it)) for it in (session, fork, last)] == [2, 4, 6]


def test_a_fork(pair, functions):
    first, second = pair
    session = first.ask("SAY original")["session_id"]
    before = functions.messages(session)
    forked = second.ask("SAY copy", "--resume", session, "--fork-session")["session_id"]
    assert forked != session
    assert "SAY original" in said_to_model(second)
    assert functions.messages(session) == before
    assert len(functions.messages(forked)) == 4


def test_killed_session_can_be_resumed(pair, place):
    first, second = pair
    prompt = script(call("Bash", command="echo kept"), "NEXT", "SAY lost")
    session = first.ask(prompt)["session_id"]
    [transcript] = place.config.glob(f"projects/*/{session}.jsonl")
    lines = transcript.read_text().splitlines(keepends=True)
    calls = [number for number, line in enumerate(lines) if '"tool_use"' in line]
    # The call is there, its result is torn.
    result = next(line for line in lines[calls[0] + 1 :] if '"tool_result"' in line)
    transcript.write_text("".join(lines[: calls[0] + 1]) + result[: len(result) // 2])
    second.ask("SAY on", "--resume", session)
    assert "echo kept" in said_to_model(second)


@pytest.mark.parametrize("begins", ["ours", "theirs"])
def test_functions_of_the_sdks(begins, functions, request):
    program = request.getfixturevalue(begins)
    session = program.ask("SAY words")["session_id"]
    program.ask("SAY more", "--resume", session)
    said = functions.messages(session)
    assert [it["type"] for it in said] == ["user", "assistant"] * 2
    functions.rename(session, TITLE)
    functions.tag(session, "kept")
    assert functions.listed() == {session: {"title": TITLE, "tag": "kept"}}
    fork = functions.fork(session)
    assert [it["type"] for it in functions.messages(fork)] == ["user", "assistant"] * 2
    # The next reader of the session finds the lines that the functions wrote into it.
    assert program.ask("SAY on", "--resume", fork)["session_id"] == fork
    assert "SAY words" in said_to_model(program)
    functions.delete(session)
    assert list(functions.listed()) == [fork]


def test_prompt_resumes_an_archived_session(ours, place):
    functions = TypeScriptFunctions(place.project)
    session = ours.ask("SAY words")["session_id"]
    assert functions.is_archived(session) is None
    functions.archive(session)
    assert functions.is_archived(session) is True
    ours.ask("SAY more", "--resume", session)
    assert functions.is_archived(session) is False
