// Tools of the host and servers that are processes.
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { createSdkMcpServer, tool } from '@anthropic-ai/claude-agent-sdk';
import { z } from 'zod';
import {
  call, converse, initOf, place, resultOf, run, script, textOf, toolResultsOf,
} from './driving.mjs';

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

/** A server in this process. */
const desk = () =>
  createSdkMcpServer({
    name: 'desk',
    version: '2.0.0',
    tools: [
      tool('add', 'Adds two numbers', { a: z.number(), b: z.number() }, async ({ a, b }) => ({
        content: [{ type: 'text', text: String(a + b) }],
      })),
      tool('draw', 'Draws', {}, async () => ({
        content: [
          { type: 'text', text: 'a picture' },
          { type: 'image', data: PIXEL, mimeType: 'image/png' },
        ],
      })),
      tool('refuse', 'Refuses', {}, async () => ({
        content: [{ type: 'text', text: 'I will not' }],
        isError: true,
      })),
      tool('crash', 'Crashes', {}, async () => {
        throw new Error('out of paper');
      }),
    ],
  });

const allowed = ['mcp__desk', 'mcp__shelf'];

/** A server in a process of its own, made with the official MCP package. */
const shelf = {
  type: 'stdio',
  command: process.execPath,
  args: [fileURLToPath(new URL('mcp-server.mjs', import.meta.url))],
};

const shout = script(call('mcp__shelf__shout', { text: 'hey' }), 'NEXT', 'SAY done');
const add = script(call('mcp__desk__add', { a: 2, b: 2.5 }), 'NEXT', 'ECHORESULT');

test('a tool of the host answers with text', async (t) => {
  const { options } = await place(t);
  const messages = await run(add, options({ mcpServers: { desk: desk() }, allowedTools: allowed }));
  assert(initOf(messages).tools.includes('mcp__desk__add'));
  assert.equal(textOf(toolResultsOf(messages)[0]), '4.5');
  assert.equal(resultOf(messages).result, 'result was: 4.5');
});

test('an image is an image for the model', async (t) => {
  const { options, requests } = await place(t, { api: true });
  await run(
    script(call('mcp__desk__draw'), 'NEXT', 'SAY nice'),
    options({ mcpServers: { desk: desk() }, allowedTools: allowed }),
  );
  const answer = requests
    .at(-1)
    .body.messages.flatMap((message) => [message.content].flat())
    .find((block) => block.type === 'tool_result');
  const [text, image] = answer.content;
  assert.equal(text.text, 'a picture');
  assert.deepEqual(image.source, { type: 'base64', media_type: 'image/png', data: PIXEL });
});

for (const [name, input, expected] of [
  ['refuse', {}, /I will not/],
  ['crash', {}, /out of paper/],
  ['add', { a: 'two' }, /./],
  ['missing', {}, /mcp__desk__missing/],
]) {
  test(`${name} is an error result`, async (t) => {
    const { options } = await place(t);
    const messages = await run(
      script(call(`mcp__desk__${name}`, input), 'NEXT', 'SAY oh'),
      options({ mcpServers: { desk: desk() }, allowedTools: allowed }),
    );
    const [answer] = toolResultsOf(messages);
    assert.equal(answer.is_error, true);
    assert.match(textOf(answer), expected);
    assert.equal(resultOf(messages).result, 'oh');
  });
}

test('canUseTool is asked about tools of the host', async (t) => {
  const { options } = await place(t);
  const questions = [];
  const canUseTool = async (name, input) => {
    questions.push([name, input]);
    return { behavior: 'allow', updatedInput: { a: 10, b: 1 } };
  };
  const messages = await run(add, options({ mcpServers: { desk: desk() }, canUseTool }));
  assert.deepEqual(questions, [['mcp__desk__add', { a: 2, b: 2.5 }]]);
  assert.equal(textOf(toolResultsOf(messages)[0]), '11');
});

test('a server that is a process', async (t) => {
  const { options } = await place(t);
  const messages = await run(shout, options({ mcpServers: { shelf }, allowedTools: allowed }));
  assert.equal(textOf(toolResultsOf(messages)[0]), 'HEY');
});

test('status, toggle, reconnect', async (t) => {
  const { options } = await place(t);
  const servers = { mcpServers: { shelf, desk: desk() }, allowedTools: allowed };
  await converse(options(servers), async (conversation) => {
    await conversation.ask('SAY x');
    const status = await conversation.query.mcpServerStatus();
    assert.deepEqual(status.map((server) => server.status), ['connected', 'connected']);
    const known = status.find((server) => server.name === 'shelf');
    assert.equal(known.serverInfo.name, 'shelf');
    assert(known.tools.some((one) => one.name === 'shout'));
    await conversation.query.toggleMcpServer('shelf', false);
    assert.equal(toolResultsOf(await conversation.ask(shout))[0].is_error, true);
    await conversation.query.toggleMcpServer('shelf', true);
    assert.equal(textOf(toolResultsOf(await conversation.ask(shout))[0]), 'HEY');
    await conversation.query.reconnectMcpServer('shelf');
    assert.equal(textOf(toolResultsOf(await conversation.ask(shout))[0]), 'HEY');
    await assert.rejects(conversation.query.reconnectMcpServer('nobody'), /nobody/);
  });
});

test('a server of its own permission mode', async (t) => {
  const { options } = await place(t);
  await converse(options({ mcpServers: { shelf } }), async (conversation) => {
    await conversation.ask('SAY x');
    const known = await conversation.query.setMcpPermissionModeOverride('shelf', 'default');
    assert.equal(known?.warning, undefined);
    const unknown = await conversation.query.setMcpPermissionModeOverride('nobody', 'default');
    assert.match(unknown.warning, /nobody/);
  });
});

test('servers come and go while the session runs', async (t) => {
  const { options } = await place(t);
  await converse(options({ allowedTools: allowed }), async (conversation) => {
    await conversation.ask('SAY x');
    const added = await conversation.query.setMcpServers({ shelf, desk: desk() });
    assert.deepEqual(added.added.sort(), ['desk', 'shelf']);
    assert.equal(textOf(toolResultsOf(await conversation.ask(shout))[0]), 'HEY');
    assert.equal(textOf(toolResultsOf(await conversation.ask(add))[0]), '4.5');
    const removed = await conversation.query.setMcpServers({});
    assert.deepEqual(removed.removed.sort(), ['desk', 'shelf']);
    assert.equal(toolResultsOf(await conversation.ask(shout))[0].is_error, true);
  });
});

test('resources are read', async (t) => {
  const { options } = await place(t);
  await converse(options({ mcpServers: { shelf } }), async (conversation) => {
    await conversation.ask('SAY x');
    const { contents } = await conversation.query.readMcpResource('shelf', 'ui://shelf/books');
    assert.equal(contents[0].text, 'three books');
  });
});

test('a server asks the user', async (t) => {
  const { options } = await place(t);
  const asked = [];
  const onElicitation = async (request) => {
    asked.push(request);
    return { action: 'accept', content: { color: 'green' } };
  };
  const prompt = script(call('mcp__shelf__ask_color'), 'NEXT', 'SAY done');
  const messages = await run(
    prompt, options({ mcpServers: { shelf }, allowedTools: allowed, onElicitation }),
  );
  assert.equal(asked.length, 1);
  assert.equal(asked[0].serverName, 'shelf');
  assert.equal(textOf(toolResultsOf(messages)[0]), 'green');
});
