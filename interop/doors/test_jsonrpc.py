"""Third-party JSON-RPC libraries: jsonrpcclient sends requests, jsonrpcserver handles them."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from conftest import Place, call, script
from jsonrpcclient import Error, Ok, notification_json, parse, request, request_json
from jsonrpcserver import Result, Success, dispatch, method


@method(name="permission/request")
def permission_request(tool_name: str, input: dict[str, Any], **_rest: Any) -> Result:  # noqa: A002
    """Allows what does not remove anything."""
    if "rm " in input.get("command", ""):
        return Success({"behavior": "deny", "message": f"{tool_name} must not remove anything"})
    return Success({"behavior": "allow"})


class Wire:
    """A line to `bowline rpc`."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin and process.stdout
        self.writer, self.reader = process.stdin, process.stdout

    async def send(self, message: str) -> None:
        self.writer.write(message.encode() + b"\n")
        await self.writer.drain()

    async def receive(self) -> Any:
        """The next response, as the library reads it; requests to us go to the other library."""
        while True:
            line = (await self.reader.readline()).decode()
            assert line, "the door is closed"
            message = json.loads(line)
            if isinstance(message, dict) and "method" in message:
                if answer := dispatch(line):
                    await self.send(answer)
                continue
            return parse(message)

    async def run(self, **params: Any) -> list[Any]:
        """Every response to a run, up to the last."""
        await self.send(request_json("run", params=params))
        heard = []
        while True:
            response = await self.receive()
            heard.append(response)
            if isinstance(response, Error) or response.result["type"] == "result":
                return heard

    async def ask(self, name: str, params: Any = None) -> Any:
        """The response to a request that has one."""
        asked = request(name, params=params) if params is not None else request(name)
        await self.send(json.dumps(asked))
        while True:
            response = await self.receive()
            if response.id == asked["id"]:
                return response


@asynccontextmanager
async def rpc(place: Place, *args: str) -> AsyncIterator[Wire]:
    """`bowline rpc`, which ends when its input does."""
    process = await asyncio.create_subprocess_exec(
        *(place.bowline, "rpc", "--model", "script", *args),
        cwd=place.project,
        env=place.environment,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=1 << 24,
    )
    wire = Wire(process)
    yield wire
    wire.writer.close()
    assert await asyncio.wait_for(process.wait(), 20) == 0


async def test_a_run(place: Place) -> None:
    async with rpc(place) as wire:
        heard = await wire.run(prompt=script("THINK hm", "SAY hello"))
    kinds = [response.result["type"] for response in heard]
    assert kinds == ["system", "system", "assistant", "assistant", "result"]
    assert len({response.id for response in heard}) == 1
    result = heard[-1].result
    assert result["result"] == "hello" and result["is_error"] is False
    assert {"duration_ms", "num_turns", "session_id", "usage", "total_cost_usd"} <= result.keys()


async def test_the_client_is_asked(place: Place) -> None:
    async with rpc(place) as wire:
        made = await wire.run(
            prompt=script(call("Bash", command="touch made.txt"), "NEXT", "SAY done")
        )
        removed = await wire.run(
            prompt=script(call("Bash", command="rm made.txt"), "NEXT", "SAY done")
        )
    assert made[-1].result["permission_denials"] == []
    assert "must not remove" in json.dumps([response.result for response in removed])
    assert (place.project / "made.txt").exists()


async def test_a_session_goes_on(place: Place) -> None:
    async with rpc(place) as wire:
        first = (await wire.run(prompt="SAY one"))[-1].result
    async with rpc(place) as wire:
        second = (await wire.run(prompt="SAY two", session_id=first["session_id"]))[-1].result
    assert second["session_id"] == first["session_id"]
    assert second["result"] == "two"


async def test_stream_events_and_content_blocks(place: Place) -> None:
    async with rpc(place) as wire:
        heard = await wire.run(prompt=[{"type": "text", "text": "SAY hello"}], stream=True)
    events = [response.result for response in heard if response.result["type"] == "stream_event"]
    assert events[0]["event"]["type"] == "message_start"
    assert heard[-1].result["result"] == "hello"


@pytest.mark.parametrize(
    ("name", "params", "code"),
    [
        ("fly", None, -32601),
        ("run", {}, -32602),
        ("run", {"prompt": 7}, -32602),
        ("cancel", None, -32002),
    ],
)
async def test_errors(place: Place, name: str, params: Any, code: int) -> None:
    async with rpc(place) as wire:
        response = await wire.ask(name, params)
    assert isinstance(response, Error) and response.code == code


async def test_nonsense_is_an_error_and_the_door_stays_open(place: Place) -> None:
    async with rpc(place) as wire:
        await wire.send("{nonsense")
        assert (await wire.receive()).code == -32700
        await wire.send("[]")
        assert (await wire.receive()).code == -32600
        assert isinstance(await wire.ask("status"), Ok)


async def test_cancelling(place: Place) -> None:
    async with rpc(place) as wire:
        await wire.send(request_json("run", params={"prompt": script("DELAY 60000", "SAY late")}))
        running = await wire.receive()
        assert (await wire.ask("run", {"prompt": "SAY now"})).code == -32001
        await wire.send(notification_json("cancel"))
        while isinstance(response := await wire.receive(), Ok):
            pass
        assert (response.id, response.code) == (running.id, -32003)
        assert (await wire.ask("status")).result["state"] == "idle"


async def test_a_batch(place: Place) -> None:
    async with rpc(place) as wire:
        batch = [request("status"), request("fly"), request("run", params={"prompt": "SAY hello"})]
        await wire.send(json.dumps([*batch, json.loads(notification_json("status"))]))
        while not isinstance(responses := await wire.receive(), map | list):
            pass
        responses = list(responses)
    assert [type(response) for response in responses] == [Ok, Error, Ok]
    assert responses[-1].result["result"] == "hello"
