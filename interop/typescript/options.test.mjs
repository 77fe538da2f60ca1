// Options that reach the program, by what they change.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  call, callsOf, initOf, place, resultOf, run, script, systemOf, textOf, textsOf, toolResultsOf,
} from './driving.mjs';

const shell = (command) => script(call('Bash', { command }), 'NEXT', 'SAY done');

for (const [name, systemPrompt, words] of [
  ['text', 'You are a lighthouse.', ['You are a lighthouse.']],
  ['pieces', ['You are a door.', 'Be quiet.'], ['You are a door.', 'Be quiet.']],
  ['custom', { type: 'custom', prompt: 'You are a boat.' }, ['You are a boat.']],
  [
    'preset',
    { type: 'preset', preset: 'claude_code', append: 'Speak like a sailor.' },
    ['Speak like a sailor.'],
  ],
]) {
  test(`systemPrompt as ${name}`, async (t) => {
    const { options, requests } = await place(t, { api: true });
    await run('SAY x', options({ systemPrompt }));
    const { system } = requests.at(-1);
    for (const part of words) assert(system.includes(part), part);
    assert.equal(system.length > 1000, name === 'preset');
  });
}

test('model, betas, effort, thinking, task budget', async (t) => {
  const { options, requests } = await place(t, { api: true });
  await run(
    'SAY x',
    options({
      model: 'claude-opus-5-5',
      betas: ['context-1m-2025-08-07'],
      effort: 'low',
      thinking: { type: 'adaptive' },
      taskBudget: { total: 40000 },
    }),
  );
  const { body, headers } = requests.at(-1);
  assert.equal(body.model, 'claude-opus-5-5');
  assert.match(headers['anthropic-beta'], /context-1m-2025-08-07/);
  assert.equal(body.output_config.effort, 'low');
  assert.equal(body.thinking.type, 'adaptive');
  assert.equal(body.output_config.task_budget.total, 40000);
  assert.match(headers['user-agent'], /sdk-ts/);
});

test('fallbackModel', async (t) => {
  const { options, requests } = await place(t, { api: true });
  const messages = await run(
    script('ERRORS 529 3', 'SAY from the other'),
    options({ fallbackModel: 'claude-haiku-5-5', env: { CLAUDE_CODE_MAX_RETRIES: '4' } }),
  );
  assert.equal(resultOf(messages).result, 'from the other');
  assert.equal(requests.at(-1).body.model, 'claude-haiku-5-5');
  assert.equal(systemOf(messages, 'model_fallback').length, 1);
});

test('tools', async (t) => {
  const { options } = await place(t);
  const some = await run('SAY x', options({ tools: ['Bash', 'Read'] }));
  assert.deepEqual(initOf(some).tools.sort(), ['Bash', 'Read']);
  const none = await run('SAY x', options({ tools: [] }));
  assert.deepEqual(initOf(none).tools, []);
});

test('toolAliases', async (t) => {
  const { options } = await place(t);
  const messages = await run(
    script(call('shell', { command: 'echo aliased' }), 'NEXT', 'SAY done'),
    options({ toolAliases: { shell: 'Bash' }, allowedTools: ['Bash'] }),
  );
  assert.equal(textOf(toolResultsOf(messages)[0]), 'aliased');
});

test('cwd, env and additionalDirectories', async (t) => {
  const { options, project } = await place(t);
  mkdirSync(join(project, 'in'));
  mkdirSync(join(project, 'beside'));
  const messages = await run(
    script(
      call('Bash', { command: 'echo $PWD $COLOR' }), 'NEXT',
      call('Write', { file_path: join(project, 'beside', 'w.txt'), content: 'w' }), 'NEXT', 'SAY x',
    ),
    options({
      cwd: join(project, 'in'),
      env: { COLOR: 'green' },
      additionalDirectories: [join(project, 'beside')],
      permissionMode: 'acceptEdits',
      allowedTools: ['Bash'],
    }),
  );
  assert.equal(textOf(toolResultsOf(messages)[0]), `${join(project, 'in')} green`);
  assert(existsSync(join(project, 'beside', 'w.txt')));
});

test('settings as an object, and settingSources', async (t) => {
  const { options, file } = await place(t);
  file('.claude/settings.json', '{"env": {"FROM_PROJECT": "1"}}');
  const show = shell('echo ${FROM_PROJECT:-0} ${FROM_FLAG:-0}');
  const settings = { env: { FROM_FLAG: '1' } };
  const answer = async (fields) =>
    textOf(toolResultsOf(await run(show, options({ allowedTools: ['Bash'], ...fields })))[0]);
  assert.equal(await answer({ settings }), '1 1');
  assert.equal(await answer({ settings, settingSources: [] }), '0 1');
  assert.equal(await answer({ settingSources: ['project'] }), '1 0');
});

test('managedSettings deny what nothing else can allow', async (t) => {
  const { options, project } = await place(t);
  await run(
    shell('touch made'),
    options({
      managedSettings: { permissions: { deny: ['Bash(touch:*)'] } },
      allowedTools: ['Bash'],
    }),
  );
  assert(!existsSync(join(project, 'made')));
});

test('agents and agent', async (t) => {
  const { options, requests } = await place(t, { api: true });
  const agents = {
    captain: { description: 'leads', prompt: 'You are the captain.', tools: ['Read'] },
  };
  const messages = await run('SAY aye', options({ agents, agent: 'captain' }));
  assert(initOf(messages).agents.includes('captain'));
  assert(requests.at(-1).system.includes('You are the captain.'));
  assert(!requests.at(-1).tools.includes('Bash'));
});

test('subagents, and their words on request', async (t) => {
  const { options } = await place(t);
  const agents = { helper: { description: 'helps', prompt: 'You help.' } };
  const input = {
    description: 'work',
    prompt: script('SAY below', call('Bash', { command: 'echo in sub' }), 'NEXT', 'SAY sub end'),
    subagent_type: 'helper',
    run_in_background: false,
  };
  const prompt = script(call('Agent', input), 'NEXT', 'SAY above');
  const fields = { agents, allowedTools: ['Bash'] };
  const quiet = await run(prompt, options(fields));
  assert.deepEqual(textsOf(quiet), ['above']);
  const main = callsOf(quiet)[0];
  const inner = quiet.filter((message) => message.parent_tool_use_id === main.id);
  assert.equal(textOf(toolResultsOf(inner)[0]), 'in sub');
  const loud = await run(prompt, options({ ...fields, forwardSubagentText: true }));
  assert(textsOf(loud).includes('below'));
});

test('skills', async (t) => {
  const { options, requests, file } = await place(t, { api: true });
  for (const name of ['boats', 'trains'])
    file(`.claude/skills/${name}/SKILL.md`, `---\nname: ${name}\ndescription: About ${name}\n---\nx\n`);
  await run('SAY x', options({ skills: ['boats'] }));
  const everything = JSON.stringify(requests.at(-1).body);
  assert(everything.includes('About boats'));
  assert(!everything.includes('About trains'));
});

for (const pluginDelivery of ['argv', 'initialize']) {
  test(`plugins by ${pluginDelivery}`, async (t) => {
    const { options, project } = await place(t);
    const path = join(project, '..', 'harbor');
    mkdirSync(join(path, '.claude-plugin'), { recursive: true });
    mkdirSync(join(path, 'commands'));
    writeFileSync(join(path, '.claude-plugin', 'plugin.json'), '{"name": "harbor", "version": "1.0.0"}');
    writeFileSync(join(path, 'commands', 'dock.md'), '---\ndescription: Docks\n---\nSAY docked\n');
    const messages = await run(
      '/harbor:dock', options({ plugins: [{ type: 'local', path }], pluginDelivery }),
    );
    assert(initOf(messages).plugins.some((plugin) => plugin.name === 'harbor'));
    assert.equal(resultOf(messages).result, 'docked');
  });
}

test('strictMcpConfig', async (t) => {
  const { options, file } = await place(t);
  file('.mcp.json', '{"mcpServers": {"broken": {"command": "/no/such/program"}}}');
  const settings = { enableAllProjectMcpServers: true };
  const names = (messages) => initOf(messages).mcp_servers.map((server) => server.name);
  assert.deepEqual(names(await run('SAY x', options({ settings }))), ['broken']);
  assert.deepEqual(names(await run('SAY x', options({ settings, strictMcpConfig: true }))), []);
});

test('verbatimPrompts', async (t) => {
  const { options } = await place(t);
  const messages = await run('/compact is a word', options({ verbatimPrompts: true }));
  assert.deepEqual(textsOf(messages), ['/compact is a word']);
});

test('planModeInstructions', async (t) => {
  const { options, requests } = await place(t, { api: true });
  await run(
    'SAY x', options({ permissionMode: 'plan', planModeInstructions: 'Draw a map before you go.' }),
  );
  assert(JSON.stringify(requests.at(-1).body).includes('Draw a map before you go.'));
});

test('permissionPrompts none', async (t) => {
  const { options, project } = await place(t);
  await run(shell('touch made'), options({ permissionPrompts: 'none' }));
  assert(!existsSync(join(project, 'made')));
});
