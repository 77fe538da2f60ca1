// `query()`: prompts, responses, output formats, and its end.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { AbortError, query } from '@anthropic-ai/claude-agent-sdk';
import {
  alive, bowline, call, callsOf, converse, gate, initOf, isDelta, place, promptMessage, resultOf, run,
  script, systemOf, textOf, textsOf, toolResultsOf,
} from './driving.mjs';

test('a string prompt is answered', async (t) => {
  const { options, project } = await place(t);
  const messages = await run('SAY hello there', options());
  const init = initOf(messages);
  assert.equal(init.cwd, project);
  assert.deepEqual(textsOf(messages), ['hello there']);
  const result = resultOf(messages);
  assert.equal(messages.at(-1), result);
  assert.equal(result.subtype, 'success');
  assert.equal(result.is_error, false);
  assert.equal(result.result, 'hello there');
  assert.equal(result.num_turns, 1);
  assert.equal(result.session_id, init.session_id);
  assert.equal(result.usage.output_tokens, 2);
  assert.deepEqual(result.permission_denials, []);
});

test('streamed prompts are turns of one session', async (t) => {
  const { options } = await place(t);
  await converse(options(), async (conversation) => {
    const first = resultOf(await conversation.ask('SAY first'));
    const second = resultOf(await conversation.ask('SAY second'));
    assert.deepEqual([first.result, second.result], ['first', 'second']);
    assert.equal(first.session_id, second.session_id);
    assert.deepEqual(await conversation.end(), []);
  });
});

test('streamInput feeds a running session', async (t) => {
  const { options } = await place(t);
  const held = gate();
  async function* quiet() {
    await held.opened;
  }
  const session = query({ prompt: quiet(), options: options() });
  async function* late() {
    yield promptMessage('SAY fed later');
  }
  await session.streamInput(late());
  held.open();
  const messages = [];
  for await (const message of session) messages.push(message);
  assert.equal(resultOf(messages).result, 'fed later');
});

test('tools are run and answered', async (t) => {
  const { options } = await place(t);
  const prompt = script(call('Bash', { command: 'echo yo' }), 'NEXT', 'ECHORESULT');
  const messages = await run(prompt, options({ allowedTools: ['Bash'] }));
  const [use] = callsOf(messages);
  const [answer] = toolResultsOf(messages);
  assert.equal(answer.tool_use_id, use.id);
  assert.equal(textOf(answer), 'yo');
  assert.equal(resultOf(messages).result, 'result was: yo');
  const carrier = messages.find((message) => message.type === 'user');
  assert.equal(carrier.tool_use_result.stdout, 'yo');
});

test('an image in a prompt reaches the model', async (t) => {
  const { options, requests } = await place(t, { api: true });
  const data =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
  await converse(options(), (conversation) =>
    conversation.ask([
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
      { type: 'text', text: 'SAY seen' },
    ]),
  );
  assert(requests.at(-1).conversation.includes(data));
});

test('partial messages', async (t) => {
  const { options } = await place(t);
  const messages = await run(
    script('THINK well', 'SAY one two three', call('Bash', { command: 'echo hi' })),
    options({ includePartialMessages: true, allowedTools: ['Bash'] }),
  );
  const events = messages
    .filter((message) => message.type === 'stream_event')
    .map((message) => message.event);
  const count = (type) => events.filter((event) => event.type === type).length;
  assert.equal(events[0].type, 'message_start');
  assert.equal(count('message_start'), 2);
  assert.equal(count('message_stop'), 2);
  assert.equal(count('content_block_start'), 4);
  assert.equal(count('content_block_stop'), 4);
  const text = events.map((event) => event.delta?.text ?? '').join('');
  assert.equal(text, textsOf(messages).join(''));
});

test('structured output', async (t) => {
  const { options } = await place(t);
  const schema = {
    type: 'object',
    properties: { name: { type: 'string' }, n: { type: 'number' } },
    required: ['name', 'n'],
  };
  const prompt = script(
    call('StructuredOutput', { name: 'ada' }),
    'NEXT',
    call('StructuredOutput', { name: 'ada', n: 1 }),
    'NEXT',
    'SAY finished',
  );
  const messages = await run(prompt, options({ outputFormat: { type: 'json_schema', schema } }));
  assert.deepEqual(resultOf(messages).structured_output, { name: 'ada', n: 1 });
  assert.deepEqual(toolResultsOf(messages).map((answer) => answer.is_error === true), [true, false]);
});

test('a failing model is an error result and an error', async (t) => {
  const { options } = await place(t);
  const messages = [];
  const prompt = script('ERRORS 400 -1', 'ERRMSG that is no prompt');
  await assert.rejects(async () => {
    for await (const message of query({ prompt, options: options() })) messages.push(message);
  }, /that is no prompt/);
  assert.equal(resultOf(messages).is_error, true);
  assert.equal(resultOf(messages).api_error_status, 400);
});

test('turns are limited', async (t) => {
  const { options } = await place(t);
  const echo = (n) => call('Bash', { command: `echo ${n}` });
  const messages = await run(
    script(echo(1), 'NEXT', echo(2), 'NEXT', echo(3), 'NEXT', 'SAY not reached'),
    options({ maxTurns: 2, allowedTools: ['Bash'] }),
  );
  assert.equal(resultOf(messages).subtype, 'error_max_turns');
  assert.equal(toolResultsOf(messages).length, 2);
});

test('the budget is limited', async (t) => {
  const { options } = await place(t, { api: true });
  const usage = 'USAGE {"input_tokens": 1000000, "output_tokens": 100000}';
  const messages = await run(
    script(usage, call('Bash', { command: 'echo 1' }), 'NEXT', usage, 'SAY not reached'),
    options({ maxBudgetUsd: 0.5, allowedTools: ['Bash'] }),
  );
  assert.equal(resultOf(messages).subtype, 'error_max_budget_usd');
  assert(resultOf(messages).total_cost_usd > 0.5);
});

test('the abort controller ends the program', async (t) => {
  const { options } = await place(t);
  const abortController = new AbortController();
  const spawned = options({ abortController, includePartialMessages: true });
  const session = query({ prompt: script('SAY words without end', 'HANG'), options: spawned });
  const { pid } = await session.initializationResult();
  assert(alive(pid));
  await assert.rejects(async () => {
    for await (const message of session) if (isDelta(message)) abortController.abort();
  }, AbortError);
  await ended(pid);
});

/** Waits for the end of a process that was asked to exit. */
async function ended(pid) {
  const deadline = Date.now() + 10_000;
  while (alive(pid)) {
    assert(Date.now() < deadline, `process ${pid} did not end`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test('close ends the program', async (t) => {
  const { options } = await place(t);
  const session = query({ prompt: script('SAY words', 'HANG'), options: options() });
  const { pid } = await session.initializationResult();
  session.close();
  await ended(pid);
});

test('interrupt stops the model, not the session', async (t) => {
  const { options } = await place(t);
  await converse(options({ includePartialMessages: true }), async (conversation) => {
    conversation.send(script('SAY words that never end', 'HANG'));
    await conversation.until(isDelta);
    const receipt = await conversation.query.interrupt();
    assert.deepEqual(receipt.still_queued, []);
    const stopped = await conversation.until((message) => message.type === 'result');
    assert.equal(resultOf(stopped).terminal_reason, 'aborted_streaming');
    assert.equal(resultOf(await conversation.ask('SAY alive')).result, 'alive');
  });
});

test('a killed program is an error', async (t) => {
  const { options } = await place(t);
  const session = query({
    prompt: script('SAY words', 'HANG'),
    options: options({ includePartialMessages: true }),
  });
  const { pid } = await session.initializationResult();
  await assert.rejects(async () => {
    for await (const message of session) if (isDelta(message)) process.kill(pid, 'SIGKILL');
  }, /SIGKILL/);
});

test('eight sessions side by side', async (t) => {
  const { options } = await place(t);
  const answers = await Promise.all(
    Array.from({ length: 8 }, async (_, n) => {
      const wait =
        `mkdir -p meeting; touch meeting/${n};` +
        ` until [ $(ls meeting | wc -l) = 8 ]; do :; done; echo ${n}`;
      const prompt = script(call('Bash', { command: wait }), 'NEXT', 'ECHORESULT');
      return resultOf(await run(prompt, options({ allowedTools: ['Bash'] }))).result;
    }),
  );
  assert.deepEqual(answers, Array.from({ length: 8 }, (_, n) => `result was: ${n}`));
});

test('stderr is handed on', async (t) => {
  const { options } = await place(t);
  let said = '';
  await assert.rejects(
    run('SAY x', options({ extraArgs: { 'no-such-flag': null }, stderr: (text) => (said += text) })),
    /exited with code 1/,
  );
  assert.match(said, /--no-such-flag/);
});

test('debug goes to a file', async (t) => {
  const { options, project } = await place(t);
  const debugFile = join(project, 'debug.log');
  await run('SAY x', options({ debugFile }));
  assert(existsSync(debugFile));
  assert(readFileSync(debugFile, 'utf8').length > 0);
});

test('a spawner of the host is used', async (t) => {
  const { spawn } = await import('node:child_process');
  const { options } = await place(t);
  const started = [];
  const messages = await run(
    'SAY by my own hands',
    options({
      spawnClaudeCodeProcess: ({ command, args, cwd, env }) => {
        started.push(command);
        return spawn(command, args, { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] });
      },
    }),
  );
  assert.equal(resultOf(messages).result, 'by my own hands');
  assert.equal(started.length, 1);
  if (!process.env.INTEROP_PEER) assert.deepEqual(started, [bowline]);
});

test('retries are reported', async (t) => {
  const { options } = await place(t);
  const messages = await run(script('ERRORS 529 1', 'SAY at last'), options());
  assert.equal(resultOf(messages).result, 'at last');
  assert.equal(systemOf(messages, 'api_retry')[0].error_status, 529);
});
