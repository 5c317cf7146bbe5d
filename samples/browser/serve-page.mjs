// A page that buys, and the proxy that holds the key: `node samples/browser/serve-page.mjs` with MILLRACE_BASE_URL and
// MILLRACE_API_KEY, or without them against the emulator. Put your own login and limits before such a proxy: whoever reaches
// it buys with your key.
import http from 'node:http';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const frame = `<!doctype html><meta charset="utf-8"><title>millrace in a browser</title>
<form><input name="text" value="hello"> <input name="sleepMs" type="number" value="1000"> <button>buy</button></form>
<ul></ul><script type="module" src="/page.js"></script>`;

/** The page's script with all that it needs, for browsers. */
export async function bundlePage() {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('page.mjs', import.meta.url))],
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
  return outputFiles[0].text;
}

/** @param {{ baseUrl: string, apiKey: string, port?: number }} service */
export async function servePage({ baseUrl, apiKey, port = 0 }) {
  const script = await bundlePage();
  const server = http.createServer((request, response) => {
    const { url = '/' } = request;
    if (url.startsWith('/v2/')) return void forward(request, response, { baseUrl, apiKey });
    const isScript = url === '/page.js';
    response.writeHead(200, { 'Content-Type': isScript ? 'text/javascript' : 'text/html' });
    response.end(isScript ? script : frame);
  });
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  };
}

/** The request as it came, with the key. A request that was begun is never sent twice. */
async function forward(request, response, { baseUrl, apiKey }) {
  try {
    const parts = [];
    for await (const part of request) parts.push(part);
    const reply = await fetch(baseUrl + request.url, {
      method: request.method,
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
  const { url } = await servePage({ baseUrl: service.baseUrl, apiKey: service.apiKey, port: 4173 });
  console.log(url);
}
