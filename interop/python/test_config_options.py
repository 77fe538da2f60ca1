"""Options of the working directory, the environment and the configuration."""

import json

import pytest
from claude_agent_sdk import ProcessError
from driving import (
    call,
    init_of,
    prompts,
    result_of,
    run,
    script,
    system_of,
    text_of,
    tool_results_of,
)


def shell(command: str) -> str:
    return script(call("Bash", command=command), "NEXT", "SAY done")


async def test_cwd(options, place):
    (place.project / "deep").mkdir()
    messages = await run(shell("pwd"), options(cwd=place.project / "deep", allowed_tools=["Bash"]))
    assert init_of(messages)["cwd"] == str(place.project / "deep")
    assert text_of(tool_results_of(messages)[0]) == str(place.project / "deep")


async def test_env_reaches_the_tools(options):
    messages = await run(
        shell("echo $COLOR $CLAUDECODE"),
        options(env={"COLOR": "green"}, allowed_tools=["Bash"]),
    )
    assert text_of(tool_results_of(messages)[0]) == "green 1"


async def test_add_dirs_opens_another_folder(options, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    prompt = script(call("Write", file_path=str(other / "w.txt"), content="w"), "NEXT", "SAY done")
    await run(prompt, options(permission_mode="acceptEdits"))
    assert not (other / "w.txt").exists()
    await run(prompt, options(permission_mode="acceptEdits", add_dirs=[other]))
    assert (other / "w.txt").exists()


@pytest.mark.parametrize("form", ["inline", "file"])
async def test_settings(options, place, form):
    settings = json.dumps(
        {"permissions": {"allow": ["Bash(touch:*)"]}, "env": {"FROM_SETTINGS": "yes"}}
    )
    value = settings if form == "inline" else str(place.file("extra.json", settings))
    prompt = script(
        call("Bash", command="touch made"),
        "NEXT",
        call("Bash", command="printenv FROM_SETTINGS"),
        "NEXT",
        "SAY done",
    )
    messages = await run(prompt, options(settings=value, allowed_tools=["Bash(printenv:*)"]))
    assert (place.project / "made").exists()
    assert text_of(tool_results_of(messages)[1]) == "yes"


async def test_settings_file_that_is_missing(options):
    said = []
    with pytest.raises(ProcessError):
        await run("SAY x", options(settings="/nowhere/settings.json", stderr=said.append))
    assert "/nowhere/settings.json" in "\n".join(said)


@pytest.mark.parametrize(
    ("sources", "works"),
    [(None, True), (["project"], True), (["user"], False), ([], False)],
)
async def test_setting_sources(options, place, sources, works):
    place.file(".claude/settings.json", '{"env": {"FROM_PROJECT": "1"}}')
    messages = await run(
        shell("echo ${FROM_PROJECT:-0}"),
        options(setting_sources=sources, allowed_tools=["Bash"]),
    )
    assert text_of(tool_results_of(messages)[0]) == str(int(works))


async def test_project_rules_count_because_a_program_chose_the_folder(options, place):
    place.file(".claude/settings.json", '{"permissions": {"allow": ["Bash(touch:*)"]}}')
    said = []
    await run(shell("touch made"), options(stderr=said.append))
    assert (place.project / "made").exists()
    assert "trust" not in "\n".join(said)


async def test_user_and_local_settings(options, place):
    (place.config / "settings.json").write_text('{"env": {"WHO": "user", "USER_ONLY": "1"}}')
    place.file(".claude/settings.json", '{"env": {"WHO": "project"}}')
    place.file(".claude/settings.local.json", '{"env": {"WHO": "local"}}')
    messages = await run(shell("echo $WHO $USER_ONLY"), options(allowed_tools=["Bash"]))
    assert text_of(tool_results_of(messages)[0]) == "local 1"


async def test_sandbox_is_merged_into_settings(options):
    messages = await run(
        shell("echo $KEPT"),
        options(
            settings='{"env": {"KEPT": "yes"}}',
            sandbox={"enabled": False},
            allowed_tools=["Bash"],
        ),
    )
    assert text_of(tool_results_of(messages)[0]) == "yes"


async def test_extra_args(options):
    messages = await run(
        prompts("SAY x"), options(extra_args={"replay-user-messages": None, "max-turns": "3"})
    )
    assert [message.content for message in messages if type(message).__name__ == "UserMessage"] == [
        "SAY x"
    ]


async def test_commands_of_the_project(api, api_options, place):
    place.file(".claude/commands/greet.md", "---\ndescription: Greets\n---\nSAY hello $ARGUMENTS\n")
    messages = await run("/greet world", api_options())
    assert "greet" in init_of(messages)["slash_commands"]
    assert result_of(messages).result == "hello world"


SKILL = "---\nname: {name}\ndescription: About {name}\n---\nAll about {name}: stay calm.\n"


async def test_skills(api, api_options, place):
    for name in ("boats", "trains"):
        place.file(f".claude/skills/{name}/SKILL.md", SKILL.format(name=name))
    prompt = script(call("Skill", skill="boats"), "NEXT", "SAY done")
    messages = await run(prompt, api_options(skills="all"))
    assert {"boats", "trains"} <= set(init_of(messages)["skills"])
    assert "All about boats: stay calm." in api.requests[-1].conversation


async def test_only_named_skills_are_known(api, api_options, place):
    for name in ("boats", "trains"):
        place.file(f".claude/skills/{name}/SKILL.md", SKILL.format(name=name))
    await run("SAY x", api_options(skills=["boats"]))
    request = api.requests[0]
    everything = json.dumps(request.body)
    assert "About boats" in everything
    assert "About trains" not in everything


async def test_plugins(options, place, tmp_path):
    plugin = tmp_path / "harbor"
    (plugin / ".claude-plugin").mkdir(parents=True)
    (plugin / ".claude-plugin" / "plugin.json").write_text(
        '{"name": "harbor", "version": "1.0.0", "description": "d"}'
    )
    (plugin / "commands").mkdir()
    (plugin / "commands" / "dock.md").write_text("---\ndescription: Docks\n---\nSAY docked\n")
    messages = await run("/harbor:dock", options(plugins=[{"type": "local", "path": str(plugin)}]))
    init = init_of(messages)
    assert "harbor" in [one["name"] for one in init["plugins"]]
    assert "harbor:dock" in init["slash_commands"]
    assert result_of(messages).result == "docked"


async def test_output_is_read_in_long_lines(options, place):
    place.file("long.txt", "x" * 200_000)
    messages = await run(script("TOKENS 60000"), options(max_buffer_size=4_000_000))
    assert len(result_of(messages).result.split()) == 60000
    assert system_of(messages, "init")


async def test_stderr_callback_receives_the_debug_log(options):
    said = []
    await run("SAY x", options(stderr=said.append, extra_args={"debug-to-stderr": None}))
    assert said
    quiet = []
    await run("SAY x", options(stderr=quiet.append))
    assert quiet == []
