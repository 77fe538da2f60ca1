// Options that few programs use, by what they change.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createSdkMcpServer, getSessionMessages, tool } from '@anthropic-ai/claude-agent-sdk';
import {
  call, converse, place, resultOf, run, script, systemOf, textOf, toolResultsOf,
} from './driving.mjs';

const shell = (command) => script(call('Bash', { command }), 'NEXT', 'SAY done');

test('projectConfigRoot', async (t) => {
  const { options, project, file } = await place(t);
  file('.claude/settings.json', '{"env": {"FROM": "the project"}}');
  file('elsewhere/.claude/settings.json', '{"env": {"FROM": "elsewhere"}}');
  const fields = { allowedTools: ['Bash'], projectConfigRoot: join(project, 'elsewhere') };
  const messages = await run(shell('echo $FROM'), options(fields));
  assert.equal(textOf(toolResultsOf(messages)[0]), 'elsewhere');
});

test('maxThinkingTokens', async (t) => {
  const { options, requests } = await place(t, { api: true });
  await run('SAY x', options({ model: 'claude-haiku-4-5', maxThinkingTokens: 2000 }));
  assert.deepEqual(requests.at(-1).body.thinking, { type: 'enabled', budget_tokens: 2000 });
});

test('permissionPromptToolName', async (t) => {
  const { options, project } = await place(t);
  const answers = { ask: { behavior: 'deny', message: 'not this one' } };
  const permit = tool('permit', 'Decides', {}, async () => ({
    content: [{ type: 'text', text: JSON.stringify(answers.ask) }],
  }));
  const fields = () => ({
    mcpServers: { gate: createSdkMcpServer({ name: 'gate', tools: [permit] }) },
    permissionPromptToolName: 'mcp__gate__permit',
  });
  const denied = await run(shell('touch made'), options(fields()));
  assert.equal(textOf(toolResultsOf(denied)[0]), 'not this one');
  answers.ask = { behavior: 'allow', updatedInput: { command: 'touch other' } };
  await run(shell('touch made'), options(fields()));
  assert.deepEqual(['made', 'other'].map((name) => existsSync(join(project, name))), [false, true]);
});

test('resumeDropsTurn', async (t) => {
  const { options, requests, project: dir, config } = await place(t, { api: true });
  process.env.CLAUDE_CONFIG_DIR = config;
  t.after(() => delete process.env.CLAUDE_CONFIG_DIR);
  const session = await converse(options(), async (conversation) => {
    await conversation.ask('SAY the beginning');
    const result = resultOf(await conversation.ask('SAY the regret'));
    await conversation.end();
    return result.session_id;
  });
  const [, answer, regret] = await getSessionMessages(session, { dir });
  const fields = { resume: session, resumeSessionAt: answer.uuid, resumeDropsTurn: regret.uuid };
  await run('SAY instead', options(fields));
  assert(requests.at(-1).conversation.includes('the beginning'));
  assert(!requests.at(-1).conversation.includes('the regret'));
});

test('sandbox is not passed over in silence', async (t) => {
  const { options } = await place(t);
  const said = [];
  const stderr = (text) => said.push(text);
  const wanted = { enabled: true, failIfUnavailable: false };
  await run('SAY x', options({ sandbox: wanted, stderr }));
  assert.match(said.join(''), /no sandbox/);
  const required = options({ sandbox: { enabled: true, failIfUnavailable: true }, stderr });
  const messages = await run('SAY x', required);
  assert.match(resultOf(messages).errors[0], /no sandbox/);
});

for (const perTaskStopAffordance of [true, false]) {
  test(`perTaskStopAffordance ${perTaskStopAffordance}`, async (t) => {
    const { options } = await place(t);
    const input = { description: 'd', prompt: 'DELAY 1500\nSAY finished', run_in_background: true };
    const prompt = script(call('Agent', input), 'NEXT', 'DELAY 20000', 'SAY never');
    await converse(options({ perTaskStopAffordance }), async (conversation) => {
      conversation.send(prompt);
      await conversation.until((message) => message.type === 'user');
      await conversation.query.interrupt();
      const ended = (message) => message.subtype === 'task_notification';
      const messages = await conversation.until(ended);
      const { status } = systemOf(messages, 'task_notification')[0];
      assert.equal(status, perTaskStopAffordance ? 'completed' : 'stopped');
    });
  });
}

test('options without effect are accepted', async (t) => {
  const { options } = await place(t);
  const fields = {
    promptSuggestions: true,
    agentProgressSummaries: true,
    supportedDialogKinds: ['refusal_fallback_prompt'],
    onUserDialog: async () => ({ behavior: 'cancelled' }),
    toolConfig: { askUserQuestion: { previewFormat: 'html' } },
  };
  assert.equal(resultOf(await run('SAY fine', options(fields))).result, 'fine');
});
