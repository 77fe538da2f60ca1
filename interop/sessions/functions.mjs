// The session functions of the TypeScript SDK, one call per process: its name and arguments come as
// JSON, its result goes to stdout as JSON.
import {
  archiveSession, deleteSession, forkSession, getSessionInfo, getSessionMessages, getSubagentMessages,
  listSessions, listSubagents, renameSession, tagSession, unarchiveSession,
} from '@anthropic-ai/claude-agent-sdk';

const functions = {
  archiveSession, deleteSession, forkSession, getSessionInfo, getSessionMessages, getSubagentMessages,
  listSessions, listSubagents, renameSession, tagSession, unarchiveSession,
};
const [name, args] = process.argv.slice(2);
const result = await functions[name](...JSON.parse(args));
process.stdout.write(JSON.stringify(result ?? null));
