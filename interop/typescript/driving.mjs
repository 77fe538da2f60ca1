// Prompts that are scripts, folders for each test, and the parts of a run that tests look at.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { query } from '@anthropic-ai/claude-agent-sdk';
import { Recorder } from './recorder.mjs';

export const bowline = process.env.BOWLINE;
assert(bowline, 'BOWLINE must name the program; interop/run sets it');
const peer = process.env.INTEROP_PEER;

const KEPT = ['PATH', 'LANG', 'TMPDIR', 'DISABLE_TELEMETRY', 'DISABLE_AUTOUPDATER', 'IS_SANDBOX'];

/** A prompt that tells the model what to do. */
export const script = (...lines) => lines.join('\n');

/** The line with which the model calls a tool. */
export const call = (tool, input = {}) => `TOOL ${tool} ${JSON.stringify(input)}`;

/** A prompt as the SDK takes it from an async iterable. */
export const promptMessage = (content, fields = {}) => ({
  type: 'user',
  message: { role: 'user', content },
  parent_tool_use_id: null,
  ...fields,
});

/** An empty project with a home of its own, and options that use them. */
export async function place(t, { api = false } = {}) {
  const root = mkdtempSync(join(tmpdir(), 'interop-'));
  const project = join(root, 'project');
  const config = join(root, 'config');
  for (const folder of [project, config, join(root, 'home')]) mkdirSync(folder);
  const env = Object.fromEntries(
    KEPT.filter((name) => process.env[name]).map((name) => [name, process.env[name]]),
  );
  Object.assign(env, { HOME: join(root, 'home'), CLAUDE_CONFIG_DIR: config });
  const recorder = api || peer ? await Recorder.start(bowline) : undefined;
  if (recorder) {
    t.after(() => recorder.stop());
    Object.assign(env, recorder.environment);
  }
  const base = {
    pathToClaudeCodeExecutable: peer ?? bowline,
    cwd: project,
    model: recorder ? 'claude-sonnet-5-5' : 'script',
    env,
  };
  return {
    project,
    config,
    requests: recorder?.requests,
    file(name, text = '') {
      const path = join(project, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
      return path;
    },
    options: (fields = {}) => ({ ...base, ...fields, env: { ...env, ...fields.env } }),
  };
}

/** Every message of one query; the error that follows an error result is dropped. */
export async function run(prompt, options) {
  const messages = [];
  try {
    for await (const message of query({ prompt, options })) messages.push(message);
  } catch (error) {
    if (!messages.some((message) => message.type === 'result' && message.is_error)) throw error;
  }
  return messages;
}

/** A session that is asked one prompt after another. */
export class Conversation {
  constructor(options) {
    this.waiting = [];
    this.wake = () => {};
    this.query = query({ prompt: this.prompts(), options });
  }

  async *prompts() {
    for (;;) {
      while (this.waiting.length === 0) await new Promise((resolve) => (this.wake = resolve));
      const prompt = this.waiting.shift();
      if (prompt === undefined) return;
      yield prompt;
    }
  }

  send(text, fields) {
    this.waiting.push(promptMessage(text, fields));
    this.wake();
  }

  /** Messages up to the one that satisfies the condition. */
  async until(condition) {
    const messages = [];
    for (;;) {
      const { value, done } = await this.query.next();
      assert(!done, 'the session ended early');
      messages.push(value);
      if (condition(value)) return messages;
    }
  }

  async ask(text, fields) {
    this.send(text, fields);
    return this.until((message) => message.type === 'result');
  }

  async end() {
    this.waiting.push(undefined);
    this.wake();
    const rest = [];
    for await (const message of this.query) rest.push(message);
    return rest;
  }
}

/** Holds a conversation and ends it, whatever happens. */
export async function converse(options, talk) {
  const conversation = new Conversation(options);
  try {
    return await talk(conversation);
  } finally {
    conversation.query.close();
  }
}

export const resultOf = (messages) => {
  const result = messages.findLast((message) => message.type === 'result');
  assert(result, 'the run had no result');
  return result;
};

export const systemOf = (messages, subtype) =>
  messages.filter((message) => message.type === 'system' && message.subtype === subtype);

export const initOf = (messages) => systemOf(messages, 'init')[0];

const blocksOf = (messages, type, kind) =>
  messages
    .filter((message) => message.type === type && Array.isArray(message.message.content))
    .flatMap((message) => message.message.content)
    .filter((block) => block.type === kind);

export const textsOf = (messages) =>
  blocksOf(messages, 'assistant', 'text').map((block) => block.text);
export const callsOf = (messages) => blocksOf(messages, 'assistant', 'tool_use');
export const toolResultsOf = (messages) => blocksOf(messages, 'user', 'tool_result');

export const textOf = (result) =>
  typeof result.content === 'string'
    ? result.content
    : result.content.map((block) => block.text ?? '').join('');

/** Whether it is the first sign of the model speaking. */
export const isDelta = (message) =>
  message.type === 'stream_event' && message.event.type === 'content_block_delta';

/** A promise and its key. */
export function gate() {
  let open;
  const opened = new Promise((resolve) => (open = resolve));
  return { opened, open };
}

/** Whether a process runs. */
export function alive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    assert.equal(error.code, 'ESRCH');
    return false;
  }
}
