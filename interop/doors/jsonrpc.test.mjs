// The npm library json-rpc-2.0 as client and server at once: one response per request, so the
// messages of a run come as notifications.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { JSONRPCClient, JSONRPCServer, JSONRPCServerAndClient } from "json-rpc-2.0";

function open(answer = () => ({ behavior: "allow" })) {
  const folder = mkdtempSync(join(tmpdir(), "bowline-rpc-"));
  const environment = { ...process.env, HOME: folder, BOWLINE_CONFIG_DIR: join(folder, ".config") };
  const child = spawn(process.env.BOWLINE, ["rpc", "--model", "script"], {
    cwd: folder,
    env: environment,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const send = async (message) => void child.stdin.write(`${JSON.stringify(message)}\n`);
  const peer = new JSONRPCServerAndClient(new JSONRPCServer(), new JSONRPCClient(send));
  const messages = [];
  peer.addMethod("run/message", ({ message }) => void messages.push(message));
  peer.addMethod("permission/request", answer);
  createInterface({ input: child.stdout }).on("line", (line) => peer.receiveAndSend(JSON.parse(line)));
  const run = (prompt) => peer.request("run", { prompt, delivery: "notifications" });
  const close = () => new Promise((done) => child.on("exit", done).stdin.end());
  return { folder, peer, messages, run, close };
}

test("a run has one response, and its messages are notifications", async () => {
  const { messages, run, close } = open();
  const result = await run("THINK hm\nSAY hello");
  assert.equal(result.result, "hello");
  const kinds = messages.map((message) => message.type);
  assert.deepEqual(kinds, ["system", "system", "assistant", "assistant"]);
  assert.equal(await close(), 0);
});

test("the library's server answers what it is asked", async () => {
  const asked = [];
  const { folder, run, close } = open((question) => {
    asked.push(question.tool_name);
    return { behavior: "allow" };
  });
  await run('TOOL Bash {"command": "touch made.txt"}\nNEXT\nSAY done');
  assert.deepEqual(asked, ["Bash"]);
  assert.ok(existsSync(join(folder, "made.txt")));
  assert.equal(await close(), 0);
});

test("errors reject with their code", async () => {
  const { peer, run, close } = open();
  await assert.rejects(peer.request("fly", {}), { code: -32601 });
  await assert.rejects(peer.request("cancel", {}), { code: -32002 });
  const late = assert.rejects(run("DELAY 60000\nSAY x"), { code: -32003 });
  await assert.rejects(peer.request("run", { prompt: "SAY y" }), { code: -32001 });
  assert.deepEqual(await peer.request("cancel", {}), { cancelled: true });
  await late;
  assert.equal(await close(), 0);
});
