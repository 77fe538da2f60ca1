// Transcripts: the SDK's session functions on bowline's transcripts.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import {
  deleteSession, forkSession, getSessionInfo, getSessionMessages, getSubagentMessages,
  InMemorySessionStore, listSessions, listSubagents, renameSession, tagSession,
} from '@anthropic-ai/claude-agent-sdk';
import { call, converse, place, resultOf, run, script } from './driving.mjs';

const TALK = script('SAY remembered words');

/** A place whose sessions the SDK's functions find. */
async function library(t, fields) {
  const here = await place(t, fields);
  process.env.CLAUDE_CONFIG_DIR = here.config;
  return { ...here, dir: here.project };
}

test('list, info and messages', async (t) => {
  const { options, dir } = await library(t);
  const prompt = script(call('Bash', { command: 'echo yo' }), 'NEXT', 'SAY done');
  const first = resultOf(await run(prompt, options({ allowedTools: ['Bash'] }))).session_id;
  const second = resultOf(await run('SAY two', options())).session_id;
  const found = await listSessions({ dir });
  assert.deepEqual(found.map((info) => info.sessionId), [second, first]);
  assert.equal(found[0].firstPrompt, 'SAY two');
  assert.equal((await getSessionInfo(first, { dir })).cwd, dir);
  const messages = await getSessionMessages(first, { dir });
  assert.deepEqual(messages.map((message) => message.type), ['user', 'assistant', 'user', 'assistant']);
  assert.equal(messages[3].message.content[0].text, 'done');
});

test('resume, continue and fork', async (t) => {
  const { options, requests, dir } = await library(t, { api: true });
  const first = resultOf(await run(TALK, options())).session_id;
  assert.equal(resultOf(await run('SAY x', options({ resume: first }))).session_id, first);
  assert(requests.at(-1).conversation.includes('remembered words'));
  assert.equal(resultOf(await run('SAY x', options({ continue: true }))).session_id, first);
  const before = await getSessionMessages(first, { dir });
  const forked = resultOf(await run('SAY x', options({ resume: first, forkSession: true })));
  assert.notEqual(forked.session_id, first);
  assert(requests.at(-1).conversation.includes('remembered words'));
  assert.equal((await getSessionMessages(first, { dir })).length, before.length);
});

test('resume at an earlier message', async (t) => {
  const { options, requests, dir } = await library(t, { api: true });
  const session = await converse(options(), async (conversation) => {
    await conversation.ask('SAY the beginning');
    const result = resultOf(await conversation.ask('SAY the regret'));
    await conversation.end();
    return result.session_id;
  });
  const [, answer] = await getSessionMessages(session, { dir });
  await run('SAY instead', options({ resume: session, resumeSessionAt: answer.uuid }));
  assert(requests.at(-1).conversation.includes('the beginning'));
  assert(!requests.at(-1).conversation.includes('the regret'));
});

test('a chosen id, a title, and no transcript at all', async (t) => {
  const { options, dir } = await library(t);
  const sessionId = randomUUID();
  const named = await run('SAY x', options({ sessionId, title: 'A good day' }));
  assert.equal(resultOf(named).session_id, sessionId);
  assert.equal((await getSessionInfo(sessionId, { dir })).customTitle, 'A good day');
  const hidden = resultOf(await run('SAY x', options({ persistSession: false }))).session_id;
  assert.equal(await getSessionInfo(hidden, { dir }), undefined);
});

test('names and tags survive a resume; deleted is gone', async (t) => {
  const { options, dir } = await library(t);
  const session = resultOf(await run(TALK, options())).session_id;
  await renameSession(session, 'My favorite', { dir });
  await tagSession(session, 'kept', { dir });
  await run('SAY more', options({ resume: session }));
  const info = await getSessionInfo(session, { dir });
  assert.equal(info.customTitle, 'My favorite');
  assert.equal(info.tag, 'kept');
  await deleteSession(session, { dir });
  assert.deepEqual(await listSessions({ dir }), []);
  const gone = resultOf(await run('SAY x', options({ resume: session })));
  assert.equal(gone.is_error, true);
  assert.match(gone.errors[0], /No conversation found/);
});

test('a fork made by the SDK can be resumed', async (t) => {
  const { options, requests, dir } = await library(t, { api: true });
  const first = resultOf(await run(TALK, options())).session_id;
  const { sessionId } = await forkSession(first, { dir, title: 'a branch' });
  assert.equal(resultOf(await run('SAY x', options({ resume: sessionId }))).session_id, sessionId);
  assert(requests.at(-1).conversation.includes('remembered words'));
});

test('subagents have transcripts', async (t) => {
  const { options, dir } = await library(t);
  const agents = { helper: { description: 'helps', prompt: 'You help.' } };
  const input = {
    description: 'work', prompt: 'SAY from below', subagent_type: 'helper', run_in_background: false,
  };
  const prompt = script(call('Agent', input), 'NEXT', 'SAY done');
  const session = resultOf(await run(prompt, options({ agents }))).session_id;
  const [agent, ...others] = await listSubagents(session, { dir });
  assert.deepEqual(others, []);
  const messages = await getSubagentMessages(session, agent, { dir });
  assert.equal(messages.at(-1).message.content[0].text, 'from below');
});

test('a store mirrors and resumes', async (t) => {
  const { options, requests, dir } = await library(t, { api: true });
  const sessionStore = new InMemorySessionStore();
  const first = resultOf(await run(TALK, options({ sessionStore }))).session_id;
  await deleteSession(first, { dir });
  const again = await run('SAY x', options({ sessionStore, resume: first }));
  assert.equal(resultOf(again).session_id, first);
  assert(requests.at(-1).conversation.includes('remembered words'));
});
