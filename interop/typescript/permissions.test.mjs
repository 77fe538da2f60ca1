// `canUseTool`, permission modes, and rules.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  call, callsOf, converse, initOf, place, resultOf, run, script, textOf, toolResultsOf,
} from './driving.mjs';

const TOUCH = script(
  call('Bash', { command: 'touch made.txt', description: 'make a file' }), 'NEXT', 'SAY done',
);

test('allow', async (t) => {
  const { options, project } = await place(t);
  const questions = [];
  const canUseTool = async (name, input, context) => {
    questions.push({ name, input, context });
    return { behavior: 'allow', updatedInput: input };
  };
  const messages = await run(TOUCH, options({ canUseTool }));
  assert.equal(questions.length, 1);
  const [{ name, input, context }] = questions;
  assert.equal(name, 'Bash');
  assert.equal(input.command, 'touch made.txt');
  assert.equal(context.toolUseID, callsOf(messages)[0].id);
  assert(context.signal instanceof AbortSignal);
  assert(context.suggestions.some((suggestion) => suggestion.type === 'addRules'));
  assert.equal(context.description, 'make a file');
  assert(existsSync(join(project, 'made.txt')));
});

test('allow without repeating the input', async (t) => {
  const { options, project } = await place(t);
  await run(TOUCH, options({ canUseTool: async () => ({ behavior: 'allow' }) }));
  assert(existsSync(join(project, 'made.txt')));
});

test('allow with another input', async (t) => {
  const { options, project } = await place(t);
  const updatedInput = { command: 'touch other.txt' };
  await run(TOUCH, options({ canUseTool: async () => ({ behavior: 'allow', updatedInput }) }));
  assert(existsSync(join(project, 'other.txt')));
  assert(!existsSync(join(project, 'made.txt')));
});

test('deny', async (t) => {
  const { options, project } = await place(t);
  const canUseTool = async () => ({ behavior: 'deny', message: 'not today' });
  const messages = await run(TOUCH, options({ canUseTool }));
  assert(!existsSync(join(project, 'made.txt')));
  assert.equal(textOf(toolResultsOf(messages)[0]), 'not today');
  assert.equal(resultOf(messages).permission_denials[0].tool_name, 'Bash');
  assert.equal(resultOf(messages).result, 'done');
});

test('deny with interrupt ends the turn, not the session', async (t) => {
  const { options } = await place(t);
  const canUseTool = async () => ({ behavior: 'deny', message: 'stop', interrupt: true });
  await converse(options({ canUseTool }), async (conversation) => {
    const stopped = resultOf(await conversation.ask(TOUCH));
    assert.equal(stopped.subtype, 'error_during_execution');
    assert.equal(stopped.terminal_reason, 'aborted_tools');
    assert.equal(resultOf(await conversation.ask('SAY alive')).result, 'alive');
  });
});

test('an error in the callback denies', async (t) => {
  const { options, project } = await place(t);
  const canUseTool = async () => {
    throw new Error('host failed');
  };
  const messages = await run(TOUCH, options({ canUseTool }));
  assert.match(textOf(toolResultsOf(messages)[0]), /host failed/);
  assert(!existsSync(join(project, 'made.txt')));
});

test('an interrupt cancels the permission request', async (t) => {
  const { options } = await place(t);
  let asked;
  const question = new Promise((resolve) => (asked = resolve));
  const canUseTool = (name, input, { signal }) => {
    asked(signal);
    return new Promise((resolve) =>
      signal.addEventListener('abort', () => resolve({ behavior: 'deny', message: 'late' })),
    );
  };
  await converse(options({ canUseTool }), async (conversation) => {
    conversation.send(TOUCH);
    const reading = conversation.until((message) => message.type === 'result');
    const signal = await question;
    await conversation.query.interrupt();
    const result = resultOf(await reading);
    assert(signal.aborted);
    assert.equal(result.is_error, true);
    assert.equal(resultOf(await conversation.ask('SAY alive')).result, 'alive');
  });
});

test('an accepted suggestion stops the questions', async (t) => {
  const { options } = await place(t);
  let questions = 0;
  const canUseTool = async (name, input, { suggestions }) => {
    questions += 1;
    const updatedPermissions = suggestions
      .filter((suggestion) => suggestion.type === 'addRules')
      .map((suggestion) => ({ ...suggestion, destination: 'session' }));
    return { behavior: 'allow', updatedInput: input, updatedPermissions };
  };
  await converse(options({ canUseTool }), async (conversation) => {
    await conversation.ask(TOUCH);
    await conversation.ask(TOUCH);
  });
  assert.equal(questions, 1);
});

test('setPermissionMode', async (t) => {
  const { options, project } = await place(t);
  const write = script(
    call('Write', { file_path: join(project, 'w.txt'), content: 'w\n' }), 'NEXT', 'SAY done',
  );
  await converse(options(), async (conversation) => {
    await conversation.ask(write);
    assert(!existsSync(join(project, 'w.txt')));
    await conversation.query.setPermissionMode('acceptEdits');
    const messages = await conversation.ask(write);
    assert.equal(initOf(messages).permissionMode, 'acceptEdits');
    assert(existsSync(join(project, 'w.txt')));
  });
});

for (const [mode, runs] of [
  ['default', false], ['acceptEdits', true], ['plan', false], ['dontAsk', false],
  ['bypassPermissions', true],
]) {
  test(`mode ${mode}`, async (t) => {
    const { options, project } = await place(t);
    const messages = await run(
      TOUCH,
      options({
        permissionMode: mode,
        allowDangerouslySkipPermissions: mode === 'bypassPermissions',
        env: { IS_SANDBOX: '1' },
      }),
    );
    assert.equal(initOf(messages).permissionMode, mode);
    assert.equal(existsSync(join(project, 'made.txt')), runs);
  });
}

test('rules', async (t) => {
  const { options, project } = await place(t);
  const prompt = script(
    call('Bash', { command: 'touch a' }), 'NEXT', call('Bash', { command: 'mkdir b' }), 'NEXT', 'SAY x',
  );
  await run(prompt, options({ allowedTools: ['Bash(touch:*)'] }));
  assert(existsSync(join(project, 'a')));
  assert(!existsSync(join(project, 'b')));
  const without = await run(prompt, options({ disallowedTools: ['Bash'] }));
  assert(!initOf(without).tools.includes('Bash'));
});
