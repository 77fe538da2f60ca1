// A stdio MCP server made with the official MCP package.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const server = new McpServer({ name: 'shelf', version: '1.0.0' });
const text = (words) => ({ content: [{ type: 'text', text: words }] });

server.registerTool(
  'shout',
  { description: 'Says it louder', inputSchema: { text: z.string() } },
  async (input) => text(input.text.toUpperCase()),
);

server.registerTool('ask_colour', { description: 'Asks for a colour' }, async () => {
  const answer = await server.server.elicitInput({
    message: 'Which colour?',
    requestedSchema: {
      type: 'object',
      properties: { colour: { type: 'string' } },
      required: ['colour'],
    },
  });
  return text(answer.action === 'accept' ? answer.content.colour : answer.action);
});

server.registerResource('books', 'ui://shelf/books', {}, async (uri) => ({
  contents: [{ uri: uri.href, text: 'three books' }],
}));

await server.connect(new StdioServerTransport());
