// A page that buys, and the proxy that holds the key: `node dist/samples/browser/serve-page.js` with MILLRACE_BASE_URL and
// MILLRACE_API_KEY, or without them against the emulator. Put your own login and limits before such a proxy: whoever reaches
// it buys with your key.
import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const frame = `<!doctype html><meta charset="utf-8"><title>millrace in a browser</title>
<form><input name="text" value="hello"> <input name="sleepMs" type="number" value="1000"> <button>buy</button></form>
<ul></ul><script type="module" src="/page.js"></script>`;

/** The page's script with all that it needs, for browsers. */
export async function bundlePage(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(`page/browser-page${extname(import.meta.url)}`, import.meta.url))],
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: ['es2022', 'chrome111', 'firefox113', 'safari16.4'],
    // rxjs as it was written, not for browsers of 2009: 10 kB less.
    conditions: ['es2015', 'module'],
    logOverride: { 'ignored-bare-import': 'silent' },
  });
  return outputFiles[0]?.text ?? '';
}

export interface Service {
  readonly baseUrl: string;
  readonly apiKey: string;
}

export async function servePage(service: Service, port = 0) {
  const script = await bundlePage();
  const server = http.createServer((request, response) => {
    const { url = '/' } = request;
    if (url.startsWith('/v2/')) return void forward(request, response, service);
    const isScript = url === '/page.js';
    response.writeHead(200, { 'Content-Type': isScript ? 'text/javascript' : 'text/html' });
    response.end(isScript ? script : frame);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.close().closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** The request as it came, with the key. A request that was begun is never sent twice. */
async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  { baseUrl, apiKey }: Service,
): Promise<void> {
  try {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const reply = await fetch(`${baseUrl}${request.url ?? ''}`, {
      method: request.method ?? 'GET',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${apiKey}` },
      ...(parts.length > 0 && { body: Buffer.concat(parts) }),
      redirect: 'manual',
    });
    const retryAfter = reply.headers.get('retry-after');
    response.writeHead(reply.status, {
      'Content-Type': 'application/json',
      ...(retryAfter !== null && { 'Retry-After': retryAfter }),
    });
    response.end(await reply.text());
  } catch {
    // No answer: the page must not take it for a refusal.
    response.destroy();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { MILLRACE_BASE_URL: baseUrl, MILLRACE_API_KEY: apiKey } = process.env;
  const { startEmulator } = await import('millrace/emulator');
  const service = baseUrl !== undefined && apiKey !== undefined ? { baseUrl, apiKey } : await startEmulator();
  const { url } = await servePage(service, 4173);
  console.log(url);
}
