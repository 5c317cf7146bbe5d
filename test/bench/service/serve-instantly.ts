// A queue service that answers at once, in a process of its own so that its CPU is not counted. Says its address as JSON.
// node .config/run-ts.mjs test/bench/service/serve-instantly.ts [longest run time in ms] [requests a second] [share that is refused at random]
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const [, , longest = '0', perSecond = 'Infinity', noise = '0'] = process.argv;
const longestMs = Number(longest);
const limit = Number(perSecond);
const noiseShare = Number(noise);
let tokens = limit;
let filledAt = Date.now();
let jobs = 0;
const none = {
  answered: 0,
  refused: 0,
  runs: 0,
  polls: 0,
  firstAt: 0,
  lastAt: 0,
  endedAt: 0,
  reportedAt: 0,
  askedAt: 0,
};
let counts = { ...none };
const dueAt = new Map<string, number>();
const askedAt = new Map<string, number>();

/** The bucket holds a second's requests, as the emulator's does. */
function isRefused(): boolean {
  if (Math.random() < noiseShare) return true;
  if (limit === Infinity) return false;
  const now = Date.now();
  tokens = Math.min(limit, tokens + ((now - filledAt) / 1_000) * limit);
  filledAt = now;
  if (tokens < 1) return true;
  tokens -= 1;
  return false;
}

function statusOf(id: string): object {
  counts.polls += 1;
  const now = Date.now();
  const due = dueAt.get(id) ?? 0;
  if (due > now) {
    askedAt.set(id, now);
    return { id, status: 'IN_PROGRESS' };
  }
  if (due >= counts.endedAt)
    Object.assign(counts, { endedAt: due, reportedAt: now, askedAt: askedAt.get(id) ?? 0 });
  dueAt.delete(id);
  askedAt.delete(id);
  return { id, status: 'COMPLETED', delayTime: 0, executionTime: 1, output: { ok: true } };
}

function accept(): object {
  counts.runs += 1;
  const id = `job-${++jobs}`;
  if (longestMs > 0) {
    dueAt.set(id, Date.now() + ((jobs * 7_919) % (longestMs + 1)));
    askedAt.set(id, Date.now());
  }
  return { id, status: 'IN_QUEUE' };
}

function answer(url: string): { status: number; body: object } {
  if (url === '/counts') {
    const { user, system } = process.cpuUsage();
    const body = { ...counts, cpuMs: (user + system) / 1_000 };
    counts = { ...none };
    return { status: 200, body };
  }
  counts.lastAt = Date.now();
  counts.firstAt ||= counts.lastAt;
  if (isRefused()) {
    counts.refused += 1;
    return { status: 429, body: { error: 'too many requests' } };
  }
  counts.answered += 1;
  const body = url.includes('/status/') ? statusOf(url.slice(url.lastIndexOf('/') + 1)) : accept();
  return { status: 200, body };
}

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    const { status, body } = answer(request.url ?? '');
    const text = JSON.stringify(body);
    response
      .writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
      .end(text);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ baseUrl: `http://127.0.0.1:${port}` })}\n`);
});
process.stdin.resume().on('end', () => process.exit(0));
