// The session functions of the TypeScript SDK, one call per process: its name and arguments come as
// JSON, its result goes to stdout as JSON.
import {
  deleteSession, forkSession, getSessionInfo, getSessionMessages, listSessions, listSubagents,
  renameSession, tagSession,
} from '@anthropic-ai/claude-agent-sdk';

const functions = {
  deleteSession, forkSession, getSessionInfo, getSessionMessages, listSessions, listSubagents,
  renameSession, tagSession,
};
const [name, args] = process.argv.slice(2);
const result = await functions[name](...JSON.parse(args));
process.stdout.write(JSON.stringify(result ?? null));
