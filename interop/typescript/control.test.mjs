// Control requests of a host to a running session.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startup } from '@anthropic-ai/claude-agent-sdk';
import {
  call, converse, initOf, place, resultOf, script, systemOf, textOf, toolResultsOf,
} from './driving.mjs';

test('the reply to initialize', async (t) => {
  const { options } = await place(t);
  await converse(options(), async ({ query }) => {
    const reply = await query.initializationResult();
    assert(reply.pid > 0);
    assert.equal(reply.output_style, 'default');
    const commands = await query.supportedCommands();
    for (const name of ['compact', 'clear', 'context'])
      assert(commands.some((command) => command.name === name && command.description), name);
    const models = await query.supportedModels();
    assert(models.length > 0 && models.every((model) => model.value && model.displayName));
    const agents = await query.supportedAgents();
    assert(agents.some((agent) => agent.name === 'general-purpose' && agent.description));
  });
});

test('account information', async (t) => {
  const { options } = await place(t, { api: true });
  await converse(options(), async ({ query }) => {
    const account = await query.accountInfo();
    assert.equal(account.apiKeySource, 'ANTHROPIC_API_KEY');
    assert.equal(account.apiProvider, 'firstParty');
  });
});

test('reinitialize repeats the reply', async (t) => {
  const { options } = await place(t);
  await converse(options(), async ({ query }) => {
    const first = await query.initializationResult();
    assert.equal((await query.reinitialize()).pid, first.pid);
  });
});

test('setModel', async (t) => {
  const { options, requests } = await place(t, { api: true });
  await converse(options(), async (conversation) => {
    await conversation.ask('SAY x');
    await conversation.query.setModel('claude-haiku-5-5');
    assert.equal(initOf(await conversation.ask('SAY x')).model, 'claude-haiku-5-5');
  });
  assert.equal(requests[0].body.model, 'claude-sonnet-5-5');
  assert.equal(requests.at(-1).body.model, 'claude-haiku-5-5');
});

test('setMaxThinkingTokens', async (t) => {
  const { options, requests } = await place(t, { api: true });
  await converse(options({ model: 'claude-haiku-4-5' }), async (conversation) => {
    await conversation.ask('SAY x');
    await conversation.query.setMaxThinkingTokens(3456);
    await conversation.ask('SAY x');
    assert.equal(requests.at(-1).body.thinking.budget_tokens, 3456);
    await conversation.query.setMaxThinkingTokens(0);
    await conversation.ask('SAY x');
    assert.notEqual(requests.at(-1).body.thinking?.type, 'enabled');
  });
});

test('applyFlagSettings changes rules and takes them back', async (t) => {
  const { options, project } = await place(t);
  const touch = (name) => script(call('Bash', { command: `touch ${name}` }), 'NEXT', 'SAY x');
  await converse(options(), async (conversation) => {
    await conversation.ask(touch('a'));
    await conversation.query.applyFlagSettings({ permissions: { allow: ['Bash(touch:*)'] } });
    await conversation.ask(touch('b'));
    await conversation.query.applyFlagSettings({ permissions: null });
    await conversation.ask(touch('c'));
  });
  assert.deepEqual(
    ['a', 'b', 'c'].map((name) => existsSync(join(project, name))), [false, true, false],
  );
});

test('getContextUsage', async (t) => {
  const { options } = await place(t);
  await converse(options(), async (conversation) => {
    const messages = await conversation.ask('SAY x');
    const usage = await conversation.query.getContextUsage();
    assert.equal(usage.model, initOf(messages).model);
    assert(usage.totalTokens > 0 && usage.totalTokens < usage.maxTokens);
    assert(usage.categories.length > 1);
  });
});

test('rewindFiles, tried and done', async (t) => {
  const { options, project, file } = await place(t);
  const kept = file('a.txt', 'alpha\n');
  const uuid = '22222222-2222-4222-8222-222222222222';
  const prompt = script(
    call('Read', { file_path: kept }), 'NEXT',
    call('Edit', { file_path: kept, old_string: 'alpha', new_string: 'beta' }), 'NEXT',
    call('Write', { file_path: join(project, 'new.txt'), content: 'n\n' }), 'NEXT', 'SAY done',
  );
  const fields = { permissionMode: 'acceptEdits', enableFileCheckpointing: true };
  await converse(options(fields), async (conversation) => {
    await conversation.ask(prompt, { uuid });
    const trial = await conversation.query.rewindFiles(uuid, { dryRun: true });
    assert.equal(trial.canRewind, true);
    assert.deepEqual(trial.filesChanged.sort(), [kept, join(project, 'new.txt')].sort());
    assert.equal(readFileSync(kept, 'utf8'), 'beta\n');
    assert.equal((await conversation.query.rewindFiles(uuid)).canRewind, true);
    assert.equal(readFileSync(kept, 'utf8'), 'alpha\n');
    assert(!existsSync(join(project, 'new.txt')));
  });
});

test('seedReadState', async (t) => {
  const { options, file } = await place(t);
  const path = file('a.txt', 'alpha\n');
  const edit = call('Edit', { file_path: path, old_string: 'alpha', new_string: 'beta' });
  await converse(options({ permissionMode: 'acceptEdits' }), async (conversation) => {
    await conversation.query.seedReadState(path, Math.floor(statSync(path).mtimeMs));
    await conversation.ask(script(edit, 'NEXT', 'SAY x'));
  });
  assert.equal(readFileSync(path, 'utf8'), 'beta\n');
});

test('readFile', async (t) => {
  const { options, file } = await place(t);
  const path = file('a.txt', 'alpha\n');
  await converse(options(), async ({ query }) => {
    assert.equal((await query.readFile(path)).contents, 'alpha\n');
    assert.equal(await query.readFile(`${path}.missing`), null);
  });
});

test('stopTask ends a background command', async (t) => {
  const { options } = await place(t);
  const prompt = script(
    call('Bash', { command: 'sleep 600', run_in_background: true }), 'NEXT', 'SAY started',
  );
  await converse(options({ allowedTools: ['Bash'] }), async (conversation) => {
    const [started] = systemOf(await conversation.ask(prompt), 'task_started');
    await conversation.query.stopTask(started.task_id);
    const rest = await conversation.until((message) => message.subtype === 'task_notification');
    assert.equal(rest.at(-1).task_id, started.task_id);
    assert.equal(rest.at(-1).status, 'stopped');
  });
});

test('a running command is sent to the background', async (t) => {
  const { options, project } = await place(t);
  const { execFileSync } = await import('node:child_process');
  const { createReadStream } = await import('node:fs');
  const fifo = join(project, 'fifo');
  execFileSync('mkfifo', [fifo]);
  const running = new Promise((resolve) => createReadStream(fifo).once('data', resolve));
  const prompt = script(
    call('Bash', { command: `echo on > ${fifo}; sleep 600` }), 'NEXT', 'SAY went on',
  );
  await converse(options({ allowedTools: ['Bash'] }), async (conversation) => {
    conversation.send(prompt);
    const reading = conversation.until((message) => message.type === 'result');
    await running;
    assert.equal(await conversation.query.backgroundTasks(), true);
    assert.equal(resultOf(await reading).result, 'went on');
  });
});

test('reloads', async (t) => {
  const { options, file } = await place(t);
  await converse(options(), async (conversation) => {
    await conversation.ask('SAY x');
    file('.claude/skills/boats/SKILL.md', '---\nname: boats\ndescription: d\n---\nRow.\n');
    const skills = await conversation.query.reloadSkills();
    assert(JSON.stringify(skills).includes('boats'));
    const plugins = await conversation.query.reloadPlugins();
    assert(Array.isArray(plugins.commands));
    file('.claude/output-styles/terse.md', '---\nname: Terse\n---\nBe brief.\n');
    const styles = await conversation.query.reloadOutputStyles();
    assert(styles.available_output_styles.includes('Terse'));
  });
});

test('updateSettings writes a settings file', async (t) => {
  const { options, project } = await place(t);
  await converse(options(), async (conversation) => {
    await conversation.ask('SAY x');
    await conversation.query.updateSettings('localSettings', { outputStyle: 'Explanatory' });
    await assert.rejects(
      conversation.query.updateSettings('localSettings', { env: { WHO: 'me' } }), /not allowed: env/,
    );
  });
  const written = readFileSync(join(project, '.claude/settings.local.json'), 'utf8');
  assert.deepEqual(JSON.parse(written), { outputStyle: 'Explanatory' });
});

test('cost of a session', async (t) => {
  const { options } = await place(t, { api: true });
  await converse(options(), async (conversation) => {
    await conversation.ask('SAY x');
    const usage =
      await conversation.query.usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET();
    assert(usage.session.total_cost_usd > 0);
  });
});

test('a warm program takes the prompt later', async (t) => {
  const { options } = await place(t);
  const warm = await startup({ options: options() });
  const messages = [];
  for await (const message of warm.query('SAY warm')) messages.push(message);
  assert.equal(resultOf(messages).result, 'warm');
});
