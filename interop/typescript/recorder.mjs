// A model API that records its requests, in front of `bowline script-server`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request as forward } from 'node:http';
import { createInterface } from 'node:readline';

export class Recorder {
  static async start(bowline) {
    const recorder = new Recorder();
    recorder.requests = [];
    recorder.model = spawn(bowline, ['script-server'], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = await once(createInterface(recorder.model.stdout), 'line');
    const target = new URL(line.slice(line.indexOf('=') + 1));
    recorder.server = createServer((incoming, outgoing) =>
      recorder.answer(target, incoming, outgoing),
    );
    recorder.server.listen(0, '127.0.0.1');
    await once(recorder.server, 'listening');
    const url = `http://127.0.0.1:${recorder.server.address().port}`;
    recorder.environment = { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'made-up' };
    return recorder;
  }

  async answer(target, incoming, outgoing) {
    const pieces = [];
    for await (const piece of incoming) pieces.push(piece);
    const text = Buffer.concat(pieces);
    if (incoming.method === 'POST' && incoming.url.startsWith('/v1/messages')) {
      const body = JSON.parse(text);
      this.requests.push({
        headers: incoming.headers,
        body,
        system: [body.system ?? []].flat().map((block) => block.text ?? block).join('\n'),
        tools: (body.tools ?? []).map((tool) => tool.name),
        conversation: JSON.stringify(body.messages),
      });
    }
    const { host, ...headers } = incoming.headers;
    const upstream = forward(
      { host: target.hostname, port: target.port, path: incoming.url, method: incoming.method, headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode, answer.headers);
        answer.pipe(outgoing);
        answer.on('error', () => outgoing.destroy());
      },
    );
    upstream.on('error', () => outgoing.destroy());
    outgoing.on('close', () => upstream.destroy());
    upstream.end(text);
  }

  async stop() {
    this.server.close();
    this.server.closeAllConnections();
    this.model.kill('SIGKILL');
    await once(this.model, 'exit');
  }
}
