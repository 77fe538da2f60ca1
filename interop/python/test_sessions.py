"""Transcripts: the SDK's own session functions read, change and fork bowline's transcripts."""

import uuid

import pytest
from claude_agent_sdk import (
    AgentDefinition,
    ClaudeSDKClient,
    InMemorySessionStore,
    ProcessError,
    delete_session,
    fork_session,
    get_session_info,
    get_session_messages,
    get_subagent_messages,
    list_sessions,
    list_subagents,
    project_key_for_directory,
    rename_session,
    tag_session,
)
from driving import ask, call, init_of, result_of, run, script, system_of, texts_of

TALK = script("SAY remembered words")


async def test_sessions_are_listed_newest_first(options, place):
    first = result_of(await run("SAY one", options())).session_id
    second = result_of(await run("SAY two", options())).session_id
    found = list_sessions(directory=str(place.project))
    assert [info.session_id for info in found] == [second, first]
    assert [info.first_prompt for info in found] == ["SAY two", "SAY one"]
    assert all(info.cwd == str(place.project) for info in found)
    assert list_sessions(directory=str(place.project), limit=1, offset=1) == found[1:]
    assert {info.session_id for info in list_sessions()} == {first, second}


async def test_messages_of_a_session(options, place):
    prompt = script(call("Bash", command="echo yo"), "NEXT", "SAY done")
    result = result_of(await run(prompt, options(allowed_tools=["Bash"])))
    messages = get_session_messages(result.session_id, directory=str(place.project))
    assert [message.type for message in messages] == ["user", "assistant", "user", "assistant"]
    assert "echo yo" in str(messages[0].message["content"])
    assert messages[1].message["content"][-1]["name"] == "Bash"
    assert messages[2].message["content"][0]["type"] == "tool_result"
    assert messages[3].message["content"][0]["text"] == "done"
    info = get_session_info(result.session_id, directory=str(place.project))
    assert info.session_id == result.session_id
    assert info.created_at <= info.last_modified


async def test_resume_remembers(api, api_options):
    first = result_of(await run(TALK, api_options()))
    messages = await run("SAY again", api_options(resume=first.session_id))
    assert result_of(messages).session_id == first.session_id
    assert "remembered words" in api.requests[-1].conversation


async def test_resume_that_is_unknown_fails(options):
    with pytest.raises(ProcessError):
        await run("SAY x", options(resume=str(uuid.uuid4())))


async def test_continue_takes_the_newest(api, api_options):
    await run("SAY older", api_options())
    newest = result_of(await run(TALK, api_options()))
    messages = await run("SAY again", api_options(continue_conversation=True))
    assert result_of(messages).session_id == newest.session_id
    assert "remembered words" in api.requests[-1].conversation


async def test_fork_leaves_the_first_session_alone(api, api_options, place):
    first = result_of(await run(TALK, api_options()))
    before = get_session_messages(first.session_id, directory=str(place.project))
    forked = result_of(
        await run("SAY elsewhere", api_options(resume=first.session_id, fork_session=True))
    )
    assert forked.session_id != first.session_id
    assert "remembered words" in api.requests[-1].conversation
    after = get_session_messages(first.session_id, directory=str(place.project))
    assert [message.uuid for message in after] == [message.uuid for message in before]
    assert len(get_session_messages(forked.session_id, directory=str(place.project))) == 4


async def test_chosen_session_id(options, place):
    chosen = str(uuid.uuid4())
    assert result_of(await run("SAY x", options(session_id=chosen))).session_id == chosen
    assert get_session_info(chosen, directory=str(place.project)) is not None
    with pytest.raises(ProcessError):
        await run("SAY x", options(session_id=chosen))
    with pytest.raises(ProcessError):
        await run("SAY x", options(session_id="not-a-uuid"))


async def test_resume_at_an_earlier_message(api, api_options, place):
    async with ClaudeSDKClient(api_options()) as client:
        await ask(client, "SAY the beginning")
        result = result_of(await ask(client, "SAY the regret"))
    messages = get_session_messages(result.session_id, directory=str(place.project))
    await run(
        "SAY instead",
        api_options(resume=result.session_id, resume_session_at=messages[1].uuid),
    )
    assert "the beginning" in api.requests[-1].conversation
    assert "the regret" not in api.requests[-1].conversation


async def test_resume_without_the_last_turn(api, api_options, place):
    async with ClaudeSDKClient(api_options()) as client:
        await ask(client, "SAY the beginning")
        result = result_of(await ask(client, "SAY the regret"))
    messages = get_session_messages(result.session_id, directory=str(place.project))
    await run(
        "SAY instead",
        api_options(
            resume=result.session_id,
            resume_session_at=messages[1].uuid,
            resume_drops_turn=messages[2].uuid,
        ),
    )
    assert "the beginning" in api.requests[-1].conversation
    assert "the regret" not in api.requests[-1].conversation


async def test_sdk_fork_can_be_resumed(api, api_options, place):
    first = result_of(await run(TALK, api_options()))
    fork = fork_session(first.session_id, directory=str(place.project), title="a branch")
    assert get_session_info(fork.session_id, str(place.project)).custom_title == "a branch"
    resumed = await run("SAY on", api_options(resume=fork.session_id))
    assert result_of(resumed).session_id == fork.session_id
    assert "remembered words" in api.requests[-1].conversation


async def test_names_and_tags_survive_a_resume(options, place):
    session = result_of(await run(TALK, options())).session_id
    rename_session(session, "My favorite", directory=str(place.project))
    tag_session(session, "kept", directory=str(place.project))
    await run("SAY more", options(resume=session))
    info = get_session_info(session, directory=str(place.project))
    assert (info.custom_title, info.tag) == ("My favorite", "kept")


async def test_deleted_session_is_gone(options, place):
    session = result_of(await run(TALK, options())).session_id
    delete_session(session, directory=str(place.project))
    assert list_sessions(directory=str(place.project)) == []
    with pytest.raises(ProcessError):
        await run("SAY x", options(resume=session))


async def test_subagents_have_transcripts(options, place):
    agents = {"helper": AgentDefinition(description="helps", prompt="You help.")}
    prompt = script(
        call(
            "Agent",
            description="work",
            prompt="SAY from below",
            subagent_type="helper",
            run_in_background=False,
        ),
        "NEXT",
        "SAY done",
    )
    session = result_of(await run(prompt, options(agents=agents))).session_id
    (agent,) = list_subagents(session, directory=str(place.project))
    messages = get_subagent_messages(session, agent, directory=str(place.project))
    assert [message.type for message in messages] == ["user", "assistant"]
    assert messages[1].message["content"][0]["text"] == "from below"


async def test_session_persistence_can_be_disabled(options, place):
    await run("SAY x", options(extra_args={"no-session-persistence": None}))
    assert list_sessions(directory=str(place.project)) == []


async def test_store_mirrors_and_resumes(api, api_options, place):
    store = InMemorySessionStore()
    first = result_of(await run(TALK, api_options(session_store=store)))
    key = {
        "project_key": project_key_for_directory(str(place.project)),
        "session_id": first.session_id,
    }
    entries = await store.load(key)
    assert {"user", "assistant"} <= {entry["type"] for entry in entries}
    delete_session(first.session_id, directory=str(place.project))
    resumed = await run("SAY again", api_options(session_store=store, resume=first.session_id))
    assert result_of(resumed).session_id == first.session_id
    assert "remembered words" in api.requests[-1].conversation


async def test_clear_begins_a_new_conversation(api, api_options):
    async with ClaudeSDKClient(api_options()) as client:
        first = await ask(client, TALK)
        await ask(client, "/clear")
        after = await ask(client, "SAY fresh")
    assert texts_of(after) == ["fresh"]
    assert init_of(after)["session_id"] != init_of(first)["session_id"]
    assert "remembered words" not in api.requests[-1].conversation
    assert system_of(first, "init")
