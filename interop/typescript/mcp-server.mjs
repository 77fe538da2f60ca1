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

server.registerTool('ask_color', { description: 'Asks for a color' }, async () => {
  const answer = await server.server.elicitInput({
    message: 'Which color?',
    requestedSchema: {
      type: 'object',
      properties: { color: { type: 'string' } },
      required: ['color'],
    },
  });
  return text(answer.action === 'accept' ? answer.content.color : answer.action);
});

server.registerResource('books', 'ui://shelf/books', {}, async (uri) => ({
  contents: [{ uri: uri.href, text: 'three books' }],
}));

await server.connect(new StdioServerTransport());
