// Processes that are started before the session they will serve is known.
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createSdkMcpServer, prewarm, tool } from '@anthropic-ai/claude-agent-sdk';
import {
  call, initOf, place, resultOf, run, script, toolResultsOf,
} from './driving.mjs';

/** Every message of a claimed session. */
async function all(query) {
  const messages = [];
  for await (const message of query) messages.push(message);
  return messages;
}

/** Options for a process that waits: the session's folder is not among them. */
function ahead(options) {
  const { cwd, ...rest } = options;
  return rest;
}

test('a claim binds a spare to a folder', async (t) => {
  const { options, project, file } = await place(t);
  file('.claude/commands/knot.md', 'SAY a knot');
  const spare = await prewarm({ options: ahead(options({ allowedTools: ['Bash'] })) });
  const query = spare.claim({
    prompt: script(call('Bash', { command: 'pwd' }), 'NEXT', 'SAY done'),
    options: { cwd: project, title: 'Knots', permissionMode: 'acceptEdits' },
  });
  const commands = await query.supportedCommands();
  assert(commands.some((command) => command.name === 'knot'));
  const messages = await all(query);
  const claimed = await spare.claimed;
  const init = initOf(messages);
  assert.equal(claimed.cwd, project);
  assert.equal(claimed.sessionId, init.session_id);
  assert(claimed.parkedMs >= 0);
  assert.equal(init.cwd, project);
  assert.equal(init.permissionMode, 'acceptEdits');
  assert.equal(toolResultsOf(messages)[0].content, project);
  assert.equal(resultOf(messages).result, 'done');
  await spare.exited;
});

test('options of a spare process apply to the claimed session', async (t) => {
  const { options, project, requests } = await place(t, { api: true });
  const asked = [];
  const calls = [];
  const greet = tool('greet', 'Greets', {}, async () => {
    calls.push('greet');
    return { content: [{ type: 'text', text: 'ahoy' }] };
  });
  const spare = await prewarm({
    options: ahead(options({
      mcpServers: { port: createSdkMcpServer({ name: 'port', tools: [greet] }) },
      hooks: { PreToolUse: [{ hooks: [async (input) => (calls.push(input.cwd), {})] }] },
      canUseTool: async (name, input) => {
        asked.push(name);
        return { behavior: 'allow', updatedInput: input };
      },
    })),
  });
  const query = spare.claim({
    prompt: script(
      call('mcp__port__greet'), 'NEXT', call('Bash', { command: 'touch made' }), 'NEXT', 'SAY done',
    ),
    options: {
      cwd: project,
      model: 'claude-haiku-5-5',
      settings: { permissions: { allow: ['mcp__port'] } },
      appendSystemPrompt: 'Speak like a sailor.',
    },
  });
  const messages = await all(query);
  await spare.claimed;
  assert.deepEqual(calls, [project, 'greet', project]);
  assert.deepEqual(asked, ['Bash']);
  assert(existsSync(join(project, 'made')));
  assert.equal(initOf(messages).model, 'claude-haiku-5-5');
  const { body } = requests.at(-1);
  assert.equal(body.model, 'claude-haiku-5-5');
  assert(JSON.stringify(body.system).includes('Speak like a sailor.'));
});

test('a claim that cannot be met is refused, and nothing runs', async (t) => {
  const { options, project } = await place(t);
  const spare = await prewarm({ options: ahead(options()) });
  const query = spare.claim({
    prompt: 'SAY never',
    options: { cwd: join(project, 'nowhere') },
  });
  await assert.rejects(spare.claimed, /cwd_not_found/);
  const messages = [];
  await assert.rejects(async () => {
    for await (const message of query) messages.push(message);
  }, /not_claimed/);
  assert.match(resultOf(messages).errors[0], /^not_claimed/);
  await spare.exited;
});

test('a spare that is closed leaves nothing behind', async (t) => {
  const { options, config } = await place(t);
  const spare = await prewarm({ options: ahead(options()) });
  spare.close();
  await assert.rejects(spare.claimed, /spare_closed/);
  await spare.exited;
  await spare[Symbol.asyncDispose]();
  assert.deepEqual(readdirSync(join(config, 'spares')), []);
});

test('managed settings that are delivered with initialize', async (t) => {
  const { options } = await place(t);
  const managed = {
    managedSettings: { permissions: { deny: ['Bash'] } },
    managedSettingsDelivery: 'initialize',
  };
  const messages = await run('SAY hi', options(managed));
  const { tools } = initOf(messages);
  assert(tools.includes('Read') && !tools.includes('Bash'));
});
