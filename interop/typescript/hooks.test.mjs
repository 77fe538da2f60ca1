// Hooks that are callbacks of the host.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  call, callsOf, converse, place, resultOf, run, script, systemOf, textOf, textsOf, toolResultsOf,
} from './driving.mjs';

const ECHO = script(call('Bash', { command: 'echo yo' }), 'NEXT', 'SAY done');

/** Hooks for several events that record their inputs, and return these outputs. */
function listening(answers) {
  const heard = [];
  const hooks = Object.fromEntries(
    Object.entries(answers).map(([event, answer]) => [
      event,
      [{ hooks: [async (input) => (heard.push(input), structuredClone(answer))] }],
    ]),
  );
  return { hooks, heard, names: () => heard.map((input) => input.hook_event_name) };
}

const specific = (hookEventName, fields) => ({ hookSpecificOutput: { hookEventName, ...fields } });

test('the events of a turn with a tool, in order', async (t) => {
  const { options } = await place(t);
  const { hooks, heard, names } = listening({
    UserPromptSubmit: {}, PreToolUse: {}, PostToolUse: {}, PostToolBatch: {}, Stop: {},
  });
  const messages = await run(ECHO, options({ hooks, allowedTools: ['Bash'] }));
  assert.deepEqual(names(), [
    'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'PostToolBatch', 'Stop',
  ]);
  const [prompt, before, after, batch, stop] = heard;
  assert.equal(prompt.prompt, ECHO);
  assert.deepEqual(before.tool_input, { command: 'echo yo' });
  assert.equal(before.tool_use_id, callsOf(messages)[0].id);
  assert.equal(after.tool_response.stdout, 'yo');
  assert.equal(batch.tool_calls[0].tool_name, 'Bash');
  assert.equal(stop.last_assistant_message, 'done');
  for (const input of heard) assert.equal(input.session_id, resultOf(messages).session_id);
});

test('PreToolUse denies, allows and changes', async (t) => {
  const { options, project } = await place(t);
  const touch = script(call('Bash', { command: 'touch made' }), 'NEXT', 'SAY done');
  const deny = { permissionDecision: 'deny', permissionDecisionReason: 'too loud' };
  const denied = await run(
    touch, options({ hooks: listening({ PreToolUse: specific('PreToolUse', deny) }).hooks }),
  );
  assert.match(textOf(toolResultsOf(denied)[0]), /too loud/);
  assert(!existsSync(join(project, 'made')));
  const allow = { permissionDecision: 'allow', updatedInput: { command: 'touch other' } };
  await run(touch, options({ hooks: listening({ PreToolUse: specific('PreToolUse', allow) }).hooks }));
  assert(existsSync(join(project, 'other')));
  assert(!existsSync(join(project, 'made')));
});

test('PostToolUseFailure', async (t) => {
  const { options } = await place(t);
  const { hooks, heard } = listening({ PostToolUseFailure: {}, PostToolUse: {} });
  const prompt = script(call('Bash', { command: 'exit 7' }), 'NEXT', 'SAY done');
  await run(prompt, options({ hooks, allowedTools: ['Bash'] }));
  assert.equal(heard.length, 1);
  assert.equal(heard[0].hook_event_name, 'PostToolUseFailure');
  assert.match(heard[0].error, /7/);
});

test('UserPromptSubmit blocks and adds context', async (t) => {
  const { options, requests } = await place(t, { api: true });
  const block = { decision: 'block', reason: 'not on Sundays' };
  const blocked = await run('SAY x', options({ hooks: listening({ UserPromptSubmit: block }).hooks }));
  assert.deepEqual(textsOf(blocked), []);
  assert.equal(requests.length, 0);
  const context = specific('UserPromptSubmit', { additionalContext: 'it is raining' });
  await run('SAY x', options({ hooks: listening({ UserPromptSubmit: context }).hooks }));
  assert(requests.at(-1).conversation.includes('it is raining'));
});

test('Stop makes the model go on', async (t) => {
  const { options } = await place(t);
  const active = [];
  const again = async (input) => {
    active.push(input.stop_hook_active);
    return active.length === 1 ? { decision: 'block', reason: 'go on' } : {};
  };
  const messages = await run('SAY one', options({ hooks: { Stop: [{ hooks: [again] }] } }));
  assert.equal(textsOf(messages).length, 2);
  assert.deepEqual(active, [false, true]);
});

test('StopFailure instead of Stop when the model fails', async (t) => {
  const { options } = await place(t);
  const { hooks, heard, names } = listening({ Stop: {}, StopFailure: {} });
  await run(script('ERRORS 400 -1', 'ERRMSG no'), options({ hooks }));
  assert.deepEqual(names(), ['StopFailure']);
  assert(heard[0].error);
});

test('subagents start and stop', async (t) => {
  const { options } = await place(t);
  const { hooks, heard, names } = listening({ SubagentStart: {}, SubagentStop: {} });
  const agents = { helper: { description: 'helps', prompt: 'You help.' } };
  const input = {
    description: 'work', prompt: 'SAY below', subagent_type: 'helper', run_in_background: false,
  };
  await run(script(call('Agent', input), 'NEXT', 'SAY above'), options({ hooks, agents }));
  assert.deepEqual(names(), ['SubagentStart', 'SubagentStop']);
  assert.equal(heard[0].agent_id, heard[1].agent_id);
  assert.equal(heard[1].agent_type, 'helper');
  assert.equal(heard[1].last_assistant_message, 'below');
});

test('compaction', async (t) => {
  const { options } = await place(t);
  const { hooks, heard, names } = listening({ PreCompact: {}, PostCompact: {}, SessionStart: {} });
  await converse(options({ hooks }), async (conversation) => {
    await conversation.ask(script('SUMMARY of the past', 'SAY one'));
    const messages = await conversation.ask('/compact');
    assert.equal(systemOf(messages, 'compact_boundary').length, 1);
  });
  assert(names().includes('PreCompact') && names().includes('PostCompact'));
  const start = heard.find((input) => input.hook_event_name === 'SessionStart');
  assert.equal(start.source, 'compact');
  assert.equal(heard[0].trigger, 'manual');
});

test('model switches', async (t) => {
  const { options } = await place(t, { api: true });
  const { hooks, heard, names } = listening({ PreModelSwitch: {}, PostModelSwitch: {} });
  await converse(options({ hooks }), async (conversation) => {
    await conversation.ask('SAY x');
    await conversation.query.setModel('claude-haiku-5-5');
    await conversation.ask('SAY x');
  });
  assert.deepEqual(names(), ['PreModelSwitch', 'PostModelSwitch']);
  assert.equal(heard[0].from_model, 'claude-sonnet-5-5');
  assert.equal(heard[0].to_model, 'claude-haiku-5-5');
});

test('PermissionRequest decides', async (t) => {
  const { options, project } = await place(t);
  const decision = { behavior: 'allow' };
  const { hooks, heard } = listening({
    PermissionRequest: specific('PermissionRequest', { decision }),
  });
  const canUseTool = (name, input, { signal }) =>
    new Promise((resolve) =>
      signal.addEventListener('abort', () => resolve({ behavior: 'deny', message: 'late' })),
    );
  const touch = script(call('Bash', { command: 'touch made' }), 'NEXT', 'SAY done');
  await run(touch, options({ hooks, canUseTool }));
  assert.equal(heard[0].tool_name, 'Bash');
  assert(existsSync(join(project, 'made')));
});

test('MessageDisplay receives the text', async (t) => {
  const { options } = await place(t);
  const { hooks, heard } = listening({ MessageDisplay: {} });
  await run('SAY a line of text', options({ hooks }));
  assert.match(heard.map((input) => input.delta).join(''), /a line of text/);
});

test('matchers choose by tool', async (t) => {
  const { options } = await place(t);
  const heard = [];
  const hook = (name) => async () => (heard.push(name), {});
  const hooks = {
    PreToolUse: [
      { matcher: 'Bash', hooks: [hook('exact')] },
      { matcher: 'Write|Edit', hooks: [hook('others')] },
      { matcher: '^Ba', hooks: [hook('pattern')] },
      { matcher: 'Ba', hooks: [hook('part')] },
      { hooks: [hook('all')] },
    ],
  };
  await run(ECHO, options({ hooks, allowedTools: ['Bash'] }));
  assert.deepEqual(heard.sort(), ['all', 'exact', 'pattern']);
});

test('continue: false ends the turn', async (t) => {
  const { options } = await place(t);
  const { hooks } = listening({ PostToolUse: { continue: false, stopReason: 'enough' } });
  const messages = await run(ECHO, options({ hooks, allowedTools: ['Bash'] }));
  assert(!textsOf(messages).includes('done'));
  assert.equal(resultOf(messages).terminal_reason, 'hook_stopped');
});

test('a hook that runs out of time', async (t) => {
  const { options } = await place(t);
  let withdrawn;
  const silent = (input, id, { signal }) =>
    new Promise((resolve) =>
      signal.addEventListener('abort', () => {
        withdrawn = true;
        resolve({});
      }),
    );
  const messages = await run(
    ECHO,
    options({ hooks: { PreToolUse: [{ hooks: [silent], timeout: 1 }] }, allowedTools: ['Bash'] }),
  );
  assert.equal(resultOf(messages).result, 'done');
  assert.equal(withdrawn, true);
});

test('an async hook does not hold the turn', async (t) => {
  const { options } = await place(t);
  const { hooks } = listening({ PreToolUse: { async: true } });
  const messages = await run(ECHO, options({ hooks, allowedTools: ['Bash'] }));
  assert.equal(textOf(toolResultsOf(messages)[0]), 'yo');
});

test('settings hooks are shown on request', async (t) => {
  const { options } = await place(t);
  const settings = {
    hooks: {
      PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: 'echo from the hook' }] }],
    },
  };
  const messages = await run(
    ECHO, options({ settings, includeHookEvents: true, allowedTools: ['Bash'] }),
  );
  assert.equal(systemOf(messages, 'hook_started').length, 1);
  assert.match(systemOf(messages, 'hook_response')[0].stdout, /from the hook/);
});
